package conform

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"moldau/registry/catalog"
	"moldau/registry/format"
	"moldau/registry/format/avro"
)

// avroOp is how the bytes of a type are read.
type avroOp uint8

const (
	avroNull avroOp = iota
	avroBoolean
	avroInt
	avroLong
	avroFixed
	avroFloat
	avroDouble
	avroBytes
	avroString
	avroEnum
	avroUnion
	avroArray
	avroMap
	avroRecord
)

var avroPrimitives = map[string]avroOp{
	"null": avroNull, "boolean": avroBoolean, "int": avroInt, "long": avroLong, "float": avroFloat, "double": avroDouble,
	"bytes": avroBytes, "string": avroString,
}

// avroNode is one type of a schema, as the walk needs it.
type avroNode struct {
	op avroOp
	// size is the bytes of a fixed, the number of an enum's symbols.
	size int
	// least is how many bytes a value takes at least.
	least int64
	// items is what an array or a map holds.
	items *avroNode
	// parts are the fields of a record, the branches of a union; names the names of the fields, symbols or branches.
	parts []*avroNode
	names []string
	// solid are the places of a record's fields that take bytes.
	solid []int
	// empty says that every value takes no byte at all.
	empty bool
	// logical is the logical type to check, none below Full.
	logical *avroLogical
}

// avroChecker checks payloads of one Avro schema.
type avroChecker struct {
	root       *avroNode
	limits     Limits
	conditions *conditions
}

func compileAvro(ctx context.Context, s *avro.Schema, rules *catalog.RuleSet, level Level, l Limits) (Checker, error) {
	text, err := s.Formatted(format.FormResolved)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUncheckable, err)
	}
	root, err := readAvro(text, level >= Full)
	if err != nil {
		return nil, err
	}
	c := &avroChecker{root: root, limits: l}
	if level < Rules {
		return c, ctx.Err()
	}
	c.conditions, err = compileConditions(ctx, rules, nil, l)
	return c, err
}

// readAvro makes the nodes of a schema text that defines every type at its first use, as the registry's resolved form does.
func readAvro(text string, logical bool) (*avroNode, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUncheckable, err)
	}
	r := avroReader{named: map[string]*avroNode{}, logical: logical}
	root, err := r.node(v, "")
	if err != nil {
		return nil, err
	}
	measure(root)
	return root, nil
}

type avroReader struct {
	named   map[string]*avroNode
	logical bool
}

func (r *avroReader) node(v any, space string) (*avroNode, error) {
	switch v := v.(type) {
	case string:
		return r.find(v, space)
	case []any:
		return r.union(v, space)
	case map[string]any:
		return r.object(v, space)
	}
	return nil, fmt.Errorf("%w: %v is no Avro type", ErrUncheckable, v)
}

