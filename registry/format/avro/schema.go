package avro

import (
	"fmt"
	"strings"

	codec "github.com/twmb/avro"

	"moldau/registry/format"
)

// Schema is a parsed Avro schema.
type Schema struct {
	limits    format.Limits
	source    format.Source
	graphs    graphs
	canonical string
}

// Format is format.Avro.
func (s *Schema) Format() string { return format.Avro }

// Name is the full name of the record, empty for any other type.
func (s *Schema) Name() string {
	if s.graphs.root.kind == kindRecord {
		return s.graphs.root.name.full()
	}
	return ""
}

// Canonical is the stored text: attributes in the language's order, properties as they came, no white space, and what a
// reference defines by its name.
func (s *Schema) Canonical() string { return s.canonical }

// Normalized is the stored text with properties and aliases in alphabetical order.
func (s *Schema) Normalized() (string, error) {
	if s.graphs.borrowed {
		return s.canonical, nil
	}
	return printSchema(normalized(s.graphs.root), s.graphs.external()), nil
}

// Formatted answers format.FormResolved, the text with all that references define written out at its first use.
func (s *Schema) Formatted(form string) (string, error) {
	if strings.EqualFold(form, format.FormResolved) {
		return printSchema(s.graphs.root, map[string]bool{}), nil
	}
	return s.canonical, nil
}

// Codec makes what writes and reads values of this schema. The codec is stricter than Java in some matters, so it is given
// a text with what it needs only: nothing left to references, and no aliases, documentation, properties and unusable
// defaults. The error wraps format.ErrTooLarge where the defaults come to too much when they are written out.
func (s *Schema) Codec() (*codec.Schema, error) {
	x := extents{known: map[question]int{}, seen: map[*node]bool{}}
	if x.of(s.graphs.root) > maxExtent {
		return nil, fmt.Errorf("avro: make a codec: %w: its defaults come to more than %d values", format.ErrTooLarge, maxExtent)
	}
	p := printer{known: map[string]bool{}, bare: true, usable: fitting{exact: true}}
	p.node(s.graphs.root, "")
	made, err := codec.Parse(string(p.dst), codec.WithLaxNames(func(string) error { return nil }))
	if err != nil {
		return nil, fmt.Errorf("avro: make a codec: %w", err)
	}
	return made, nil
}

// Validate has nothing to add to what Parse refuses: no name of the language can begin with a reserved prefix.
func (s *Schema) Validate(bool) error { return nil }

// HasTopLevelField says whether the record has a field of this name.
func (s *Schema) HasTopLevelField(name string) bool { return s.graphs.root.byName[name] != nil }

// Equivalent compares what the schemas say, wherever it is written; white space and the order of properties do not count.
func (s *Schema) Equivalent(other format.Schema) bool {
	o, ok := other.(*Schema)
	return ok && (&comparison{documented: true}).same(s.graphs.root, o.graphs.root)
}

// external are the names of the types at the top of the references, which the stored text leaves to them.
func (g graphs) external() map[string]bool {
	known := make(map[string]bool, len(g.refs))
	for _, r := range g.refs {
		known[r.fullName()] = true
	}
	return known
}
