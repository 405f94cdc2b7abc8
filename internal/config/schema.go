package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Key describes a setting that no struct field receives.
type Key struct {
	Name    string
	Default string
	Doc     string
	// Check answers an error for a text that is not a value of this key. A
	// nil Check takes every text.
	Check func(string) error
}

// Schema is the set of keys a server knows. The zero value is not ready; use
// NewSchema. It is not safe for concurrent use.
type Schema struct {
	keys     map[string]*entry
	prefixes []ignored
	aliases  map[string]string
}

// entry is a key of the schema and what Load found for it.
type entry struct {
	Key
	field   reflect.Value // invalid for a declared key
	refuse  func(string) string
	ignored string // the reason, for an ignored key
}

type ignored struct{ prefix, why string }

// NewSchema returns a schema without keys.
func NewSchema() *Schema {
	return &Schema{keys: map[string]*entry{}, aliases: map[string]string{}}
}

// Bind adds every field of the struct that ptr points to and that carries a
// `kafka` tag other than "-", those of nested structs included. The value a field has now is
// its default, its `doc` tag the documentation; Load writes the merged values
// into the fields. Bind panics when two fields claim one key or a field has a
// type that no text can be turned into: both are mistakes in the program.
func (s *Schema) Bind(ptr any) {
	s.bind(reflect.ValueOf(ptr).Elem())
}

func (s *Schema) bind(v reflect.Value) {
	for i, t := 0, v.Type(); i < t.NumField(); i++ {
		f := t.Field(i)
		name := f.Tag.Get("kafka")
		switch {
		case name == "-":
		case name != "" && f.IsExported():
			s.add(&entry{Key: Key{Name: name, Default: format(name, v.Field(i)), Doc: f.Tag.Get("doc")}, field: v.Field(i)})
		case f.IsExported() && f.Type.Kind() == reflect.Struct:
			s.bind(v.Field(i))
		}
	}
}

// Keys returns the keys of the fields of the struct that ptr points to, as Bind
// would add them.
func Keys(ptr any) []string {
	s := NewSchema()
	s.Bind(ptr)
	return sortedKeys(s.keys)
}

// Declare adds a key that is kept as text: Settings.Text returns it.
func (s *Schema) Declare(k Key) {
	s.add(&entry{Key: k})
}

// Alias makes an older name of a key stand for it. Where both are written in
// one place the newer name wins.
func (s *Schema) Alias(old, name string) {
	s.aliases[old] = name
}

// Known reports whether a field, a declaration or an alias already claims the
// key.
func (s *Schema) Known(name string) bool {
	_, old := s.aliases[name]
	return old || s.keys[name] != nil
}

// Ignore adds a key of Kafka that has no meaning here: it is taken, warned of
// once, and has no effect. A name that ends in "*" stands for all keys that
// begin so. A key that is already known stays as it is.
func (s *Schema) Ignore(name, why string) {
	if prefix, ok := strings.CutSuffix(name, "*"); ok {
		s.prefixes = append(s.prefixes, ignored{prefix, why})
		return
	}
	if !s.Known(name) {
		s.add(&entry{Key: Key{Name: name}, ignored: why})
	}
}

// Refuse adds a key of Kafka whose effect somebody may rely on and which
// cannot be given. reason answers why a value cannot be honoured, or "" for a
// value that asks for nothing special. A key that is already known stays as
// it is.
func (s *Schema) Refuse(name string, reason func(value string) string) {
	if !s.Known(name) {
		s.add(&entry{Key: Key{Name: name}, refuse: reason})
	}
}

func (s *Schema) add(e *entry) {
	if s.keys[e.Name] != nil {
		panic(fmt.Sprintf("config: the key %s is claimed twice", e.Name))
	}
	s.keys[e.Name] = e
}

// ignoredPrefix answers why a key is ignored by its first letters, or "".
func (s *Schema) ignoredPrefix(name string) string {
	for _, p := range s.prefixes {
		if strings.HasPrefix(name, p.prefix) {
			return p.why
		}
	}
	return ""
}

// names returns the keys that have an effect, sorted.
func (s *Schema) names() []string {
	out := make([]string, 0, len(s.keys))
	for old := range s.aliases {
		out = append(out, old)
	}
	for n, e := range s.keys {
		if e.ignored == "" && e.refuse == nil {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
