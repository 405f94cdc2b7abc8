package conform

import (
	"errors"
	"strings"
	"testing"

	"moldau/registry/catalog"
	"moldau/registry/format"
	"moldau/registry/format/avro"
	"moldau/registry/format/jsonschema"
	"moldau/registry/format/protobuf"
)

func parse(t testing.TB, kind, text string, references ...format.Resolved) format.Schema {
	t.Helper()
	l := format.DefaultLimits()
	formats := map[string]format.Format{format.Avro: avro.New(l), format.Protobuf: protobuf.New(l), format.JSON: jsonschema.New(l)}
	s, err := formats[kind].Parse(t.Context(), format.Source{Text: text, References: references, New: true})
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return s
}

func compile(t testing.TB, level Level, kind, text string, rules ...catalog.Rule) Checker {
	t.Helper()
	in := Input{Schema: parse(t, kind, text)}
	if len(rules) > 0 {
		in.RuleSet = &catalog.RuleSet{DomainRules: rules}
	}
	c, err := Compile(t.Context(), in, level, DefaultLimits())
	if err != nil {
		t.Fatalf("compile %s: %v", text, err)
	}
	return c
}

// reason answers the reason of a violation, and nothing for none.
func reason(t testing.TB, err error) Reason {
	t.Helper()
	if err == nil {
		return ""
	}
	var v *Violation
	if !errors.As(err, &v) {
		t.Fatalf("%T is no violation: %v", err, err)
	}
	if v.Message == "" || len(v.Message) > maxMessage+100 {
		t.Errorf("a message of %d bytes", len(v.Message))
	}
	return v.Reason
}

// want holds a payload against a checker and wants a reason, and a part of the message.
func want(t *testing.T, c Checker, payload string, r Reason, part string) {
	t.Helper()
	err := c.Check([]byte(payload), nil)
	if got := reason(t, err); got != r {
		t.Errorf("%q: %q (%v), want %q", payload, got, err, r)
	} else if err != nil && !strings.Contains(err.Error(), part) {
		t.Errorf("%q: %v, want %q in it", payload, err, part)
	}
}

func TestCompileRefuses(t *testing.T) {
	s := parse(t, format.Avro, `"int"`)
	for _, level := range []Level{0, 4} {
		if _, err := Compile(t.Context(), Input{Schema: s}, level, DefaultLimits()); !errors.Is(err, ErrUncheckable) {
			t.Errorf("level %d: %v", level, err)
		}
	}
	if _, err := Compile(t.Context(), Input{}, Structure, DefaultLimits()); !errors.Is(err, ErrUncheckable) {
		t.Errorf("no schema: %v", err)
	}
	broken, err := jsonschema.New(format.DefaultLimits()).Parse(t.Context(), format.Source{Text: `{"type":7}`})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Compile(t.Context(), Input{Schema: broken}, Structure, DefaultLimits()); !errors.Is(err, ErrUncheckable) {
		t.Errorf("broken JSON schema: %v", err)
	}
	broken, err = protobuf.New(format.DefaultLimits()).Parse(t.Context(), format.Source{Text: `syntax = "proto3"; message M { N n = 1; }`})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Compile(t.Context(), Input{Schema: broken}, Structure, DefaultLimits()); !errors.Is(err, ErrUncheckable) {
		t.Errorf("broken Protobuf schema: %v", err)
	}
}

func TestLevelNames(t *testing.T) {
	for level, name := range map[Level]string{Structure: "structure", Full: "full", Rules: "rules", 9: "unknown"} {
		if level.String() != name {
			t.Errorf("%d is %s", level, level)
		}
	}
}
