package serde

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

const mapsText = `syntax = "proto3"; package p; import "google/protobuf/any.proto"; import "google/protobuf/struct.proto";
	message Maps {
	  map<string, int32> s = 1; map<int32, Maps> m = 2; google.protobuf.Any any = 3; google.protobuf.Struct free = 4;
	  repeated int32 list = 5; oneof o { string text = 6; Maps nested = 7; } Kind kind = 8;
	}
	enum Kind { NONE = 0; SOME = 1; }`

// entry is a map's entry as a field of a message: that of the number, holding the bytes.
func entry(number protowire.Number, content string) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), []byte(content))
}

// The library loses the key of an entry when it comes again in another wire type, and panics. Decoders of the language skip
// what is of another wire type and keep the key.
func TestProtobufMapKeyInAnotherWireType(t *testing.T) {
	const keyAndValue = "\x0a\x01a\x10\x07"
	c := protobufOf(t, mapsText)
	m, err := c.message("p.Maps")
	if err != nil {
		t.Fatal(err)
	}
	maps := func(content string) []byte { return entry(1, content) }
	for name, tt := range map[string]struct {
		payload []byte
		want    string // in the JSON
	}{
		"varint":         {maps(keyAndValue + "\x08\x05"), `"s":{"a":7}`},
		"before":         {maps("\x08\x05" + keyAndValue), `"s":{"a":7}`},
		"fixed":          {maps(keyAndValue + "\x0d1234"), `"s":{"a":7}`},
		"fixed64":        {maps(keyAndValue + "\x0912345678"), `"s":{"a":7}`},
		"group":          {maps(keyAndValue + "\x0b\x10\x09\x0c"), `"s":{"a":7}`},
		"group in group": {maps(keyAndValue + "\x0b\x0b\x0c\x0c"), `"s":{"a":7}`},
		"long tag":       {maps(keyAndValue + "\x88\x80\x00\x05"), `"s":{"a":7}`},
		"only":           {maps("\x08\x05\x10\x07"), `"s":{"":7}`},
		"value":          {maps(keyAndValue + "\x15abcd"), `"s":{"a":7}`},
		"in a message":   {entry(7, string(maps(keyAndValue+"\x08\x05"))), `"nested":{"s":{"a":7}`},
		"in an entry":    {entry(2, "\x08\x01"+string(entry(2, string(maps(keyAndValue+"\x08\x05"))))), `"m":{"1":{"s":{"a":7}`},
		"in an Any": {
			entry(3, string(entry(1, "type.googleapis.com/p.Maps"))+string(entry(2, string(maps(keyAndValue+"\x08\x05"))))), `"s":{"a":7}`,
		},
		"in a Struct":         {entry(4, string(maps("\x0a\x01a\x12\x02\x20\x01\x08\x05"))), `"free":{"a":true}`},
		"in an unknown group": {append(maps(keyAndValue), "\x7b\x0a\x01a\x7c"...), `"s":{"a":7}`},
	} {
		before := bytes.Clone(tt.payload)
		got, err := m.decode(nil, tt.payload)
		if err != nil || !strings.Contains(string(got), tt.want) {
			t.Errorf("%s: %s, %v, want %s", name, got, err, tt.want)
		}
		if !bytes.Equal(before, tt.payload) {
			t.Errorf("%s: the caller's bytes were changed", name)
		}
	}
}