func (r *avroReader) find(word, space string) (*avroNode, error) {
	if op, ok := avroPrimitives[word]; ok {
		return &avroNode{op: op}, nil
	}
	for _, name := range []string{fullName(word, space), word} {
		if n := r.named[name]; n != nil {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%w: type %q is not defined", ErrUncheckable, word)
}

func fullName(name, space string) string {
	if space == "" || strings.Contains(name, ".") {
		return name
	}
	return space + "." + name
}

func (r *avroReader) union(branches []any, space string) (*avroNode, error) {
	n := &avroNode{op: avroUnion}
	for _, b := range branches {
		part, err := r.node(b, space)
		if err != nil {
			return nil, err
		}
		n.parts = append(n.parts, part)
	}
	return n, nil
}

func (r *avroReader) object(o map[string]any, space string) (n *avroNode, err error) {
	word, ok := o["type"].(string)
	if !ok {
		return r.node(o["type"], space)
	}
	switch word {
	case "record", "error":
		return r.record(o, space)
	case "enum":
		n = r.define(&avroNode{op: avroEnum}, o, &space)
		for _, s := range list(o["symbols"]) {
			name, _ := s.(string)
			n.names = append(n.names, name)
		}
		n.size = len(n.names)
		return n, nil
	case "fixed":
		size, ok := whole(o["size"])
		if !ok || size > math.MaxInt32 {
			return nil, fmt.Errorf("%w: a fixed without a size", ErrUncheckable)
		}
		n = r.define(&avroNode{op: avroFixed, size: int(size)}, o, &space)
	case "array":
		n = &avroNode{op: avroArray}
		n.items, err = r.node(o["items"], space)
	case "map":
		n = &avroNode{op: avroMap}
		n.items, err = r.node(o["values"], space)
	default:
		n, err = r.find(word, space)
	}
	if err == nil && r.logical && n.op <= avroString {
		n.logical = readLogical(n, o)
	}
	return n, err
}

func (r *avroReader) record(o map[string]any, space string) (*avroNode, error) {
	n := r.define(&avroNode{op: avroRecord}, o, &space)
	for _, f := range list(o["fields"]) {
		field, _ := f.(map[string]any)
		part, err := r.node(field["type"], space)
		if err != nil {
			return nil, err
		}
		name, _ := field["name"].(string)
		n.parts = append(n.parts, part)
		n.names = append(n.names, name)
	}
	return n, nil
}

// define makes a named type known, and its namespace that of the types inside.
func (r *avroReader) define(n *avroNode, o map[string]any, space *string) *avroNode {
	name, _ := o["name"].(string)
	if own, ok := o["namespace"].(string); ok {
		*space = own
	}
	full := fullName(name, *space)
	if i := strings.LastIndexByte(full, '.'); i >= 0 {
		*space = full[:i]
	}
	r.named[full] = n
	return n
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// whole reads a number of a schema that is not negative.
func whole(v any) (int64, bool) {
	number, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	n, err := number.Int64()
	return n, err == nil && n >= 0
}

// measure works out how many bytes a value of each type takes at least. A type that is inside itself counts nothing there,
// so the number never is too large.
func measure(root *avroNode) {
	least := map[*avroNode]int64{}
	open := map[*avroNode]bool{}
	var visit func(n *avroNode) int64
	visit = func(n *avroNode) int64 {
		if known, ok := least[n]; ok {
			return known
		}
		if open[n] {
			return 0
		}
		open[n] = true
		bytes := leastOf(n, visit)
		delete(open, n)
		least[n] = bytes
		return bytes
	}
	visit(root)
	for n, bytes := range least {
		n.least = bytes
	}
	nothing := map[*avroNode]bool{}
	for n := range least {
		n.empty = n.least == 0 && takesNothing(n, nothing)
	}
	for n := range least {
		for i, p := range n.parts {
			if n.op == avroRecord && !p.empty {
				n.solid = append(n.solid, i)
			}
		}
	}
}

func leastOf(n *avroNode, of func(*avroNode) int64) int64 {
	switch n.op {
	case avroNull:
		return 0
	case avroFixed:
		return int64(n.size)
	case avroFloat:
		return 4
	case avroDouble:
		return 8
	case avroRecord:
		sum := int64(0)
		for _, p := range n.parts {
			sum = min(sum+of(p), math.MaxInt32)
		}
		return sum
	case avroUnion:
		least := int64(math.MaxInt32)
		for _, p := range n.parts {
			least = min(least, of(p))
		}
		return 1 + least
	case avroArray, avroMap:
		of(n.items)
		return 1
	default:
		return 1
	}
}

// takesNothing says whether every value of a type takes no byte. A record inside itself has no value that does.
func takesNothing(n *avroNode, known map[*avroNode]bool) bool {
	switch n.op {
	case avroNull:
		return true
	case avroFixed:
		return n.size == 0
	case avroRecord:
		if answer, ok := known[n]; ok {
			return answer
		}
		known[n] = false
		for _, p := range n.parts {
			if !takesNothing(p, known) {
				return false
			}
		}
		known[n] = true
		return true
	default:
		return false
	}
}

// Check implements Checker.
func (c *avroChecker) Check(payload []byte, _ []int32) error {
	w := avroWalk{buf: payload, depth: c.limits.Depth, empties: c.limits.EmptyItems}
	if !w.value(c.root) {
		return w.violation()
	}
	if w.at < len(payload) {
		return &Violation{Trailing, fmt.Sprintf("the value ends at byte %d, the payload has %d", w.at, len(payload))}
	}
	if c.conditions.none() {
		return nil
	}
	return c.conditions.hold(decodeAvro(payload, c.root))
}
