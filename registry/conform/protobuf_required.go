package conform

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// enumNumber is the number of an enum's value as decoders take it: the lower 32 bits.
func enumNumber(v uint64) protoreflect.EnumNumber {
	return protoreflect.EnumNumber(int32(uint32(v))) //nolint:gosec // the upper bits are dropped
}

func enumAt(b []byte) protoreflect.EnumNumber {
	w := protoWalk{buf: b}
	v, _ := w.varint(len(b))
	return enumNumber(v)
}

// presence is which fields of a message are set once all that came for it is merged: a field that occurs twice is one
// message, in which the required fields may come from either.
type presence struct {
	message *protoMessage
	set     map[int32]bool
	nested  map[int32][]*presence
}

func newPresence(m *protoMessage) *presence {
	return &presence{message: m, set: map[int32]bool{}, nested: map[int32][]*presence{}}
}

// missingField answers the violation of a message, known to be well-formed, that lacks a required field after merging.
func missingField(m *protoMessage, payload []byte) *Violation {
	p := newPresence(m)
	w := protoWalk{buf: payload, depth: protoDepth}
	w.merge(p, len(payload))
	if name, ok := p.missing(); ok {
		return &Violation{Missing, fmt.Sprintf("the required field %s is missing", name)}
	}
	return nil
}

// missing answers the path of a required field that is not set.
func (p *presence) missing() (string, bool) {
	fields := p.message.desc.Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		number := int32(f.Number())
		if mustBeSet(f) && !p.set[number] {
			return string(f.Name()), true
		}
		for _, inside := range p.nested[number] {
			if name, ok := inside.missing(); ok {
				return string(f.Name()) + "." + name, true
			}
		}
	}
	return "", false
}

// merge walks a well-formed message again and notes what is set.
func (w *protoWalk) merge(p *presence, end int) {
	for w.at < end {
		number, wire, ok := w.tag(end)
		if !ok || wire == wireEnd {
			return
		}
		f := p.message.field(number)
		if f == nil || wire != f.wire {
			w.unknown(number, wire, end)
			continue
		}
		if f.message == nil {
			from := w.at
			w.unknown(number, wire, end)
			if f.known == nil || f.known.ByNumber(enumAt(w.buf[from:w.at])) != nil {
				p.put(f)
			}
			continue
		}
		inside := p.inside(f)
		if wire == wireGroup {
			w.merge(inside, end)
			continue
		}
		n, _ := w.length(end)
		w.merge(inside, w.at+n)
	}
}

// put notes that a field is set, which unsets the others of its oneof.
func (p *presence) put(f *protoField) {
	if f.oneof != 0 {
		others := p.message.desc.Oneofs().Get(f.oneof - 1).Fields()
		for i := range others.Len() {
			if number := int32(others.Get(i).Number()); number != f.number {
				delete(p.set, number)
				delete(p.nested, number)
			}
		}
	}
	p.set[f.number] = true
}

// inside answers the message that a value of a field is merged into.
func (p *presence) inside(f *protoField) *presence {
	p.put(f)
	known := p.nested[f.number]
	if len(known) > 0 && !f.repeated {
		return known[0]
	}
	made := newPresence(f.message)
	p.nested[f.number] = append(known, made)
	return made
}
