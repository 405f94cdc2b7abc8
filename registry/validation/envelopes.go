package validation

import (
	"bytes"
	"slices"

	"moldau/broker/record"
	"moldau/registry/catalog"
	"moldau/registry/conform"
	"moldau/registry/format"
)

// Envelopes says what the records of a batch are to be stored with: in front of each key and value that names no schema and conforms,
// the name of the schema that it conforms to.
type Envelopes struct {
	// forms are those of keys and of values: one each, and a second one where the latest version changed while the batch was judged.
	forms [2][][]byte
	// records holds by index two numbers of four bits, of the key's form and of the value's, which count from 1; 0 is none. It ends
	// with the last record that has one.
	records []uint8
	count   int // of records that have one
}

// maxForms is what a number in Envelopes.records can tell apart. A batch sees two catalogs at most, and so two forms.
const maxForms = 15

// Of answers what stands in front of the key and the value of the record of this index, nil for nothing. The caller doesn't change it.
func (e *Envelopes) Of(index int32) (inFrontOfKey, inFrontOfValue []byte) {
	if int(index) >= len(e.records) {
		return nil, nil
	}
	n := e.records[index]
	return e.form(key, n&maxForms), e.form(value, n>>4)
}

func (e *Envelopes) form(part int, number uint8) []byte {
	if number == 0 {
		return nil
	}
	return e.forms[part][number-1]
}

// with is e, which may be nil, with the envelopes of one more record. Indexes rise from call to call.
func (e *Envelopes) with(index int32, envelopes [2][]byte) *Envelopes {
	if envelopes[key] == nil && envelopes[value] == nil {
		return e
	}
	if e == nil {
		e = new(Envelopes)
	}
	for len(e.records) < int(index) {
		e.records = append(e.records, 0)
	}
	e.records = append(e.records, e.number(key, envelopes[key])|e.number(value, envelopes[value])<<4)
	e.count++
	return e
}

// number is that of a form, which may be new.
func (e *Envelopes) number(part int, envelope []byte) uint8 {
	if envelope == nil {
		return 0
	}
	at := slices.IndexFunc(e.forms[part], func(known []byte) bool { return bytes.Equal(known, envelope) })
	if at < 0 {
		at = len(e.forms[part])
		e.forms[part] = append(e.forms[part], envelope)
	}
	return uint8(at + 1) //nolint:gosec // see maxForms
}

// envelope is that of a key or value which was judged last and found good; nil where it needs none.
func (j *judge) envelope(part int, r *record.Record) []byte {
	n := &j.last[part]
	if j.t.Envelope != Coerce || payloadOf(part, r) == nil || n.by != byTopic {
		return nil
	}
	if n.envelope == nil {
		n.envelope = envelopeOf(n.schema)
	}
	return n.envelope
}

// bareIndex is the path of the message of which a payload of Protobuf is that names none: the first.
var bareIndex = [...]int32{0}

// envelopeOf is what names a schema in front of a payload.
func envelopeOf(s *catalog.Schema) []byte {
	out := conform.AppendPrefix(nil, s.ID)
	if s.Type == format.Protobuf {
		out = conform.AppendIndexes(out, bareIndex[:])
	}
	return out
}
