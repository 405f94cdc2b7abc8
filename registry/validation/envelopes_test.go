package validation

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"moldau/broker/record"
	"moldau/registry/catalog"
	"moldau/registry/conform"
	"moldau/registry/format"
)

// coerce judges a batch, and returns what is found with how each key and value would be stored.
func coerce(t *testing.T, v *Validator, topic *Topic, b record.Batch) (got Verdict, keys, values []string) {
	t.Helper()
	r := b.Records(unpack)
	defer r.Close()
	got, err := v.Validate(topic, r, int(b.Count()))
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.Count() {
		var inFrontOfKey, inFrontOfValue []byte
		if got.Envelopes != nil {
			inFrontOfKey, inFrontOfValue = got.Envelopes.Of(i)
		}
		keys, values = append(keys, string(inFrontOfKey)), append(values, string(inFrontOfValue))
	}
	return got, keys, values
}

const (
	longsText = `{"type":"record","name":"L","fields":[{"name":"a","type":"long"},{"name":"b","type":"long"},{"name":"c","type":"long"},{"name":"d","type":"long"},{"name":"e","type":"long"}]}`
	// ambiguous is five longs, or names schema 98.
	ambiguous = "\x00\x00\x00\x00\x62"
)

func TestCoerce(t *testing.T) {
	v, f := newTestValidator(t)
	a := f.add(t, "avro-value", 1, format.Avro, avroText)
	p := f.add(t, "proto-value", 2, format.Protobuf, protoText+"\nmessage Second {\n  int32 i = 1;\n}\n")
	f.add(t, "json-value", 3, format.JSON, jsonText)
	f.add(t, "longs-value", 4, format.Avro, longsText)
	f.add(t, "known-value", 98, format.Avro, longsText)
	header := func(s *catalog.Schema, index string) []record.Header {
		return []record.Header{{Key: []byte(conform.ValueHeader), Value: append(append([]byte{1}, s.GUID[:]...), index...)}}
	}
	for _, c := range []struct {
		name, topic string
		level       Level
		value       []byte
		header      []record.Header
		envelope    string
		reason      string
	}{
		{"avro", "avro", Structure, []byte("\x02x"), nil, "\x00\x00\x00\x00\x01", ""},
		{"avro, not conforming", "avro", Structure, []byte("\x04x"), nil, "", "malformed"},
		{"avro, not read", "avro", ID, []byte("\x04x"), nil, "\x00\x00\x00\x00\x01", ""},
		{"avro with an id", "avro", Structure, named5(1, "\x02x"), nil, "", ""},
		{"avro with an id, not conforming", "avro", Structure, named5(1, "\x04x"), nil, "", "malformed"},
		{"avro with a GUID", "avro", Structure, []byte("\x02x"), header(a, ""), "", ""},
		{"avro with the id of another subject", "avro", Structure, named5(3, "\x02x"), nil, "", "subject"},
		{"avro with a broken header", "avro", Structure, []byte("\x02x"), []record.Header{{Key: []byte(conform.ValueHeader), Value: []byte{}}}, "", "no_schema_id"},
		{"avro with a null header", "avro", Structure, []byte("\x02x"), []record.Header{{Key: []byte(conform.ValueHeader)}}, "\x00\x00\x00\x00\x01", ""},
		{"avro with a header of a key", "avro", Structure, []byte("\x02x"), []record.Header{{Key: []byte(conform.KeyHeader), Value: []byte("?")}}, "\x00\x00\x00\x00\x01", ""},
		{"protobuf", "proto", Structure, []byte("\x0a\x01x"), nil, "\x00\x00\x00\x00\x02\x00", ""},
		{"protobuf, empty", "proto", Structure, []byte{}, nil, "\x00\x00\x00\x00\x02\x00", ""},
		{"protobuf, not conforming", "proto", Structure, []byte("\x0a\x02x"), nil, "", "malformed"},
		{"protobuf with an id", "proto", Structure, named5(2, "\x02\x02\x08\x01"), nil, "", ""},
		{"protobuf with a GUID", "proto", Structure, []byte("\x08\x01"), header(p, "\x02\x02"), "", ""},
		{"json", "json", Rules, []byte(`{"s":1}`), nil, "\x00\x00\x00\x00\x03", ""},
		{"json, not conforming", "json", Structure, []byte(`{}`), nil, "", "schema"},
		{"json, empty", "json", Structure, []byte{}, nil, "", "malformed"},
		{"null", "json", Structure, nil, nil, "", ""},
		{"no schema", "none", Structure, []byte(`{}`), nil, "", "unknown_schema"},
		{"an id that nobody has", "json", Structure, named5(77, `{"s":1}`), nil, "", "malformed"},
		{"an id that nobody has, conforming without", "longs", Structure, []byte("\x00\x00\x00\x00\x4d"), nil, "\x00\x00\x00\x00\x04", ""},
		{"zeros", "longs", Structure, []byte("\x00\x00\x00\x00\x00"), nil, "\x00\x00\x00\x00\x04", ""},
		{"an id that is taken for one", "known", Structure, []byte(ambiguous), nil, "", "malformed"},
		{"an id that is not one", "known", Structure, []byte("\x00\xff\xff\xff\x7f\x00\x00\x00"), nil, "\x00\x00\x00\x00\x62", ""},
	} {
		for _, codec := range []record.Codec{record.None, record.LZ4} {
			topic := &Topic{Name: c.topic, Value: Part{Level: c.level}, Envelope: Coerce}
			b := batchOf(t, codec, record.Record{}, record.Record{Key: []byte("k"), Value: c.value, Headers: c.header}, record.Record{})
			got, keys, values := coerce(t, v, topic, b)
			if !slices.Equal(values, []string{"", c.envelope, ""}) || !slices.Equal(keys, []string{"", "", ""}) || (got.Envelopes == nil) != (c.envelope == "") {
				t.Errorf("%s: %q, %q, %+v", c.name, keys, values, got.Envelopes)
			}
			if len(got.Failures) > 1 || (len(got.Failures) == 1) != (c.reason != "") || c.reason != "" && got.Failures[0].Reason != c.reason {
				t.Errorf("%s: %+v, want %q", c.name, got.Failures, c.reason)
			}
			topic.Envelope = Bare
			if bare, _, _ := coerce(t, v, topic, b); bare.Envelopes != nil || len(bare.Failures) != len(got.Failures) {
				t.Errorf("%s, bare: %+v", c.name, bare)
			}
		}
	}
}