// What a payload becomes is bounded, wherever in it the schema makes much of little.
func TestProtobufExpansion(t *testing.T) {
	long := strings.Repeat("long_name_", 5_000)
	var fields strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&fields, "int32 some_rather_long_name_%d = %d;\n", i, i+1)
	}
	c := protobufOf(t, `syntax = "proto3"; package p; import "google/protobuf/any.proto";
		message Root { repeated google.protobuf.Any any = 1; repeated E e = 2; repeated One one = 3; map<int32, E> m = 4; repeated Wide wide = 5; }
		enum E { NONE = 0; `+long+` = 1; }
		message One { optional int32 `+long+` = 1; }
		message Wide {`+fields.String()+`}`)
	m, err := c.message("p.Root")
	if err != nil {
		t.Fatal(err)
	}
	anyOf := func(name string, value []byte) []byte {
		return entry(1, string(entry(1, "type.googleapis.com/"+name))+string(entry(2, string(value))))
	}
	wide := bytes.Repeat([]byte("\x2a\x00"), 20_000)
	var deep []byte
	for range 2_000 {
		deep = anyOf("p.Root", deep)
	}
	var maps []byte
	for i := range 3_000 {
		maps = append(maps, entry(4, string(protowire.AppendVarint([]byte("\x08"), uint64(i)))+"\x10\x01")...)
	}
	for name, payload := range map[string][]byte{
		"defaults": wide, "defaults in an Any": anyOf("p.Root", wide), "an Any in an Any": deep,
		"names of symbols": entry(2, strings.Repeat("\x01", 100_000)), "names of fields": bytes.Repeat([]byte("\x1a\x02\x08\x01"), 20_000),
		"symbols in a map": maps,
	} {
		started := time.Now()
		if out, err := m.decode(nil, payload); !errors.Is(err, ErrPayload) || out != nil {
			t.Errorf("%s: %d bytes became %d, %v", name, len(payload), len(out), err)
		}
		if took := time.Since(started); took > 10*time.Second {
			t.Errorf("%s: it took %s", name, took)
		}
	}
	if out, err := m.decode(nil, anyOf("p.Root", anyOf("p.Wide", []byte("\x08\x07")))); err != nil || !bytes.Contains(out, []byte(`"someRatherLongName0":7`)) {
		t.Errorf("an Any in an Any: %.200s, %v", out, err)
	}
}

// Decoders follow a hundred levels. Each level of a group costs a pass over what is in it, so more of them would cost time that
// the size of a payload does not bound.
func TestProtobufNesting(t *testing.T) {
	c := protobufOf(t, `edition = "2023"; package p; message M {
		M group = 1 [features.message_encoding = DELIMITED]; M message = 2; repeated int32 x = 3 [features.repeated_field_encoding = EXPANDED]; }`)
	m, err := c.message("p.M")
	if err != nil {
		t.Fatal(err)
	}
	groups := func(depth, items int) []byte {
		return []byte(strings.Repeat("\x0b", depth) + strings.Repeat("\x18\x01", items) + strings.Repeat("\x0c", depth))
	}
	messages := func(depth int) (b []byte) {
		for range depth {
			b = entry(2, string(b))
		}
		return b
	}
	for name, tt := range map[string]struct {
		payload []byte
		ok      bool
	}{
		"99 groups": {groups(99, 1), true}, "99 messages": {messages(99), true},
		"101 groups": {groups(101, 1), false}, "101 messages": {messages(101), false}, "900 large groups": {groups(900, 10_000), false},
	} {
		if _, err := m.decode(nil, tt.payload); (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrPayload) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzProtobufDecode: whatever comes is decoded or refused, and what is decoded is JSON.
func FuzzProtobufDecode(f *testing.F) {
	c := protobufOf(f, mapsText)
	m, err := c.message("p.Maps")
	if err != nil {
		f.Fatal(err)
	}
	lost := entry(1, "\x0a\x01a\x10\x07\x08\x05")
	f.Add(lost)
	f.Add(entry(2, "\x08\x01"+string(entry(2, string(lost)))))
	f.Add(entry(3, string(entry(1, "type.googleapis.com/p.Maps"))+string(entry(2, string(lost)))))
	f.Add(append(entry(3, string(entry(1, "x/p.Maps"))), entry(3, string(entry(2, string(lost))))...))
	f.Fuzz(func(t *testing.T, payload []byte) {
		text, err := m.decode(nil, payload)
		if err != nil {
			if !errors.Is(err, ErrPayload) {
				t.Fatal(err)
			}
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q", text)
		}
	})
}
