package protobuf

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"moldau/registry/format"
)

// TestWhiteSpaceAndComments: texts that differ in these only are one schema with one id. Registries were found to make a
// new one for each.
func TestWhiteSpaceAndComments(t *testing.T) {
	want := mustParse(t, source("syntax = \"proto3\";\npackage p;\n\nmessage M {\n  int32 a = 1 [deprecated = true];\n}\n")).Canonical()
	for _, text := range []string{
		`syntax="proto3";package p;message M{int32 a=1[deprecated=true];}`,
		"// head\nsyntax = 'proto3';\r\n\tpackage p ; /* c */ message M { // about M\n int32 a = 1 [ deprecated = true ] ; ; }",
	} {
		if got := mustParse(t, source(text)).Canonical(); got != want {
			t.Errorf("got %s", got)
		}
	}
}

const nested = `syntax = "proto3";
package acme;
import "google/protobuf/any.proto";
message Order {
  message Line { string sku = 1; int32 count = 2; Kind kind = 3; enum Kind { NONE = 0; GIFT = 1; } }
  repeated Line lines = 1;
  map<string, Line> by_sku = 2;
  map<int32, string> notes = 3;
  optional string comment = 4;
  oneof payment { Card card = 5; google.protobuf.Any other = 6; }
}
message Card { string number = 1; }
`

// TestDescriptorForm: a schema that was registered as a text is found when it is looked up as a descriptor, nested types,
// maps and all. Registries were found to miss it.
func TestDescriptorForm(t *testing.T) {
	text := mustParse(t, source(nested))
	serialized, err := text.Formatted(format.FormSerialized)
	if err != nil {
		t.Fatal(err)
	}
	compiled := mustParse(t, source(serialized))
	if !compiled.Equivalent(text) || !text.Equivalent(compiled) {
		t.Error("the two forms are not equivalent")
	}
	if strings.Contains(compiled.Canonical(), "base64") || !strings.Contains(compiled.Canonical(), "option map_entry = true;") {
		t.Errorf("stored as %s", compiled.Canonical())
	}
	if mustParse(t, source(nested+"message More {}")).Equivalent(compiled) {
		t.Error("another schema is equivalent")
	}
	if got := Text(text.FileDescriptorProto()); got != compiled.Canonical() {
		t.Errorf("printed as %s", got)
	}
	unpadded := strings.TrimRight(serialized, "=")
	if mustParse(t, source(unpadded)).Canonical() != compiled.Canonical() {
		t.Error("padding matters")
	}
}

// TestImpliedJSONNames: compilers write the JSON name of every field into descriptors, and Go's serializers send them so. Where
// that is the name that the field has anyway, the schema is the one of the text without it; another name is part of it.
func TestImpliedJSONNames(t *testing.T) {
	const file = `syntax = "proto3";
package acme;
message Order {
  string order_id = 1%s;
  map<string, string> by_2nd_key = 2;
  oneof how { string by_card = 3; }
  message Line { int32 unit_count = 1; }
}
`
	plain := mustParse(t, source(fmt.Sprintf(file, "")))
	with := func(change func(*descriptorpb.FieldDescriptorProto)) format.Schema {
		fd := plain.FileDescriptorProto()
		var walk func(list []*descriptorpb.DescriptorProto)
		walk = func(list []*descriptorpb.DescriptorProto) {
			for _, m := range list {
				for _, x := range m.GetField() {
					change(x)
				}
				walk(m.GetNestedType())
			}
		}
		walk(fd.GetMessageType())
		raw, err := proto.Marshal(fd)
		if err != nil {
			t.Fatal(err)
		}
		return mustParse(t, source(base64.StdEncoding.EncodeToString(raw)))
	}
	bare := with(func(*descriptorpb.FieldDescriptorProto) {})
	names := map[string]string{
		"order_id": "orderId", "by_2nd_key": "by2ndKey", "by_card": "byCard", "unit_count": "unitCount", "key": "key", "value": "value",
	}
	full := with(func(x *descriptorpb.FieldDescriptorProto) { x.JsonName = proto.String(names[x.GetName()]) })
	if full.Canonical() != bare.Canonical() {
		t.Errorf("with the names that fields have anyway it is stored as %s", full.Canonical())
	}
	spelled := mustParse(t, source(fmt.Sprintf(file, ` [json_name = "orderId"]`)))
	for _, s := range []format.Schema{full, spelled} {
		if !plain.Equivalent(s) || !s.Equivalent(plain) {
			t.Errorf("it is another schema: %s", s.Canonical())
		}
	}
	if !strings.Contains(spelled.Canonical(), `json_name = "orderId"`) {
		t.Errorf("what a text says is gone: %s", spelled.Canonical())
	}
	other := with(func(x *descriptorpb.FieldDescriptorProto) { x.JsonName = proto.String("x" + names[x.GetName()]) })
	if plain.Equivalent(other) || !strings.Contains(other.Canonical(), `json_name = "xorderId"`) {
		t.Errorf("another name is lost: %s", other.Canonical())
	}
}

