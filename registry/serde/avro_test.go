package serde

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"moldau/registry/format"
	"moldau/registry/format/avro"
)

// avroOf makes the codec of a schema.
func avroOf(t testing.TB, text string) codec {
	t.Helper()
	s, err := avro.New(format.DefaultLimits()).Parse(t.Context(), format.Source{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCodec(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func whatever(t testing.TB, c codec) message {
	t.Helper()
	m, err := c.message("")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const everything = `{"type":"record","name":"All","namespace":"n","fields":[
 {"name":"b","type":"boolean","default":true},
 {"name":"i","type":"int","default":-1},
 {"name":"l","type":"long","default":9007199254740993},
 {"name":"f","type":"float","default":1.5},
 {"name":"d","type":"double","default":2},
 {"name":"s","type":"string","default":"x"},
 {"name":"y","type":"bytes","default":"\u00ff"},
 {"name":"x","type":{"type":"fixed","name":"Two","size":2},"default":"ab"},
 {"name":"e","type":{"type":"enum","name":"E","symbols":["P","Q"]},"default":"Q"},
 {"name":"a","type":{"type":"array","items":"int"},"default":[1,2]},
 {"name":"m","type":{"type":"map","values":"long"},"default":{"k":1}},
 {"name":"u","type":["null","E",{"type":"record","name":"A","fields":[{"name":"x","type":"int"}]},{"type":"record","name":"B","fields":[{"name":"y","type":"int"}]},"string"],"default":null},
 {"name":"v","type":["int","long"],"default":3},
 {"name":"t","type":{"type":"long","logicalType":"timestamp-millis"},"default":0},
 {"name":"next","type":["null","All"],"default":null}
]}`

const defaults = `{"b":true,"i":-1,"l":9007199254740993,"f":1.5,"d":2,"s":"x","y":"` + "\u00ff" + `","x":"ab","e":"Q","a":[1,2],"m":{"k":1},"u":null,"v":{"int":3},"t":0,"next":null}`

func TestAvro(t *testing.T) {
	m := whatever(t, avroOf(t, everything))
	with := func(field, value string) string { // the defaults with one field changed
		i := strings.Index(defaults, `"`+field+`":`)
		rest := defaults[i+len(field)+3:]
		j := strings.Index(rest, `,"`)
		if field == "a" {
			j = strings.Index(rest, `,"m"`)
		}
		return defaults[:i] + `"` + field + `":` + value + rest[j:]
	}
	for _, tt := range []struct{ in, want string }{
		{`{}`, defaults},
		{`{"i":2147483647}`, with("i", "2147483647")},
		{`{"l":-9223372036854775808}`, with("l", "-9223372036854775808")},
		{`{"f":"NaN"}`, with("f", `"NaN"`)},
		{`{"d":"-Infinity"}`, with("d", `"-Infinity"`)},
		{`{"d":1e300}`, with("d", "1e+300")},
		{`{"d":1000000}`, with("d", "1000000")},
		{`{"y":"\u0000\u00e9"}`, with("y", `"\u0000é"`)},
		{`{"a":[]}`, with("a", "[]")},
		{`{"m":{"b":2,"a":1}}`, strings.Replace(defaults, `"m":{"k":1}`, `"m":{"a":1,"b":2}`, 1)},
		{`{"u":"hello"}`, with("u", `{"string":"hello"}`)},
		{`{"u":{"string":"P"}}`, with("u", `{"string":"P"}`)},
		{`{"u":{"n.E":"P"}}`, with("u", `{"n.E":"P"}`)},
		{`{"u":{"y":3}}`, with("u", `{"n.B":{"y":3}}`)},
		{`{"u":{"n.A":{"x":3}}}`, with("u", `{"n.A":{"x":3}}`)},
		{`{"v":{"long":4}}`, with("v", `{"long":4}`)},
		{`{"next":{"n.All":{}}}`, strings.TrimSuffix(defaults, "null}") + `{"n.All":` + defaults + "}}"},
		{`{"next":{}}`, strings.TrimSuffix(defaults, "null}") + `{"n.All":` + defaults + "}}"},
	} {
		payload, err := m.encode([]byte("head"), []byte(tt.in))
		if err != nil || !bytes.HasPrefix(payload, []byte("head")) {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		got, err := m.decode([]byte("x"), payload[4:])
		if err != nil || string(got) != "x"+tt.want {
			t.Errorf("%s\n got %s, %v\nwant x%s", tt.in, got, err, tt.want)
		}
	}
}

func TestAvroRefuses(t *testing.T) {
	m := whatever(t, avroOf(t, everything))
	for in, want := range map[string]string{
		``:                             "not JSON",
		`{} x`:                         "behind the value",
		`[]`:                           "the value: want record n.All, not an array",
		`{"zz":1,"aa":2}`:              "record n.All has no field aa, zz",
		`{"b":1}`:                      "/b: want boolean, not the number 1",
		`{"i":2147483648}`:             "/i: 2147483648 is beyond what int holds",
		`{"i":1.5}`:                    "/i: want int, not the number 1.5",
		`{"l":9223372036854775808}`:    "beyond what long holds",
		`{"d":1e999}`:                  "beyond what double holds",
		`{"d":"one"}`:                  "/d: want double, not a string",
		`{"s":1}`:                      "want string",
		`{"y":"\u0100"}`:               "U+0000 to U+00FF",
		`{"x":"abc"}`:                  "n.Two has 2 bytes, not 3",
		`{"e":"Z"}`:                    `n.E has no symbol "Z"; it has P, Q`,
		`{"a":[1,"x"]}`:                "/a/1: want int, not a string",
		`{"m":{"k":true}}`:             "/m/k: want long, not true",
		`{"m":[]}`:                     "want map",
		`{"u":"P"}`:                    `could be any of n.E, string: name one`,
		`{"u":{"n.A":{"x":"y"}}}`:      "/u/n.A/x: want int",
		`{"u":{"z":1}}`:                "/u: an object is none of null, n.E, n.A, n.B, string",
		`{"v":3}`:                      "could be any of int, long",
		`{"v":null}`:                   "null is none of int, long",
		`{"next":{"next":{"b":null}}}`: "/next/next/b: want boolean, not null",
	} {
		if out, err := m.encode(nil, []byte(in)); !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), want) || out != nil {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

// Bytes alone have no length in front; other things at the top do as they do elsewhere.
func TestAvroTop(t *testing.T) {
	for _, tt := range []struct{ schema, value, payload string }{
		{`"bytes"`, `"ab"`, "ab"},
		{`"string"`, `"ab"`, "\x04ab"},
		{`"null"`, `null`, ""},
		{`["null","string"]`, `{"string":"ab"}`, "\x02\x04ab"},
		{`{"type":"array","items":"boolean"}`, `[true,false]`, "\x04\x01\x00\x00"},
	} {
		m := whatever(t, avroOf(t, tt.schema))
		got, err := m.encode(nil, []byte(tt.value))
		if err != nil || string(got) != tt.payload {
			t.Errorf("%s: %q, %v", tt.schema, got, err)
		}
		if back, err := m.decode(nil, []byte(tt.payload)); err != nil || string(back) != tt.value {
			t.Errorf("%s: %s, %v", tt.schema, back, err)
		}
	}
}

// Hostile input ends soon, with an error.
func TestAvroBounds(t *testing.T) {
	nothing := whatever(t, avroOf(t, `{"type":"array","items":"null"}`))
	if out, err := nothing.decode(nil, []byte("\x80\x80\x80\x80\x10\x00")); !errors.Is(err, ErrPayload) || out != nil {
		t.Errorf("very many nulls: %v", err)
	}
	if _, err := nothing.decode(nil, []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00")); !errors.Is(err, ErrPayload) {
		t.Errorf("the least number of items: %v", err)
	}
	list := whatever(t, avroOf(t, `{"type":"record","name":"L","fields":[{"name":"n","type":["null","L"]}]}`))
	deep := bytes.Repeat([]byte{2}, 10_000)
	if _, err := list.decode(nil, append(deep, 0)); !errors.Is(err, ErrPayload) {
		t.Errorf("a deep value: %v", err)
	}
	if _, err := list.encode(nil, []byte(strings.Repeat(`{"n":`, 5_000)+"null"+strings.Repeat("}", 5_000))); !errors.Is(err, ErrValue) {
		t.Errorf("deep JSON: %v", err)
	}
	twice := whatever(t, avroOf(t, `{"type":"record","name":"T","fields":[{"name":"n","type":["null",
	 {"type":"record","name":"A","fields":[{"name":"n","type":["null","A","B"]}]},
	 {"type":"record","name":"B","fields":[{"name":"n","type":["null","A","B"]}]}]}]}`))
	if _, err := twice.encode(nil, []byte(strings.Repeat(`{"n":`, 100)+"null"+strings.Repeat("}", 100))); !errors.Is(err, ErrValue) {
		t.Errorf("two ways at each of 100 levels: %v", err)
	}
}

// A default may be very much longer than the braces that ask for it, and hold others.
func TestAvroDefaultsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	c := whatever(t, avroOf(t, `{"type":"array","items":{"type":"record","name":"R","fields":[{"name":"s","type":"string","default":"`+long+`"}]}}`))
	if _, err := c.encode(nil, []byte("["+strings.Repeat("{},", 999)+"{}]")); !errors.Is(err, ErrValue) {
		t.Errorf("got %v", err)
	}
	if out, err := c.encode(nil, []byte("["+strings.Repeat("{},", 9)+"{}]")); err != nil || len(out) < 1_000_000 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	text := `"int"`
	for i := range 30 {
		text = fmt.Sprintf(`{"type":"record","name":"R%d","fields":[{"name":"a","type":%s,"default":%s},{"name":"b","type":%s,"default":%s}]}`,
			i, text, map[bool]string{true: "1", false: "{}"}[i == 0], map[bool]string{true: `"int"`, false: fmt.Sprintf(`"R%d"`, i-1)}[i == 0],
			map[bool]string{true: "1", false: "{}"}[i == 0])
	}
	s, err := avro.New(format.DefaultLimits()).Parse(t.Context(), format.Source{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newCodec(s); !errors.Is(err, ErrSchema) {
		t.Errorf("defaults that double thirty times: %v", err)
	}
}

// A default takes what it leaves out from the defaults of another record's fields, also where that record is not yet read to
// its end.
func TestAvroDefaultOfARecordAroundIt(t *testing.T) {
	m := whatever(t, avroOf(t, `{"type":"record","name":"A","fields":[
	 {"name":"u","type":["null",{"type":"record","name":"B","fields":[{"name":"a","type":"A","default":{"u":null}}]}]},
	 {"name":"n","type":"int","default":5}]}`))
	payload, err := m.encode(nil, []byte(`{"u":{"B":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"u":{"B":{"a":{"u":null,"n":5}}},"n":5}`
	if got, err := m.decode(nil, payload); err != nil || string(got) != want {
		t.Errorf("%x: got %s, %v, want %s", payload, got, err, want)
	}
}

// Blocks may tell their size, as some writers do.
func TestAvroBlocks(t *testing.T) {
	m := whatever(t, avroOf(t, `{"type":"array","items":"int"}`))
	got, err := m.decode(nil, []byte("\x03\x04\x02\x04\x02\x06\x00"))
	if err != nil || string(got) != "[1,2,3]" {
		t.Errorf("%s, %v", got, err)
	}
}

func FuzzAvroDecode(f *testing.F) {
	c := whatever(f, avroOf(f, everything))
	for _, in := range []string{`{}`, `{"u":{"y":3},"next":{"i":5,"a":[1]}}`, `{"f":"NaN","m":{}}`} {
		payload, err := c.encode(nil, []byte(in))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		text, err := c.decode(nil, payload)
		if err != nil {
			if !errors.Is(err, ErrPayload) {
				t.Fatal(err)
			}
			return
		}
		again, err := c.encode(nil, text)
		if err != nil {
			t.Fatalf("%s can't be encoded: %v", text, err)
		}
		same, err := c.decode(nil, again)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any // a map may have a key twice on the wire, of which the last counts
		if json.Unmarshal(text, &a) != nil || json.Unmarshal(same, &b) != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%s became %s", text, same)
		}
	})
}

func FuzzAvroEncode(f *testing.F) {
	c := whatever(f, avroOf(f, everything))
	for _, in := range []string{`{}`, `{"u":"P"}`, defaults, `{"next":{"next":{"b":null}}}`, `{"m":{"a":1}}`} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, text string) {
		payload, err := c.encode(nil, []byte(text))
		if err != nil {
			if !errors.Is(err, ErrValue) {
				t.Fatal(err)
			}
			return
		}
		if _, err := c.decode(nil, payload); err != nil {
			t.Fatalf("%s: %x: %v", text, payload, err)
		}
	})
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x01\x00"))
	f.Add([]byte("\x010123456789abcdef\x02\x02"))
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, rest, err := parseFrame(data)
		if err != nil {
			return
		}
		if back := appendFrame(frame); !bytes.Equal(append(back, rest...), data) {
			t.Fatalf("%x became %x", data, back)
		}
		if path, after, err := takeIndexes(rest); err == nil {
			again, left, err := takeIndexes(append(appendIndexes(nil, path), after...))
			if err != nil || len(again) != len(path) || !bytes.Equal(left, after) {
				t.Fatalf("%v became %v, %v", path, again, err)
			}
		}
	})
}

func appendFrame(f frame) []byte {
	if f.guid != nil {
		return appendGUID(nil, *f.guid)
	}
	return appendID(nil, f.id)
}

func TestGUID(t *testing.T) {
	const text = "01234567-89ab-cdef-0123-456789abcdef"
	if g, err := parseGUID(text); err != nil || g.String() != text {
		t.Errorf("%s, %v", g, err)
	}
	if _, err := parseGUID("0123"); err == nil {
		t.Error("a short one was taken")
	}
}
