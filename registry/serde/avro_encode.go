package serde

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxAvroSteps bounds the work for one value, beside stepsPerByte: the branches of unions are tried one after the other, also
// within one another.
const (
	maxAvroSteps = 64 << 10
	stepsPerByte = 16
)

// maxAvroPayload bounds what one value becomes.
const maxAvroPayload = 64 << 20

func (c avroCodec) encode(dst, value []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return dst, fmt.Errorf("%w: not JSON: %w", ErrValue, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return dst, fmt.Errorf("%w: there is something behind the value", ErrValue)
	}
	e := avroEncoder{steps: maxAvroSteps + stepsPerByte*len(value), limit: len(dst) + maxAvroPayload}
	if c.root.kind == avroBytes { // at the top they have no length in front
		raw, err := e.bytes(v)
		if err != nil {
			return dst, fmt.Errorf("%w: %w", ErrValue, err)
		}
		return append(dst, raw...), nil
	}
	out, err := e.value(dst, c.root, v)
	if err != nil {
		return dst, fmt.Errorf("%w: %w", ErrValue, err)
	}
	return out, nil
}

// avroEncoder writes one value.
type avroEncoder struct {
	path      []string // where in the value it is
	steps     int      // that are left
	limit     int      // of what is written; only defaults can make much of little
	isDefault bool     // unions take their first fitting branch and no tags
}

var errAvroSteps = errors.New("too much work: there are too many ways to read the unions in it; name their branches")

// at says what is wrong and where.
func (e *avroEncoder) at(text string, args ...any) error {
	where := "the value"
	if len(e.path) > 0 {
		where = "/" + strings.Join(e.path, "/")
	}
	return fmt.Errorf("%s: "+text, append([]any{where}, args...)...)
}

func (e *avroEncoder) within(name string, do func() error) error {
	e.path = append(e.path, name)
	err := do()
	e.path = e.path[:len(e.path)-1]
	return err
}

// value appends v as a value of n.
func (e *avroEncoder) value(dst []byte, n *avroNode, v any) ([]byte, error) {
	if e.steps--; e.steps < 0 {
		return dst, errAvroSteps
	}
	if len(e.path) > maxAvroDepth {
		return dst, e.at("nested too deeply")
	}
	switch n.kind {
	case avroUnion:
		return e.union(dst, n, v)
	case avroRecord:
		return e.record(dst, n, v)
	case avroArray:
		return e.array(dst, n, v)
	case avroMap:
		return e.dict(dst, n, v)
	default:
		return e.scalar(dst, n, v)
	}
}

func (e *avroEncoder) scalar(dst []byte, n *avroNode, v any) ([]byte, error) {
	switch n.kind {
	case avroNull:
		if v != nil {
			return dst, e.wants(n, v)
		}
		return dst, nil
	case avroBoolean:
		b, ok := v.(bool)
		switch {
		case !ok:
			return dst, e.wants(n, v)
		case b:
			return append(dst, 1), nil
		}
		return append(dst, 0), nil
	case avroInt, avroLong:
		return e.integer(dst, n, v)
	case avroFloat, avroDouble:
		return e.float(dst, n, v)
	case avroString:
		s, ok := v.(string)
		if !ok {
			return dst, e.wants(n, v)
		}
		return append(binary.AppendVarint(dst, int64(len(s))), s...), nil
	case avroEnum:
		s, ok := v.(string)
		if !ok {
			return dst, e.wants(n, v)
		}
		i, ok := n.bySymbol[s]
		if !ok {
			return dst, e.at("%s has no symbol %q; it has %s", n.name, s, some(n.symbols))
		}
		return binary.AppendVarint(dst, int64(i)), nil
	default:
		return e.binary(dst, n, v)
	}
}

// binary appends bytes or a fixed.
func (e *avroEncoder) binary(dst []byte, n *avroNode, v any) ([]byte, error) {
	raw, err := e.bytes(v)
	switch {
	case err != nil:
		return dst, err
	case n.kind == avroBytes:
		return append(binary.AppendVarint(dst, int64(len(raw))), raw...), nil
	case len(raw) != n.size:
		return dst, e.at("%s has %d bytes, not %d", n.name, n.size, len(raw))
	}
	return append(dst, raw...), nil
}

