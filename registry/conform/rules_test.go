package conform

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"

	"moldau/registry/catalog"
	"moldau/registry/format"
)

func rule(expr string) catalog.Rule {
	return catalog.Rule{Name: "check", Kind: "CONDITION", Type: "CEL", Mode: "WRITE", Expr: expr}
}

func TestConditions(t *testing.T) {
	const (
		avroSchema  = `{"type":"record","name":"R","fields":[{"name":"name","type":"string"},{"name":"n","type":["null","int"]}]}`
		protoSchema = `syntax = "proto3"; message R { string name = 1; int32 n = 2; }`
		jsonSchema  = `{"properties":{"name":{"type":"string"},"n":{"type":"integer"}}}`
	)
	for _, c := range []struct {
		expr, good, bad string // of Avro
	}{
		{"size(message.name) < 3", "\x04ab\x00", "\x06abc\x00"},
		{"message.name.isEmail()", "\x0ca@b.cz\x00", "\x02a\x00"},
		{"message.n == null || message.n > 1", "\x00\x02\x04", "\x00\x02\x02"},
		{"message.n != null; message.n > 1", "\x00\x00", "\x00\x02\x02"},
		{"message.name.matches('^a+$')", "\x02a\x00", "\x02b\x00"},
	} {
		checker := compile(t, Rules, format.Avro, avroSchema, rule(c.expr))
		want(t, checker, c.good, "", "")
		want(t, checker, c.bad, Condition, "the rule check does not hold")
		want(t, checker, "\x02", Malformed, "")
		want(t, compile(t, Full, format.Avro, avroSchema, rule(c.expr)), c.bad, "", "")
	}
	p := compile(t, Rules, format.Protobuf, protoSchema, rule("size(message.name) < 3 && message.n > 1"))
	want(t, p, "\x0a\x02ab\x10\x02", "", "")
	want(t, p, "\x0a\x03abc\x10\x02", Condition, "check")
	j := compile(t, Rules, format.JSON, jsonSchema, rule("message.name == 'a' && message.n < 1.5"))
	want(t, j, `{"name":"a","n":1}`, "", "")
	want(t, j, `{"name":"a","n":2}`, Condition, "check")
	want(t, j, `{"name":"a"}`, Undecided, "no such key")
	want(t, j, `{"name":7,"n":1}`, Mismatch, "")
}