// TestCoerceKeysAndValues has records of which one part conforms and the other does not: they stay as they came.
func TestCoerceKeysAndValues(t *testing.T) {
	v, f := newTestValidator(t)
	f.add(t, "t-key", 5, format.Protobuf, protoText)
	f.add(t, "t-value", 1<<24, format.JSON, jsonText)
	topic := &Topic{Name: "t", Key: Part{Level: Structure}, Value: Part{Level: Structure}, Envelope: Coerce}
	const k, good, bad = "\x0a\x01k", `{"s":1}`, `{}`
	got, keys, values := coerce(t, v, topic, batchOf(t, record.Snappy,
		record.Record{Key: []byte(k), Value: []byte(good)},
		record.Record{Key: []byte(k)}, // a tombstone
		record.Record{Key: []byte(k), Value: []byte(bad)},
		record.Record{Key: []byte("\x0a"), Value: []byte(good)},
		record.Record{Key: []byte("\x0a"), Value: []byte(bad)},
		record.Record{Value: []byte(good)},
		record.Record{Key: named5(5, "\x00"+k), Value: []byte("\x00\x01\x00\x00\x00" + good)},
	))
	const inFrontOfKey, inFrontOfValue = "\x00\x00\x00\x00\x05\x00", "\x00\x01\x00\x00\x00"
	if want := []string{inFrontOfKey, inFrontOfKey, "", "", "", "", ""}; !slices.Equal(keys, want) {
		t.Errorf("keys: %q", keys)
	}
	if want := []string{inFrontOfValue, "", "", "", "", inFrontOfValue, ""}; !slices.Equal(values, want) {
		t.Errorf("values: %q", values)
	}
	var failed []string
	for _, f := range got.Failures {
		failed = append(failed, f.Message[:len("The value")])
	}
	if !slices.Equal(failed, []string{"The value", "The key d", "The key d"}) {
		t.Errorf("%+v", got.Failures)
	}
	var m dto.Metric
	if err := v.metrics.coerced.WithLabelValues("t").Write(&m); err != nil || m.GetCounter().GetValue() != 3 {
		t.Errorf("%v records were counted, %v", m.GetCounter(), err)
	}
}