// some lists at most a handful of names.
func some(names []string) string {
	const enough = 5
	if len(names) > enough {
		return strings.Join(names[:enough], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

// wants says that v is of another kind than n.
func (e *avroEncoder) wants(n *avroNode, v any) error {
	what := n.name
	if n.kind == avroRecord || n.kind == avroEnum || n.kind == avroFixed {
		what = string(n.kind) + " " + n.name
	}
	return e.at("want %s, not %s", what, describe(v))
}

// describe names a JSON value in a few words.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return "the number " + v.String()
	case string:
		return "a string"
	case []any:
		return "an array"
	}
	return "an object"
}

func (e *avroEncoder) integer(dst []byte, n *avroNode, v any) ([]byte, error) {
	number, ok := v.(json.Number)
	if !ok {
		return dst, e.wants(n, v)
	}
	bits := 64
	if n.kind == avroInt {
		bits = 32
	}
	i, err := strconv.ParseInt(string(number), 10, bits)
	if errors.Is(err, strconv.ErrRange) {
		return dst, e.at("%s is beyond what %s holds", number, n.name)
	}
	if err != nil {
		return dst, e.at("want %s, not the number %s, which is not written as a whole one", n.name, number)
	}
	return binary.AppendVarint(dst, i), nil
}

func (e *avroEncoder) float(dst []byte, n *avroNode, v any) ([]byte, error) {
	bits := 64
	if n.kind == avroFloat {
		bits = 32
	}
	var f float64
	switch v := v.(type) {
	case json.Number:
		var err error
		if f, err = strconv.ParseFloat(string(v), bits); err != nil {
			return dst, e.at("%s is beyond what %s holds", v, n.name)
		}
	case string:
		switch v {
		case "NaN":
			f = math.NaN()
		case "Infinity":
			f = math.Inf(1)
		case "-Infinity":
			f = math.Inf(-1)
		default:
			return dst, e.wants(n, v)
		}
	default:
		return dst, e.wants(n, v)
	}
	if bits == 32 {
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(f))), nil
	}
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(f)), nil
}

// bytes reads the text in which JSON holds bytes.
func (e *avroEncoder) bytes(v any) ([]byte, error) {
	s, ok := v.(string)
	if !ok {
		return nil, e.at("want bytes in a string, not %s", describe(v))
	}
	raw := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xff {
			return nil, e.at("bytes are written as characters from U+0000 to U+00FF, and there is %q", r)
		}
		raw = append(raw, byte(r))
	}
	return raw, nil
}

func (e *avroEncoder) record(dst []byte, n *avroNode, v any) ([]byte, error) {
	object, ok := v.(map[string]any)
	if !ok {
		return dst, e.wants(n, v)
	}
	used := 0
	for i := range n.fields {
		f := &n.fields[i]
		member, ok := object[f.name]
		switch {
		case ok:
			used++
			err := e.within(f.name, func() (err error) { dst, err = e.value(dst, f.typ, member); return err })
			if err != nil {
				return dst, err
			}
		case f.hasDefault:
			if err := f.settled(); err != nil {
				return dst, err
			}
			if len(f.fallback) > e.limit-len(dst) {
				return dst, e.at("with the defaults of the fields that are left out it would be larger than is permitted")
			}
			dst = append(dst, f.fallback...)
		default:
			return dst, e.at("record %s needs the field %s", n.name, f.name)
		}
	}
	if used < len(object) {
		return dst, e.at("record %s has no field %s", n.name, strings.Join(strangers(object, n.byField), ", "))
	}
	return dst, nil
}

// strangers are the members of an object that a record does not have.
func strangers(object map[string]any, fields map[string]int) []string {
	var out []string
	for name := range object {
		if _, ok := fields[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func (e *avroEncoder) array(dst []byte, n *avroNode, v any) ([]byte, error) {
	list, ok := v.([]any)
	if !ok {
		return dst, e.wants(n, v)
	}
	if len(list) > 0 {
		dst = binary.AppendVarint(dst, int64(len(list)))
		for i, item := range list {
			err := e.within(strconv.Itoa(i), func() (err error) { dst, err = e.value(dst, n.items, item); return err })
			if err != nil {
				return dst, err
			}
		}
	}
	return append(dst, 0), nil
}

func (e *avroEncoder) dict(dst []byte, n *avroNode, v any) ([]byte, error) {
	object, ok := v.(map[string]any)
	if !ok {
		return dst, e.wants(n, v)
	}
	if len(object) > 0 {
		dst = binary.AppendVarint(dst, int64(len(object)))
		names := make([]string, 0, len(object))
		for name := range object {
			names = append(names, name)
		}
		slices.Sort(names) // the same value always has the same bytes
		for _, name := range names {
			dst = append(binary.AppendVarint(dst, int64(len(name))), name...)
			err := e.within(name, func() (err error) { dst, err = e.value(dst, n.items, object[name]); return err })
			if err != nil {
				return dst, err
			}
		}
	}
	return append(dst, 0), nil
}
