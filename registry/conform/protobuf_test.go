package conform

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"moldau/registry/format"
	"moldau/registry/format/protobuf"
)

const protoThree = `syntax = "proto3"; package t; import "google/protobuf/timestamp.proto";
message A { int32 i = 1; string s = 2; bytes b = 3; A a = 4; repeated int32 r = 5; repeated fixed32 f = 6;
	map<string, A> m = 7; fixed64 x = 8; google.protobuf.Timestamp at = 9; string far = 5000;
	message In { string s = 1; } }
message B { string s = 1; }`

const protoTwo = `syntax = "proto2"; package t;
message A { optional string s = 1; required int32 n = 2; optional A a = 3; optional group G = 4 { required string g = 1; }
	repeated A list = 5; map<int32, R> m = 6; oneof o { A x = 7; E e = 8; } }
enum E { ZERO = 0; ONE = 1; }
message R { required E e = 1; }`

func TestProtobufStructure(t *testing.T) {
	for _, c := range []struct {
		payload string
		reason  Reason
		part    string
	}{
		{"", "", ""},
		{"\x08\x01", "", ""},
		{"\x0a\x01x", "", ""}, // a number that is bytes is an unknown field
		{"\x12\x01x", "", ""},
		{"\x12\x01\xff", Encoding, "at s, byte 2"},
		{"\x1a\x01\xff", "", ""},
		{"\x12\x02x", Malformed, "beyond the end"},
		{"\x2a\x02\x01\x02\x28\x03", "", ""}, // packed and not
		{"\x2a\x01\x80", Malformed, "ends inside"},
		{"\x32\x04abcd", "", ""},
		{"\x32\x03abc", Malformed, "packed"},
		{"\x3a\x05\x0a\x01k\x12\x00", "", ""},
		{"\x3a\x03\x0a\x01\xff", Encoding, "at m.key"},
		{"\x41abcdefgh", "", ""},
		{"\x41abcdefg", Malformed, "ends inside"},
		{"\x4a\x02\x08\x01", "", ""},
		{"\xc2\xb8\x02\x01\xff", Encoding, "at far"},
		{"\xa2\x06\x01x", "", ""},                             // unknown
		{"\xa3\x06\xab\x06\x08\x01\xac\x06\xa4\x06", "", ""},  // unknown groups
		{"\xa3\x06\xa4\x07", Malformed, "has not begun"},      // another group's end
		{"\xa3\x06", Malformed, "does not end"},               //
		{"\xa4\x06", Malformed, "has not begun"},              //
		{"\x00", Malformed, "number 0"},                       //
		{"\x0f", Malformed, "wire type 7"},                    //
		{"\x08", Malformed, "ends inside"},                    //
		{"\x88\x80\x80\x80\x10\x01", "", ""},                  // a tag of 33 bits
		{"\x12\x81\x80\x80\x80\x10x", "", ""},                 // a length of 33 bits
		{"\x12\xff\xff\xff\xff\x0f", Malformed, "negative"},   //
		{"\x08" + strings.Repeat("\xff", 9) + "\x7f", "", ""}, //
		{"\x08" + strings.Repeat("\xff", 10) + "\x01", Malformed, "too many bytes"},
	} {
		want(t, compile(t, Structure, format.Protobuf, protoThree), c.payload, c.reason, c.part)
	}
}

func TestProtobufRequired(t *testing.T) {
	for _, c := range []struct {
		payload string
		reason  Reason
		part    string
	}{
		{"\x10\x01", "", ""},
		{"", Missing, "field n "},
		{"\x10\x01\x0a\x01\xff", "", ""}, // proto2 does not look at its strings
		{"\x10\x01\x1a\x00", Missing, "a.n"},
		{"\x10\x01\x1a\x00\x1a\x02\x10\x01", "", ""}, // merged
		{"\x10\x01\x2a\x00\x2a\x02\x10\x01", Missing, "list.n"},
		{"\x10\x01\x23\x24", Missing, "g.g"},
		{"\x10\x01\x23\x0a\x00\x24", "", ""},
		{"\x10\x01\x32\x00", Missing, "m.value"}, // an empty R stands in for the value
		{"\x10\x01\x32\x04\x12\x02\x08\x01", "", ""},
		{"\x10\x01\x32\x04\x12\x02\x08\x05", Missing, "m.value.e"}, // no value of the enum
		{"\x10\x01\x3a\x00", Missing, "x.n"},
		{"\x10\x01\x3a\x00\x40\x01", "", ""}, // another field of the oneof
		{"\x10\x01\x3a\x00\x40\x05", Missing, "x.n"},
	} {
		want(t, compile(t, Structure, format.Protobuf, protoTwo), c.payload, c.reason, c.part)
	}
}