// TestCoerceAmongManyFailures asks for fewer failures than there are: the bad records that are not told get no envelope either.
func TestCoerceAmongManyFailures(t *testing.T) {
	v, f := newTestValidator(t)
	f.add(t, "t-value", 1, format.JSON, jsonText)
	records := slices.Repeat([]record.Record{{Value: []byte("bad")}, {Value: []byte(`{"s":1}`)}}, 1000)
	b := batchOf(t, record.None, records...)
	r := b.Records(unpack)
	defer r.Close()
	got, err := v.Validate(&Topic{Name: "t", Value: Part{Level: Structure}, Envelope: Coerce}, r, 10)
	if err != nil || len(got.Failures) != 10 || got.Envelopes.count != 1000 {
		t.Fatalf("%d failures, %v", len(got.Failures), err)
	}
	for i := range b.Count() {
		if _, inFront := got.Envelopes.Of(i); bytes.Equal(inFront, []byte{0, 0, 0, 0, 1}) != (i%2 == 1) {
			t.Fatalf("record %d has %x", i, inFront)
		}
	}
	if k, inFront := got.Envelopes.Of(b.Count()); k != nil || inFront != nil {
		t.Error("there is an envelope behind the end")
	}
}

// TestCoerceWhileTheLatestChanges has a version registered between two records of a batch: each names the one that it conforms to.
func TestCoerceWhileTheLatestChanges(t *testing.T) {
	v, f := newTestValidator(t)
	f.add(t, "t-value", 1, format.JSON, jsonText)
	f.shown = f.newest
	f.add(t, "t-value", 2, format.JSON, `{"type":"object","required":["r"]}`)
	topic := &Topic{Name: "t", Value: Part{Level: Structure}, Envelope: Coerce}
	both, first, second := []byte(`{"s":1,"r":1}`), []byte(`{"s":1}`), []byte(`{"r":1}`)
	got, _, values := coerce(t, v, topic, batchOf(t, record.None,
		record.Record{Value: both}, record.Record{Value: first}, record.Record{Value: second}, record.Record{Value: both}, record.Record{Value: first}))
	if want := []string{"\x00\x00\x00\x00\x01", "\x00\x00\x00\x00\x01", "\x00\x00\x00\x00\x02", "\x00\x00\x00\x00\x02", ""}; !slices.Equal(values, want) {
		t.Errorf("%q", values)
	}
	if len(got.Failures) != 1 || got.Failures[0].Index != 4 || got.Failures[0].SchemaID != 2 || !strings.Contains(got.Failures[0].Message, "schema 2") {
		t.Errorf("%+v", got.Failures)
	}
}

// TestCoercedConforms judges what coerce makes as one who asks for the envelope: all of it passes.
func TestCoercedConforms(t *testing.T) {
	v, f := newTestValidator(t)
	f.add(t, "t-value", 1, format.Protobuf, protoText)
	f.add(t, "t-key", 1<<30, format.Avro, longsText)
	topic := &Topic{Name: "t", Key: Part{Level: Rules}, Value: Part{Level: Rules}, Envelope: Coerce, LatestOnly: true, RejectNull: true}
	records := []record.Record{
		{Key: []byte("\x00\x00\x00\x00\x00"), Value: []byte{}},
		{Key: []byte("\x00\x00\x00\x00\x4d"), Value: []byte("\x0a\x00")},
	}
	_, keys, values := coerce(t, v, topic, batchOf(t, record.None, records...))
	for i := range records {
		records[i].Key = append([]byte(keys[i]), records[i].Key...)
		records[i].Value = append([]byte(values[i]), records[i].Value...)
	}
	for _, envelope := range []Envelope{Required, Coerce, Bare} {
		topic.Envelope = envelope
		if got, _, _ := coerce(t, v, topic, batchOf(t, record.None, records...)); len(got.Failures) > 0 || got.Envelopes != nil {
			t.Errorf("%s: %+v", envelope, got)
		}
	}
}