func TestConditionsThatDoNotApply(t *testing.T) {
	for name, change := range map[string]func(*catalog.Rule){
		"disabled":   func(r *catalog.Rule) { r.Disabled = true },
		"on read":    func(r *catalog.Rule) { r.Mode = "READ" },
		"transform":  func(r *catalog.Rule) { r.Kind = "TRANSFORM" },
		"by field":   func(r *catalog.Rule) { r.Type = "CEL_FIELD" },
		"no failure": func(r *catalog.Rule) { r.OnFailure = "NONE" },
	} {
		r := rule("false")
		change(&r)
		if err := compile(t, Rules, format.Avro, `"null"`, r).Check(nil, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for at, r := range map[string]Reason{"": Condition, "ALL": Condition, "SERVER": Condition, "CLIENT": "", "NONE": ""} {
		in := Input{Schema: parse(t, format.Avro, `"null"`), RuleSet: &catalog.RuleSet{DomainRules: []catalog.Rule{rule("false")}, EnableAt: at}}
		c, err := Compile(t.Context(), in, Rules, DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		want(t, c, "", r, "")
	}
}

func TestConditionsThatDoNotCompile(t *testing.T) {
	schema := parse(t, format.Avro, `"string"`)
	for _, expr := range []string{"", "message ==", "size(message)", "unknown > 1", "message.all(x", strings.Repeat("!", 9000) + "true", "; ;"} {
		in := Input{Schema: schema, RuleSet: &catalog.RuleSet{DomainRules: []catalog.Rule{rule(expr)}}}
		if _, err := Compile(t.Context(), in, Rules, DefaultLimits()); !errors.Is(err, ErrUncheckable) {
			t.Errorf("%.40q: %v", expr, err)
		}
	}
	many := make([]catalog.Rule, 101)
	for i := range many {
		many[i] = rule("true")
	}
	in := Input{Schema: schema, RuleSet: &catalog.RuleSet{DomainRules: many}}
	if _, err := Compile(t.Context(), in, Rules, DefaultLimits()); !errors.Is(err, ErrUncheckable) {
		t.Errorf("101 rules: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compile(ctx, in, Rules, DefaultLimits()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestConditionCost gives a condition that turns n to the third power times.
func TestConditionCost(t *testing.T) {
	expr := "message.all(x, message.all(y, message.all(z, x + y + z >= 0)))"
	c := compile(t, Rules, format.JSON, `{"type":"array","items":{"type":"integer"}}`, rule(expr), rule(expr))
	want(t, c, "[1,2,3]", "", "")
	want(t, c, "["+strings.Repeat("1,", 1000)+"1]", Undecided, "cost")
}

// validateReference is protovalidate's own file as a schema may bring it along; without it the built-in one holds.
func validateReference(t *testing.T) format.Resolved {
	t.Helper()
	raw, err := proto.Marshal(protodesc.ToFileDescriptorProto(validate.File_buf_validate_validate_proto))
	if err != nil {
		t.Fatal(err)
	}
	return format.Resolved{Name: "buf/validate/validate.proto", Text: base64.StdEncoding.EncodeToString(raw)}
}

func compileProto(t *testing.T, text string, references ...format.Resolved) (Checker, error) {
	t.Helper()
	text = `syntax = "proto3"; package t; import "buf/validate/validate.proto"; ` + text
	return Compile(t.Context(), Input{Schema: parse(t, format.Protobuf, text, references...)}, Rules, DefaultLimits())
}

func TestProtovalidate(t *testing.T) {
	const (
		before = `message M { option (buf.validate.message).cel = {id: "x", message: "a before b", expression: "this.a < this.b"};
			int32 a = 1; int32 b = 2; }`
		pairs = `message M { repeated int32 r = 1 [(buf.validate.field).cel =
			{id: "x", message: "pairs", expression: "this.all(x, this.all(y, x + y > 0))"}]; }`
	)
	for _, c := range []struct {
		text, payload string
		reason        Reason
		part          string
	}{
		{`message M { string s = 1 [(buf.validate.field).string.min_len = 2]; }`, "\x0a\x02ab", "", ""},
		{`message M { string s = 1 [(buf.validate.field).string.min_len = 2]; }`, "\x0a\x01a", Condition, "at s"},
		{`message M { string s = 1 [(buf.validate.field).string.min_len = 2]; }`, "\x0a\x01\xff", Encoding, "at s"},
		{`message M { N n = 1; } message N { int32 i = 1 [(buf.validate.field).int32.gt = 3]; }`, "\x0a\x02\x08\x03", Condition, "at n.i"},
		{`message M { int32 i = 1 [(buf.validate.field).required = true]; }`, "", Condition, "at i"},
		{before, "\x08\x02\x10\x01", Condition, "a before b"},
		{pairs, "\x0a\x02\x01\x02", "", ""},
		{pairs, "\x0a\x88\x27" + strings.Repeat("\x01", 5000), Undecided, "too many elements"},
	} {
		for _, references := range [][]format.Resolved{nil, {validateReference(t)}} {
			checker, err := compileProto(t, c.text, references...)
			if err != nil {
				t.Errorf("%s, %d references: %v", c.text, len(references), err)
				continue
			}
			want(t, checker, c.payload, c.reason, c.part)
		}
	}
}

func TestProtovalidateThatDoesNotCompile(t *testing.T) {
	for _, text := range []string{
		`message M { option (buf.validate.message).cel = {id: "x", expression: "this.nothing > 1"}; int32 a = 1; }`,
		`message M { option (buf.validate.message).cel = {id: "x", expression: "this."}; int32 a = 1; }`,
		`message M { string s = 1 [(buf.validate.field).int32.gt = 3]; }`,
	} {
		if _, err := compileProto(t, text); !errors.Is(err, ErrUncheckable) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestHostileMap gives messages that Go's decoder, which the conditions need, panics over: those in which the key of a map comes
// again as something else. Other decoders skip that, and the conditions see the key that came first.
func TestHostileMap(t *testing.T) {
	const text = `syntax = "proto3"; message M { map<string, int32> m = 1; map<int32, M> deep = 2; M sub = 3; }`
	c := compile(t, Rules, format.Protobuf, text, rule("!('k' in message.m) || message.m['k'] == 1"), rule("!has(message.sub) || 'k' in message.sub.m"))
	const good, bad = "\x0a\x07\x0a\x01k\x10\x01\x08\x05", "\x0a\x07\x0a\x01k\x10\x02\x08\x05"
	want(t, c, "\x0a\x05\x0a\x01k\x10\x01", "", "")
	want(t, c, good, "", "")
	want(t, c, bad, Condition, "does not hold")
	want(t, c, "\x0a\x05\x0a\x01k\x10\x01"+bad, Condition, "does not hold")
	want(t, c, "\x1a\x09"+good, "", "")
	want(t, c, "\x12\x0d\x08\x01\x12\x09"+good, "", "")
	want(t, c, "\x0a\x04\x08\x05\x10\x02", "", "") // the key is not there but for its number
}
