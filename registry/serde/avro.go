package serde

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	lib "github.com/twmb/avro"

	"moldau/registry/format"
	"moldau/registry/format/avro"
)

// avroNode is one type of an Avro schema, ready for reading and writing. Names lead straight to their types, so that the
// graph of a recursive schema has cycles.
type avroNode struct {
	kind avroKind
	// name is what a union calls the type: the full name of a named one, else its kind.
	name     string
	fields   []avroField
	byField  map[string]int
	symbols  []string
	bySymbol map[string]int
	size     int
	items    *avroNode
	branches []*avroNode
	byBranch map[string]int
}

type avroField struct {
	name string
	typ  *avroNode
	// fallback is the encoded default; hasDefault tells an empty one from none.
	fallback   []byte
	hasDefault bool
	// settle encodes the default; it is nil from when that is done.
	settle func() error
}

// settled encodes the default if that is still to do: those of other fields may need it before its turn comes.
func (f *avroField) settled() error {
	if f.settle == nil {
		return nil
	}
	settle := f.settle
	f.settle = func() error { return fmt.Errorf("the default of %s leads back to itself", f.name) }
	if err := settle(); err != nil {
		return err
	}
	f.settle = nil
	return nil
}

type avroKind string

const (
	avroNull    avroKind = "null"
	avroBoolean avroKind = "boolean"
	avroInt     avroKind = "int"
	avroLong    avroKind = "long"
	avroFloat   avroKind = "float"
	avroDouble  avroKind = "double"
	avroBytes   avroKind = "bytes"
	avroString  avroKind = "string"
	avroRecord  avroKind = "record"
	avroEnum    avroKind = "enum"
	avroFixed   avroKind = "fixed"
	avroArray   avroKind = "array"
	avroMap     avroKind = "map"
	avroUnion   avroKind = "union"
)

// maxAvroDepth bounds how deeply values nest.
const maxAvroDepth = 500

// avroCodec reads and writes values of a schema. Logical types are what they are made of, as in Avro's own JSON.
type avroCodec struct{ root *avroNode }

func newAvro(s *avro.Schema) (codec, error) {
	parsed, err := s.Codec()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	b := avroBuilder{named: map[string]*avroNode{}}
	node, err := b.node(parsed.Root(), "")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	for _, set := range b.defaults { // when every name leads somewhere
		if err := set(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSchema, err)
		}
	}
	return whole{avroCodec{node}}, nil
}

// avroBuilder makes nodes of a parsed schema.
type avroBuilder struct {
	named    map[string]*avroNode
	defaults []func() error
}

// node makes the node of a type that stands in a namespace.
func (b *avroBuilder) node(from *lib.SchemaNode, namespace string) (*avroNode, error) {
	n := &avroNode{kind: avroKind(from.Type), name: from.Type}
	switch n.kind {
	case avroNull, avroBoolean, avroInt, avroLong, avroFloat, avroDouble, avroBytes, avroString:
		return n, nil
	case avroArray, avroMap:
		items := from.Items
		if n.kind == avroMap {
			items = from.Values
		}
		var err error
		n.items, err = b.node(items, namespace)
		return n, err
	case avroUnion:
		return n, b.union(n, from, namespace)
	case avroEnum:
		n.symbols, n.bySymbol = from.Symbols, make(map[string]int, len(from.Symbols))
		for i, s := range from.Symbols {
			n.bySymbol[s] = i
		}
		b.define(n, from)
		return n, nil
	case avroFixed:
		n.size = from.Size
		b.define(n, from)
		return n, nil
	case avroRecord, "error":
		n.kind = avroRecord
		b.define(n, from)
		return n, b.record(n, from)
	}
	if known, ok := b.named[fullName(from.Type, namespace)]; ok {
		return known, nil
	}
	if known, ok := b.named[from.Type]; ok {
		return known, nil
	}
	return nil, fmt.Errorf("no type has the name %s", from.Type)
}

// define remembers a type by its full name.
func (b *avroBuilder) define(n *avroNode, from *lib.SchemaNode) {
	n.name = fullName(from.Name, from.Namespace)
	b.named[n.name] = n
}

func fullName(name, namespace string) string {
	if namespace == "" || strings.Contains(name, ".") {
		return name
	}
	return namespace + "." + name
}

func (b *avroBuilder) union(n *avroNode, from *lib.SchemaNode, namespace string) error {
	n.byBranch = make(map[string]int, len(from.Branches))
	for i := range from.Branches {
		branch, err := b.node(&from.Branches[i], namespace)
		if err != nil {
			return err
		}
		n.branches = append(n.branches, branch)
		n.byBranch[branch.name] = i
	}
	return nil
}

func (b *avroBuilder) record(n *avroNode, from *lib.SchemaNode) error {
	n.fields, n.byField = make([]avroField, len(from.Fields)), make(map[string]int, len(from.Fields))
	for i := range from.Fields {
		f := &from.Fields[i]
		typ, err := b.node(&f.Type, from.Namespace)
		if err != nil {
			return err
		}
		n.fields[i] = avroField{name: f.Name, typ: typ, hasDefault: f.HasDefault}
		n.byField[f.Name] = i
		if !f.HasDefault {
			continue
		}
		n.fields[i].settle = func() error {
			e := avroEncoder{steps: format.DefaultLimits().TextBytes, limit: format.DefaultLimits().TextBytes, isDefault: true}
			raw, err := e.value(nil, typ, plainDefault(f.Default))
			if err != nil {
				return fmt.Errorf("the default of %s.%s: %w", n.name, f.Name, err)
			}
			n.fields[i].fallback = raw
			return nil
		}
		b.defaults = append(b.defaults, n.fields[i].settled)
	}
	return nil
}

// plainDefault turns a default into what reading JSON would have made of it.
func plainDefault(v any) any {
	switch v := v.(type) {
	case int32:
		return json.Number(strconv.FormatInt(int64(v), 10))
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	case float32:
		return plainFloat(float64(v), 32)
	case float64:
		return plainFloat(v, 64)
	case []byte:
		return latin1(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plainDefault(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name := range v {
			out[name] = plainDefault(v[name])
		}
		return out
	}
	return v
}

func plainFloat(f float64, bits int) any {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, bits))
}

// latin1 is the text in which Avro's JSON holds bytes: each of them one character.
func latin1(b []byte) string {
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes)
}
