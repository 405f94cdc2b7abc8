package conform

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"moldau/registry/format"
)

const avroList = `{"type":"record","name":"Node","fields":[{"name":"next","type":["null","Node"]}]}`

func TestAvroStructure(t *testing.T) {
	for _, c := range []struct {
		schema, payload string
		reason          Reason
		part            string
	}{
		{`"null"`, "", "", ""},
		{`"null"`, "x", Trailing, "ends at byte 0"},
		{`"boolean"`, "\x02", "", ""},
		{`"boolean"`, "", Malformed, "ends inside"},
		{`"int"`, "\xff\xff\xff\xff\x7f", "", ""},
		{`"int"`, "\xff\xff\xff\xff\xff\x01", Malformed, "too many bytes"},
		{`"long"`, strings.Repeat("\xff", 9) + "\x7f", "", ""},
		{`"long"`, strings.Repeat("\xff", 10) + "\x01", Malformed, "too many bytes"},
		{`"float"`, "1234", "", ""},
		{`"double"`, "1234567", Malformed, "ends inside"},
		{`"bytes"`, "\x02\xff", "", ""},
		{`"bytes"`, "\x01", Malformed, "negative"},
		{`"bytes"`, "\x04a", Malformed, "beyond the end"},
		{`"string"`, "\x04\xc3\xbc", "", ""},
		{`"string"`, "\x02\xff", Encoding, "UTF-8"},
		{`"string"`, "\x16abcdefghij\xff", Encoding, "UTF-8"},
		{`{"type":"enum","name":"E","symbols":["A","B"]}`, "\x02", "", ""},
		{`{"type":"enum","name":"E","symbols":["A","B"]}`, "\x04", Malformed, "no symbol 2"},
		{`{"type":"enum","name":"E","symbols":["A","B"]}`, "\x01", Malformed, "no symbol -1"},
		{`{"type":"fixed","name":"F","size":2}`, "ab", "", ""},
		{`["null","string"]`, "\x02\x02a", "", ""},
		{`["null","string"]`, "\x04", Malformed, "no branch 2"},
		{`{"type":"array","items":"int"}`, "\x02\x02\x03\x04\x04\x02\x00", "", ""},
		{`{"type":"array","items":"int"}`, "\x03\x7e\x02\x04\x00", "", ""}, // the size is wrong, and nobody minds
		{`{"type":"array","items":"int"}`, "\x03\x01\x02\x04\x00", Malformed, "size of a block"},
		{`{"type":"array","items":"int"}`, "\x02\x02", Malformed, "ends inside"},
		{`{"type":"map","values":"int"}`, "\x02\x02k\x02\x00", "", ""},
		{`{"type":"map","values":"int"}`, "\x02\x02\xff\x02\x00", Encoding, "key 0"},
		{avroList, "\x02\x02\x00", "", ""},
		{avroList, "\x02\x02\x04", Malformed, "at next.next.next, byte 3"},
	} {
		want(t, compile(t, Structure, format.Avro, c.schema), c.payload, c.reason, c.part)
	}
}

func TestAvroLogicalTypes(t *testing.T) {
	long := func(v int64) string { return string(binary.AppendVarint(nil, v)) }
	for _, c := range []struct {
		schema, payload string
		reason          Reason
	}{
		{`{"type":"int","logicalType":"time-millis"}`, long(86_399_999), ""},
		{`{"type":"int","logicalType":"time-millis"}`, long(86_400_000), Logical},
		{`{"type":"long","logicalType":"time-micros"}`, long(-1), Logical},
		{`{"type":"long","logicalType":"time-millis"}`, long(-1), ""}, // not on a long
		{`{"type":"int","logicalType":"date"}`, long(-1), ""},
		{`{"type":"string","logicalType":"uuid"}`, "\x48b7e4f9d2-6a53-4c1e-8f0b-2d9c7a51e6F3", ""},
		{`{"type":"string","logicalType":"uuid"}`, "\x48b7e4f9d2x6a53-4c1e-8f0b-2d9c7a51e6f3", Logical},
		{`{"type":"string","logicalType":"uuid"}`, "\x02b", Logical},
		{`{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}`, "\x04\x27\x0f", ""}, // 9999
		{`{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}`, "\x04\x27\x10", Logical},
		{`{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}`, "\x04\xd8\xf1", ""}, // -9999
		{`{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}`, "\x04\xd8\xf0", Logical},
		{`{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}`, "\x00", Logical},
		{`{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}`, "\x18" + strings.Repeat("\x00", 12), ""},
		{`{"type":"bytes","logicalType":"decimal","precision":30}`, "\x1a\x0c\x9f\x2c\x9c\xd0\x46\x74\xed\xea\x3f\xff\xff\xff", ""},
		{`{"type":"bytes","logicalType":"decimal","precision":30}`, "\x1a\x0c\x9f\x2c\x9c\xd0\x46\x74\xed\xea\x40\x00\x00\x00", Logical},
		{`{"type":"bytes","logicalType":"decimal","precision":30}`, "\x1a\xf3\x60\xd3\x63\x2f\xb9\x8b\x12\x15\xc0\x00\x00\x00", Logical},
		{`{"type":"fixed","name":"F","size":2,"logicalType":"decimal","precision":4}`, "\x27\x10", Logical},
		{`{"type":"bytes","logicalType":"big-decimal"}`, "\x06\x02\x07\x04", ""},
		{`{"type":"bytes","logicalType":"big-decimal"}`, "\x04\x02\x07", Logical},
	} {
		want(t, compile(t, Full, format.Avro, c.schema), c.payload, c.reason, "")
		want(t, compile(t, Structure, format.Avro, c.schema), c.payload, "", "")
	}
}