// TestMapsOfDescriptors: a descriptor keeps the marks of its maps when it is registered, and normalizes to maps. Registries
// were found to lose the marks and to keep the messages of the entries.
func TestMapsOfDescriptors(t *testing.T) {
	serialized, err := mustParse(t, source(nested)).Formatted("SERIALIZED")
	if err != nil {
		t.Fatal(err)
	}
	s := mustParse(t, source(serialized))
	again, err := s.Formatted(format.FormSerialized)
	if err != nil {
		t.Fatal(err)
	}
	fd := decode(t, again)
	if entry := fd.GetMessageType()[0].GetNestedType()[1]; entry.GetName() != "BySkuEntry" || !entry.GetOptions().GetMapEntry() {
		t.Errorf("the entry is %v", entry)
	}
	normalized, err := s.Normalized()
	if err != nil || strings.Contains(normalized, "Entry") || !strings.Contains(normalized, "map<string, .acme.Order.Line> by_sku = 2;") {
		t.Errorf("%v, %s", err, normalized)
	}
}

// TestOddEntryNames: the names that some registries give to the entries of maps when they serialize a schema are taken.
func TestOddEntryNames(t *testing.T) {
	s := mustParse(t, source(nested))
	fd := s.FileDescriptorProto()
	fd.MessageType[0].NestedType[1].Name = proto.String("by_skuEntry")
	fd.MessageType[0].Field[1].TypeName = proto.String(".acme.Order.by_skuEntry")
	raw, err := proto.Marshal(fd)
	if err != nil {
		t.Fatal(err)
	}
	odd := mustParse(t, source(base64.StdEncoding.EncodeToString(raw)))
	if !odd.Equivalent(s) || !strings.Contains(odd.Canonical(), "message by_skuEntry {") {
		t.Errorf("stored as %s", odd.Canonical())
	}
	if again := mustParse(t, source(odd.Canonical())); again.Canonical() != odd.Canonical() || !again.Equivalent(s) {
		t.Errorf("reads back as %s", again.Canonical())
	}
}

// TestSerialized: the serialized form is what clients of other languages build their types from.
func TestSerialized(t *testing.T) {
	serialized, err := mustParse(t, source(nested)).Formatted(format.FormSerialized)
	if err != nil {
		t.Fatal(err)
	}
	fd := decode(t, serialized)
	order := fd.GetMessageType()[0]
	if fd.GetName() != "default" || fd.GetPackage() != "acme" || fd.GetSyntax() != "proto3" || fd.GetDependency()[0] != "google/protobuf/any.proto" {
		t.Errorf("the file is %v", fd)
	}
	if f := order.GetField()[0]; f.GetTypeName() != ".acme.Order.Line" || f.JsonName != nil {
		t.Errorf("the field is %v", f)
	}
	if f := order.GetField()[3]; !f.GetProto3Optional() || order.GetOneofDecl()[f.GetOneofIndex()].GetName() != "_comment" {
		t.Errorf("the field is %v", f)
	}
}

func decode(t *testing.T, text string) *descriptorpb.FileDescriptorProto {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	fd := &descriptorpb.FileDescriptorProto{}
	if err := proto.Unmarshal(raw, fd); err != nil {
		t.Fatal(err)
	}
	return fd
}

