package conform

import (
	"fmt"
	"slices"
	"strings"
)

// protoDepth is how many messages and groups decoders follow into each other.
const protoDepth = 100

// protoWalk goes over the bytes of a message. It lives on the stack, so that a value which conforms costs no allocation.
type protoWalk struct {
	buf   []byte
	at    int
	depth int
	// missing says that a message came without all of its required fields. It may still be merged with another one.
	missing bool
	// strayKey says that the entry of a map holds a field of the key's number that is no key.
	strayKey bool
	reason   Reason
	what     string
	path     []string
}

func (w *protoWalk) fail(reason Reason, what string) bool {
	w.reason, w.what = reason, what
	return false
}

func (w *protoWalk) in(f *protoField) bool {
	if f != nil {
		w.path = append(w.path, f.name)
	}
	return false
}

func (w *protoWalk) violation() *Violation {
	slices.Reverse(w.path)
	if len(w.path) > maxPath {
		w.path = append(w.path[:maxPath:maxPath], "…")
	}
	where := ""
	if len(w.path) > 0 {
		where = "at " + strings.Join(w.path, ".") + ", "
	}
	return &Violation{w.reason, fmt.Sprintf("%sbyte %d: %s", where, min(w.at, len(w.buf)), w.what)}
}

// message walks the fields of a message: up to end, or in a group to the tag that ends the group of this number.
func (w *protoWalk) message(m *protoMessage, end int, group int32) bool {
	seen := uint64(0)
	for w.at < end {
		number, wire, ok := w.tag(end)
		if !ok {
			return false
		}
		if wire == wireEnd {
			if number != group {
				return w.fail(Malformed, fmt.Sprintf("the end of group %d, which has not begun", number))
			}
			w.missing = w.missing || m.required&^seen != 0 || m.crowded
			return true
		}
		f := m.field(number)
		switch {
		case f == nil:
			ok = w.unknown(number, wire, end)
		case wire == f.wire:
			ok = w.known(f, end, &seen)
		case f.packable && wire == wireBytes:
			ok = w.packed(f, end)
		default: // decoders keep a field of another wire type as one they do not know
			w.strayKey = w.strayKey || number == 1 && m.desc.IsMapEntry()
			ok = w.unknown(number, wire, end)
		}
		if !ok {
			return w.in(f)
		}
	}
	if group != 0 {
		return w.fail(Malformed, fmt.Sprintf("group %d does not end", group))
	}
	w.missing = w.missing || m.required&^seen != 0 || m.crowded
	return true
}

// known walks the value of a field in the wire type that the schema gives it.
func (w *protoWalk) known(f *protoField, end int, seen *uint64) bool {
	switch f.wire {
	case wireVarint:
		v, ok := w.varint(end)
		if f.known != nil && f.known.ByNumber(enumNumber(v)) == nil {
			return ok
		}
		*seen |= f.bit
		return ok
	case wireFixed64:
		*seen |= f.bit
		return w.skip(8, end)
	case wireFixed32:
		*seen |= f.bit
		return w.skip(4, end)
	case wireGroup:
		*seen |= f.bit
		return w.enter() && w.message(f.message, end, f.number) && w.leave()
	}
	*seen |= f.bit
	n, ok := w.length(end)
	if !ok {
		return false
	}
	if f.message != nil {
		return w.enter() && w.message(f.message, w.at+n, 0) && w.leave()
	}
	if f.text && !validText(w.buf[w.at:w.at+n]) {
		return w.fail(Encoding, "a string is no valid UTF-8")
	}
	w.at += n
	return true
}

// packed walks a run of values in one piece.
func (w *protoWalk) packed(f *protoField, end int) bool {
	n, ok := w.length(end)
	if !ok {
		return false
	}
	end = w.at + n
	switch f.wire {
	case wireFixed32:
		ok = n%4 == 0
	case wireFixed64:
		ok = n%8 == 0
	default:
		for w.at < end {
			if _, ok := w.varint(end); !ok {
				return false
			}
		}
		return true
	}
	if !ok {
		return w.fail(Malformed, "a packed field ends inside a value")
	}
	w.at = end
	return true
}

// unknown walks the value of a field that the schema does not have.
func (w *protoWalk) unknown(number int32, wire uint8, end int) bool {
	switch wire {
	case wireVarint:
		_, ok := w.varint(end)
		return ok
	case wireFixed64:
		return w.skip(8, end)
	case wireFixed32:
		return w.skip(4, end)
	case wireBytes:
		n, ok := w.length(end)
		w.at += n
		return ok
	}
	return w.enter() && w.message(&noMessage, end, number) && w.leave()
}

// noMessage is a message that no field is known of.
var noMessage protoMessage

func (w *protoWalk) enter() bool {
	if w.depth--; w.depth < 0 {
		return w.fail(TooDeep, fmt.Sprintf("messages nest deeper than the %d levels that decoders follow", protoDepth))
	}
	return true
}

func (w *protoWalk) leave() bool {
	w.depth++
	return true
}

// tag reads the number and the wire type of a field. Bits beyond 32 are dropped, as decoders do.
func (w *protoWalk) tag(end int) (number int32, wire uint8, ok bool) {
	v, ok := w.varint(end)
	if !ok {
		return 0, 0, false
	}
	number, wire = int32(uint32(v)>>3), uint8(v&7) //nolint:gosec // 29 and 3 bits
	if number == 0 {
		return 0, 0, w.fail(Malformed, "a field has the number 0")
	}
	if wire > wireFixed32 {
		return 0, 0, w.fail(Malformed, fmt.Sprintf("field %d has the wire type %d, which does not exist", number, wire))
	}
	return number, wire, true
}

// length reads a length and holds it against what is left. Bits beyond 32 are dropped, as decoders do.
func (w *protoWalk) length(end int) (int, bool) {
	v, ok := w.varint(end)
	if !ok {
		return 0, false
	}
	n := int32(uint32(v)) //nolint:gosec // the upper bits are dropped
	if n < 0 {
		return 0, w.fail(Malformed, badLength)
	}
	if int(n) > end-w.at {
		return 0, w.fail(Malformed, overLength)
	}
	return int(n), true
}

func (w *protoWalk) skip(n, end int) bool {
	if n > end-w.at {
		return w.fail(Malformed, endsEarly)
	}
	w.at += n
	return true
}

func (w *protoWalk) varint(end int) (v uint64, ok bool) {
	if w.at < end && w.buf[w.at] < 0x80 {
		v = uint64(w.buf[w.at])
		w.at++
		return v, true
	}
	for i := range 10 {
		if w.at+i >= end {
			return 0, w.fail(Malformed, endsEarly)
		}
		b := w.buf[w.at+i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			w.at += i + 1
			return v, true
		}
	}
	return 0, w.fail(Malformed, badVarint)
}