// TestAvroBombs gives payloads that claim more than they hold.
func TestAvroBombs(t *testing.T) {
	count := func(n int64) string { return string(binary.AppendVarint(nil, n)) }
	nulls := `{"type":"array","items":"null"}`
	empty := `{"type":"array","items":{"type":"record","name":"R","fields":[{"name":"a","type":"null"},{"name":"b","type":{"type":"fixed","name":"F","size":0}}]}}`
	endless := `{"type":"array","items":{"type":"record","name":"R","fields":[{"name":"r","type":"R"}]}}`
	for _, c := range []struct {
		schema, payload string
		reason          Reason
	}{
		{nulls, count(1<<20) + count(1<<20) + "\x00", ""},
		{nulls, count(1<<60) + "\x00", Malformed},
		{nulls, strings.Repeat(count(1<<26), 3) + "\x00", Malformed},
		{empty, count(1<<27) + "\x00", ""},
		{empty, count(1<<27+1) + "\x00", Malformed},
		{endless, count(1<<20) + "\x00", TooDeep},
		{`{"type":"array","items":"double"}`, count(1<<30) + "\x00", Malformed},
		{`{"type":"map","values":"null"}`, count(1<<30) + "\x00", Malformed},
		{`"bytes"`, count(1 << 62), Malformed},
		{avroList, strings.Repeat("\x02", 1<<20), TooDeep},
		{avroList, strings.Repeat("\x02", 499) + "\x00", ""}, // two levels a record, with the union
	} {
		from := time.Now()
		want(t, compile(t, Structure, format.Avro, c.schema), c.payload, c.reason, "")
		if took := time.Since(from); took > 5*time.Second {
			t.Errorf("%s took %v", c.schema, took)
		}
	}
}

// TestAvroValues decodes what conditions see.
func TestAvroValues(t *testing.T) {
	schema := `{"type":"record","name":"R","fields":[
		{"name":"b","type":"boolean"},{"name":"i","type":"int"},{"name":"l","type":"long"},{"name":"f","type":"float"},
		{"name":"d","type":"double"},{"name":"y","type":"bytes"},{"name":"s","type":"string"},
		{"name":"e","type":{"type":"enum","name":"E","symbols":["A","B"]}},{"name":"x","type":{"type":"fixed","name":"F","size":1}},
		{"name":"a","type":{"type":"array","items":"int"}},{"name":"m","type":{"type":"map","values":"int"}},
		{"name":"u","type":["null","string"]},{"name":"n","type":"null"}]}`
	payload := "\x01\x04\x06\x00\x00\x80\x3f\x00\x00\x00\x00\x00\x00\xf0\x3f\x02y\x02s\x02x\x03\x04\x02\x04\x00\x02\x02k\x02\x00\x02\x02u"
	c := compile(t, Structure, format.Avro, schema).(*avroChecker)
	want(t, c, payload, "", "")
	v, err := decodeAvro([]byte(payload), c.root)
	got := fmt.Sprint(v)
	if err != nil || got != "map[a:[1 2] b:true d:1 e:B f:1 i:2 l:3 m:map[k:1] n:<nil> s:s u:u x:[120] y:[121]]" {
		t.Errorf("%s, %v", got, err)
	}
	nulls := compile(t, Structure, format.Avro, `{"type":"array","items":"null"}`).(*avroChecker)
	if _, err := decodeAvro(append(binary.AppendVarint(nil, 1<<27), 0), nulls.root); err == nil {
		t.Error("a bomb was decoded")
	}
}

func FuzzAvro(f *testing.F) {
	c := compile(f, Full, format.Avro, orderAvro).(*avroChecker)
	l := compile(f, Full, format.Avro, avroList).(*avroChecker)
	f.Add(orderAvroPayload())
	f.Add([]byte("\x02\x02\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range []*avroChecker{c, l} {
			if err := c.Check(b, nil); reason(t, err) == "" {
				if _, err := decodeAvro(b, c.root); err != nil {
					t.Errorf("%x passes and does not decode: %v", b, err)
				}
			}
		}
	})
}