// TestTypeWithoutImport: a type that nothing imports is refused, although a reference has it. Registries were found to
// accept that.
func TestTypeWithoutImport(t *testing.T) {
	ref := format.Resolved{Name: "r.proto", Text: `syntax = "proto3"; package q; message N {}`}
	_, err := shared().Parse(context.Background(), source(`syntax = "proto3"; message M { q.N n = 1; }`, ref))
	if !errors.Is(err, format.ErrInvalid) || !strings.Contains(err.Error(), "line 1, column 32: field M.n: unknown type q.N") {
		t.Errorf("got %v", err)
	}
	mustParse(t, source(`syntax = "proto3"; import "r.proto"; message M { q.N n = 1; }`, ref))
}

// TestBuiltIn: what is built in needs no reference, but a reference of that name comes first. A registry was found to refuse
// the import of Any.
func TestBuiltIn(t *testing.T) {
	built := newBuiltins()
	paths := make([]string, 0, len(built.files))
	for path := range built.files {
		paths = append(paths, path)
		if _, ok, err := built.find(path); err != nil || !ok {
			t.Errorf("%s: %v", path, err)
		}
		mustParse(t, source(fmt.Sprintf(`syntax = "proto3"; import %q;`, path)))
	}
	for _, path := range []string{"google/protobuf/any.proto", "google/type/money.proto", "confluent/meta.proto", "confluent/type/decimal.proto", "buf/validate/validate.proto"} {
		if !slices.Contains(paths, path) {
			t.Errorf("%s is not built in", path)
		}
	}
	own := format.Resolved{Name: "google/type/money.proto", Text: `syntax = "proto3"; package google.type; message Coin {}`}
	mustParse(t, source(`syntax = "proto3"; import "google/type/money.proto"; message M { google.type.Coin c = 1; }`, own))
}