func TestProtobufManyRequired(t *testing.T) {
	var b strings.Builder
	b.WriteString(`syntax = "proto2"; message M {`)
	payload := ""
	for i := range 70 {
		name := string(rune('a'+i/10)) + string(rune('0'+i%10))
		b.WriteString("required bool " + name + " = " + strings.TrimSpace(string(rune('1'+i/10))) + string(rune('0'+i%10)) + ";")
		number := 10*(1+i/10) + i%10
		payload += string([]byte{byte(number<<3) | 0x80, byte(number >> 4), 1})
	}
	c := compile(t, Structure, format.Protobuf, b.String()+"}")
	want(t, c, payload, "", "")
	want(t, c, payload[:len(payload)-3], Missing, "g9")
	want(t, c, payload[3:], Missing, "a0")
}

func TestProtobufIndexes(t *testing.T) {
	c := compile(t, Structure, format.Protobuf, protoThree)
	for _, x := range []struct {
		index   []int32
		payload string
		reason  Reason
	}{
		{nil, "\x08\x01", ""},
		{[]int32{0}, "\x12\x01\xff", Encoding},
		{[]int32{0, 0}, "\x0a\x01\xff", Encoding},
		{[]int32{1}, "\x0a\x01\xff", Encoding},
		{[]int32{2}, "", UnknownMessage},
		{[]int32{0, 7}, "", UnknownMessage},
		{[]int32{0, 0, 0}, "", UnknownMessage},
		{[]int32{-1}, "", UnknownMessage},
	} {
		if got := reason(t, c.Check([]byte(x.payload), x.index)); got != x.reason {
			t.Errorf("%v: %q, want %q", x.index, got, x.reason)
		}
	}
}

func TestProtobufDepth(t *testing.T) {
	nested := func(depth int) string {
		p := ""
		for range depth {
			p = string(append(lengthOf(len(p), 0x22), p...))
		}
		return p
	}
	c := compile(t, Structure, format.Protobuf, protoThree)
	want(t, c, nested(100), "", "")
	want(t, c, nested(101), TooDeep, "100 levels")
	want(t, c, nested(5000), TooDeep, "100 levels")
	want(t, c, strings.Repeat("\xa3\x06", 100)+strings.Repeat("\xa4\x06", 100), "", "")
	want(t, c, strings.Repeat("\xa3\x06", 1<<20), TooDeep, "100 levels")
}

func lengthOf(n int, tag byte) []byte {
	b := []byte{tag}
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func TestProtobufEditions(t *testing.T) {
	c := compile(t, Structure, format.Protobuf, `edition = "2023";
		message M { string s = 1; string free = 2 [features.utf8_validation = NONE]; int32 n = 3 [features.field_presence = LEGACY_REQUIRED]; }`)
	want(t, c, "\x18\x01\x12\x01\xff", "", "")
	want(t, c, "\x18\x01\x0a\x01\xff", Encoding, "at s")
	want(t, c, "", Missing, "field n ")
}

// FuzzProtobuf wants what Go's decoder accepts to pass. Go is stricter than Java, whose answers test/decoders has.
func FuzzProtobuf(f *testing.F) {
	type schema struct {
		c    Checker
		desc protoreflect.MessageDescriptor
	}
	var schemas []schema
	for _, text := range []string{protoThree, protoTwo, orderProto} {
		s := parse(f, format.Protobuf, text).(*protobuf.Schema)
		schemas = append(schemas, schema{compile(f, Structure, format.Protobuf, text), s.Descriptor().Messages().Get(0)})
	}
	f.Add(orderProtoPayload())
	f.Add([]byte("\x10\x01\x3a\x00\x40\x01\x23\x0a\x00\x24"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, s := range schemas {
			r := reason(t, s.c.Check(b, nil))
			if decodes(s.desc, b) && r != "" && r != TooDeep && r != Missing && r != Encoding {
				t.Errorf("Go accepts %x as %s, which is refused: %s", b, s.desc.FullName(), r)
			}
		}
	})
}

// decodes asks Go's decoder, which panics over the key of a map that comes twice, the second time as something else.
func decodes(d protoreflect.MessageDescriptor, b []byte) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return proto.Unmarshal(b, dynamicpb.NewMessage(d)) == nil
}
