package serde

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"moldau/registry/format"
	"moldau/registry/format/protobuf"
)

func protobufOf(t testing.TB, text string) codec {
	t.Helper()
	s, err := protobuf.New(format.DefaultLimits()).Parse(t.Context(), format.Source{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCodec(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestProtobuf(t *testing.T) {
	c := protobufOf(t, `syntax = "proto3"; package p;
		import "google/protobuf/any.proto"; import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
		enum Kind { NONE = 0; SOME = 1; }
		message Inner { int32 n = 1; }
		message All {
		  bool b = 1; sint64 l = 2; double d = 3; bytes y = 4; Kind k = 5; repeated int32 r = 6; map<string, Inner> m = 7;
		  oneof o { string s = 8; Inner i = 9; } optional int32 opt = 10; google.protobuf.Timestamp at = 11;
		  google.protobuf.Any any = 12; google.protobuf.Int64Value w = 13; string camel_case = 14;
		}`)
	const defaults = `{"b":false,"l":"0","d":0,"y":"","k":"NONE","r":[],"m":{},"camelCase":""}`
	m, err := c.message("p.All")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ in, want string }{
		{`{}`, defaults},
		{`{"k":1,"camel_case":"x","opt":0}`, `{"b":false,"l":"0","d":0,"y":"","k":"SOME","r":[],"m":{},"opt":0,"camelCase":"x"}`},
		{`{"l":-9223372036854775808,"d":"NaN","y":"AP8="}`, `{"b":false,"l":"-9223372036854775808","d":"NaN","y":"AP8=","k":"NONE","r":[],"m":{},"camelCase":""}`},
		{`{"m":{"a":{"n":1}},"i":{},"w":"5"}`, `{"b":false,"l":"0","d":0,"y":"","k":"NONE","r":[],"m":{"a":{"n":1}},"i":{"n":0},"w":"5","camelCase":""}`},
		{`{"at":"2026-01-02T03:04:05Z","any":{"@type":"type.googleapis.com/p.Inner","n":7}}`, `{"b":false,"l":"0","d":0,"y":"","k":"NONE","r":[],"m":{},"at":"2026-01-02T03:04:05Z","any":{"@type":"type.googleapis.com/p.Inner","n":7},"camelCase":""}`},
	} {
		payload, err := m.encode(nil, []byte(tt.in))
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		if got, err := m.decode(nil, payload); err != nil || string(got) != tt.want {
			t.Errorf("%s\n got %s, %v\nwant %s", tt.in, got, err, tt.want)
		}
	}
	for in, want := range map[string]string{
		``: "p.All", `[]`: "unexpected token", `{"zz":1}`: `unknown field "zz"`, `{"k":"MANY"}`: "invalid value", `{"r":[1.5]}`: "invalid value",
		`{"s":"a","i":{}}`: "oneof", `{"any":{"@type":"type.googleapis.com/p.Nothing"}}`: "p.Nothing",
	} {
		if out, err := m.encode(nil, []byte(in)); !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), want) || out != nil {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
	for _, payload := range []string{"\x08", "\x3a\x05", "\x0b", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		if _, err := m.decode(nil, []byte(payload)); !errors.Is(err, ErrPayload) {
			t.Errorf("%q: %v", payload, err)
		}
	}
}

// A few bytes stand for very many fields at their default: that ends with an error, not in memory.
func TestProtobufBounds(t *testing.T) {
	var fields strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&fields, "int32 some_rather_long_name_%d = %d;\n", i, i+1)
	}
	c := protobufOf(t, `syntax = "proto3"; message Many { repeated Wide wide = 1; map<int32, Wide> by = 2; } message Wide {`+fields.String()+`}`)
	m := whatever(t, c)
	for _, payload := range [][]byte{bytes.Repeat([]byte("\x0a\x00"), 10_000)} {
		if out, err := m.decode(nil, payload); !errors.Is(err, ErrPayload) || out != nil {
			t.Errorf("%d bytes became %d, %v", len(payload), len(out), err)
		}
	}
	if out, err := m.decode(nil, []byte("\x0a\x00\x12\x02\x08\x07")); err != nil || !bytes.Contains(out, []byte(`"7":{"someRatherLongName0":0`)) {
		t.Errorf("%.100s, %v", out, err)
	}
}