func TestIndexes(t *testing.T) {
	s := mustParse(t, source(`syntax = "proto3"; package p; enum E { Z = 0; } message A { map<string, C> m = 1; message B {} message C { message D {} } } message F {}`))
	for name, want := range map[string][]int{"p.A": {0}, "p.F": {1}, "p.A.B": {0, 0}, "p.A.C": {0, 1}, "p.A.C.D": {0, 1, 0}} {
		got, err := s.MessageIndexes(name)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if back, err := s.MessageName(want); err != nil || back != name {
			t.Errorf("%v: %s, %v", want, back, err)
		}
	}
	if first, err := s.MessageName(nil); err != nil || first != "p.A" {
		t.Errorf("%s, %v", first, err)
	}
	for _, name := range []string{"A", "p.X", "p.A.X", "p.E", ""} {
		if got, err := s.MessageIndexes(name); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, indexes := range [][]int{{2}, {-1}, {0, 2}, {1, 0}} {
		if got, err := s.MessageName(indexes); err == nil {
			t.Errorf("%v: %s", indexes, got)
		}
	}
	spelled := mustParse(t, source(`syntax = "proto3"; message M { repeated AEntry a = 1; message AEntry { option map_entry = true; string key = 1; string value = 2; } message N {} }`))
	if got, err := spelled.MessageIndexes("M.N"); err != nil || !slices.Equal(got, []int{0, 1}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestNames(t *testing.T) {
	wrapped := format.Resolved{Name: "r.proto", Text: `syntax = "proto3"; package q; message N { string a = 1; oneof o { int32 b = 2; } }`}
	for text, want := range map[string]string{
		`syntax = "proto3"; package p; enum E { Z = 0; } message M {}`:  "p.M",
		`syntax = "proto3"; enum E { Z = 0; }`:                          "E",
		`syntax = "proto3"; import public "r.proto";`:                   "q.N",
		`syntax = "proto3"; import public "google/protobuf/any.proto";`: "google.protobuf.Any",
		`syntax = "proto3"; import "r.proto";`:                          "",
	} {
		if got := mustParse(t, source(text, wrapped)).Name(); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
	s := mustParse(t, source(`syntax = "proto3"; import public "r.proto";`, wrapped))
	if !s.HasTopLevelField("a") || !s.HasTopLevelField("b") || s.HasTopLevelField("o") || s.Format() != "PROTOBUF" || s.Validate(true) != nil {
		t.Error("the fields of the file that is imported publicly do not count")
	}
}

// TestReasons holds the words of refusals, which users read.
func TestReasons(t *testing.T) {
	loop := []format.Resolved{{Name: "a.proto", Text: `import "b.proto";`}, {Name: "b.proto", Text: `import "a.proto";`}}
	broken := []format.Resolved{{Name: "a.proto", Text: `message M { int32 a = 1; }`}}
	for _, c := range []struct {
		text string
		refs []format.Resolved
		want string
	}{
		{"syntax = \"proto3\";\nmessage M {\n  int32 a = ;\n}", nil, "line 3, column 13: syntax error: unexpected ';', expecting int literal"},
		{`message M { int32 a = 1; }`, nil, "field has no label"},
		{`syntax = "proto3"; message M { int32 a = 1; int32 b = 1; }`, nil, "fields a and b both have the same tag 1"},
		{`syntax = "proto3"; message M { N n = 1; }`, nil, "line 1, column 32: field M.n: unknown type N"},
		{`syntax = "proto3"; enum E { A = 1; }`, nil, "enum E: proto3 requires that first value of enum have numeric value zero"},
		{`syntax = "proto3"; import "none.proto";`, nil, `import "none.proto" is not among the references and not built in`},
		{`import "a.proto";`, loop, "imports lead back to a.proto: default -> a.proto -> b.proto -> a.proto"},
		{`import "a.proto";`, broken, `import "a.proto": invalid schema: a.proto, line 1`},
		{`syntax = "proto3"; message M { string a = 1 [(x.y) = true]; }`, nil, "unknown extension x.y"},
		{"AAAA", nil, "syntax error"},
		{`{"type":"string"}`, nil, "syntax error"},
	} {
		_, err := shared().Parse(context.Background(), source(c.text, c.refs...))
		if !errors.Is(err, format.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s\n got  %v\n want %s", c.text, err, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	l := format.DefaultLimits()
	l.TextBytes, l.TotalBytes, l.References, l.Fields, l.Depth = 5_000, 6_000, 2, 20, 8
	f := New(l)
	var many strings.Builder
	for i := range 25 {
		fmt.Fprintf(&many, "int32 f%d = %d;", i, i+1)
	}
	wide := `syntax = "proto3"; message M { ` + many.String() + ` }`
	deep := `syntax = "proto3"; ` + strings.Repeat("message M { ", 10) + strings.Repeat("}", 10)
	half := `syntax = "proto3"; message M { int32 a = 1; int32 b = 2; int32 c = 3; int32 d = 4; int32 e = 5; int32 f = 6; int32 g = 7; int32 h = 8; }`
	encoded := func(text string) string {
		s, err := mustParse(t, source(text)).Formatted(format.FormSerialized)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for name, s := range map[string]format.Source{
		"text":             source(`syntax = "proto3";` + strings.Repeat(" ", 5_000)),
		"references":       source(`syntax = "proto3";`, make([]format.Resolved, 3)...),
		"fields":           source(wide),
		"fields, encoded":  source(encoded(wide)),
		"depth":            source(deep),
		"depth, encoded":   source(encoded(deep)),
		"depth of options": source(`option (x) = { a ` + strings.Repeat("{ a ", 10) + `: 1 ` + strings.Repeat("}", 11) + `;`),
		"fields of all": source(`syntax = "proto3"; import "a.proto"; import "b.proto"; `+half[18:],
			format.Resolved{Name: "a.proto", Text: `package a; ` + strings.ReplaceAll(half[18:], "int32", "optional int32")},
			format.Resolved{Name: "b.proto", Text: `package b; ` + strings.ReplaceAll(half[18:], "int32", "optional int32")}),
	} {
		if _, err := f.Parse(context.Background(), s); !errors.Is(err, format.ErrTooLarge) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := f.Parse(gone, source(`syntax = "proto3";`)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRetagged(t *testing.T) {
	s := mustParse(t, source(`syntax = "proto3";
import "confluent/meta.proto";
message M {
  option (confluent.message_meta).doc = "d";
  option (confluent.message_meta).tags = "A";
  string s = 1 [deprecated = true];
  oneof o { int32 i = 2 [(confluent.field_meta) = { tags: ["X", "Y"] }]; }
  message N { string t = 1; }
}`))
	tag := func(typ, path string, tags ...string) format.TaggedEntity {
		return format.TaggedEntity{Entity: format.Entity{Path: path, Type: typ}, Tags: tags}
	}
	text, err := s.Retagged([]format.TaggedEntity{
		tag(format.RecordEntity, "M", "B", "A"), tag(format.FieldEntity, ".M.s", "PII"),
		tag(format.FieldEntity, "M.o.i", "Z"), tag(format.RecordEntity, "M.N", "C"),
	}, []format.TaggedEntity{tag(format.FieldEntity, "M.i", "X", "Z"), tag(format.RecordEntity, "M.N", "C")})
	if err != nil {
		t.Fatal(err)
	}
	again := mustParse(t, source(text))
	want := []format.TaggedEntity{
		tag(format.RecordEntity, "M", "A", "B"), tag(format.FieldEntity, "M.i", "Y"), tag(format.FieldEntity, "M.s", "PII"),
	}
	if got := again.Tags(); !reflect.DeepEqual(got, want) || again.Canonical() != text || !strings.Contains(text, `doc: "d"`) {
		t.Errorf("got %v\n%s", got, text)
	}
	for _, bad := range []format.TaggedEntity{tag(format.FieldEntity, "M.x", "A"), tag(format.RecordEntity, "X", "A"), tag("sr_other", "M", "A")} {
		if _, err := s.Retagged([]format.TaggedEntity{bad}, nil); !errors.Is(err, format.ErrInvalid) {
			t.Errorf("%v: got %v", bad, err)
		}
	}
	plain := mustParse(t, source(`syntax = "proto3"; message M {}`))
	text, err = plain.Retagged([]format.TaggedEntity{tag(format.RecordEntity, "M", "A")}, nil)
	if err != nil || !strings.Contains(text, `import "confluent/meta.proto";`) {
		t.Errorf("%v\n%s", err, text)
	}
	mustParse(t, source(text))
}

// TestCustomOptions: a descriptor keeps the options that its imports define.
func TestCustomOptions(t *testing.T) {
	ref := format.Resolved{Name: "acme/options.proto", Text: `syntax = "proto3"; package acme; import "google/protobuf/descriptor.proto";
		extend google.protobuf.FieldOptions { Rules rules = 50000; } message Rules { repeated int32 allowed = 1; bytes mask = 2; double limit = 3; }`}
	s := mustParse(t, source(`syntax = "proto3"; import "acme/options.proto"; message M { int32 a = 1 [(acme.rules) = { allowed: [3, 5] mask: "\x00\xff" limit: 1e3 }]; }`, ref))
	stable(t, s, []format.Resolved{ref})
	serialized, err := s.Formatted(format.FormSerialized)
	if err != nil {
		t.Fatal(err)
	}
	want := "  int32 a = 1 [(acme.rules) = {\n    allowed: [\n      3,\n      5\n    ],\n    mask: \"\\000\\377\",\n    limit: 1000\n  }];\n"
	if got := mustParse(t, source(serialized, ref)).Canonical(); !strings.Contains(got, want) {
		t.Errorf("got %s", got)
	}
}

// TestEdition: files of an edition, which texts of other registries cannot have, are kept as they are.
func TestEdition(t *testing.T) {
	s := mustParse(t, source("edition = \"2023\"; package p; option features.field_presence = IMPLICIT;\nmessage M { int32 a = 1; string b = 2 [features.field_presence = EXPLICIT]; }"))
	want := "edition = \"2023\";\npackage p;\n\noption features.field_presence = IMPLICIT;\n\nmessage M {\n  int32 a = 1;\n  string b = 2 [features.field_presence = EXPLICIT];\n}\n"
	if s.Canonical() != want {
		t.Errorf("got %s", s.Canonical())
	}
	if again := mustParse(t, source(s.Canonical())); !again.Equivalent(s) {
		t.Error("does not read back")
	}
}
