package avro

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"moldau/registry/format"
)

type jsonKind int

const (
	jsonNull jsonKind = iota
	jsonBool
	jsonInteger
	jsonDouble
	jsonString
	jsonArray
	jsonObject
)

// maxNumber bounds the characters of a number.
const maxNumber = 1000

// value is a JSON value that keeps the order of its members.
type value struct {
	kind jsonKind
	// text is a string's characters, an integer's digits, true or false.
	text    string
	double  float64
	items   []*value
	members []member
}

type member struct {
	name  string
	value *value
}

// get answers a member of an object, nil where there is none or the value is no object.
func (v *value) get(name string) *value {
	for i := range v.members {
		if v.members[i].name == name {
			return v.members[i].value
		}
	}
	return nil
}

// set puts a member in place of the one of that name, else at the end.
func (v *value) set(name string, to *value) {
	for i := range v.members {
		if v.members[i].name == name {
			v.members[i].value = to
			return
		}
	}
	v.members = append(v.members, member{name, to})
}

// index answers the members by name, for objects that are asked for many.
func (v *value) index() map[string]*value {
	byName := make(map[string]*value, len(v.members))
	for _, m := range v.members {
		byName[m.name] = m.value
	}
	return byName
}

// str answers the characters of a string; ok is false for anything else, nothing included.
func (v *value) str() (s string, ok bool) {
	if v == nil || v.kind != jsonString {
		return "", false
	}
	return v.text, true
}

// integer answers an integer that fits the number of bits.
func (v *value) integer(bits int) (n int64, ok bool) {
	if v.kind != jsonInteger {
		return 0, false
	}
	n, err := strconv.ParseInt(v.text, 10, bits)
	return n, err == nil
}

func (v *value) equal(w *value) bool {
	if v == nil || w == nil {
		return v == w
	}
	if v.kind != w.kind || v.text != w.text || len(v.items) != len(w.items) || len(v.members) != len(w.members) {
		return false
	}
	if v.kind == jsonDouble && v.double != w.double && (v.double == v.double || w.double == w.double) {
		return false
	}
	for i := range v.items {
		if !v.items[i].equal(w.items[i]) {
			return false
		}
	}
	if len(v.members) > 0 {
		byName := w.index()
		for _, m := range v.members {
			if !m.value.equal(byName[m.name]) {
				return false
			}
		}
	}
	return true
}

// readJSON reads one value and nothing after it. Comments are allowed as in Java and C before and within the value.
func readJSON(text string, maxDepth int) (*value, error) {
	b, err := blankComments([]byte(text))
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	r := reader{d: d, text: b, depth: maxDepth}
	v, err := r.value()
	if err != nil {
		return nil, r.explain(err)
	}
	if rest := strings.TrimSpace(text[d.InputOffset():]); rest != "" {
		return nil, format.Invalid("%s: there is more after the end of the schema", position(b, d.InputOffset()))
	}
	return v, nil
}

type reader struct {
	d     *json.Decoder
	text  []byte
	depth int
}

func (r *reader) explain(err error) error {
	if errors.Is(err, format.ErrInvalid) || errors.Is(err, format.ErrTooLarge) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return format.Invalid("the text ends before the schema does")
	}
	at := r.d.InputOffset()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = syntax.Offset
	}
	return format.Invalid("%s: no JSON: %w", position(r.text, at), err)
}

func (r *reader) value() (*value, error) {
	t, err := r.d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case nil:
		return &value{kind: jsonNull}, nil
	case bool:
		return &value{kind: jsonBool, text: strconv.FormatBool(t)}, nil
	case string:
		return &value{kind: jsonString, text: t}, nil
	case json.Number:
		return r.number(string(t))
	}
	if r.depth--; r.depth < 0 {
		return nil, format.Invalid("%s: nested too deeply", position(r.text, r.d.InputOffset()))
	}
	defer func() { r.depth++ }()
	if t == json.Delim('{') {
		return r.object()
	}
	return r.array()
}

func (r *reader) array() (*value, error) {
	v := &value{kind: jsonArray}
	for r.d.More() {
		item, err := r.value()
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, item)
	}
	_, err := r.d.Token()
	return v, err
}

// object reads members. Of those that have the same name the last one counts, in the place of the first.
func (r *reader) object() (*value, error) {
	v := &value{kind: jsonObject}
	var seen map[string]int
	for r.d.More() {
		t, err := r.d.Token()
		if err != nil {
			return nil, err
		}
		name, ok := t.(string)
		if !ok {
			return nil, format.Invalid("%s: a member needs a name", position(r.text, r.d.InputOffset()))
		}
		item, err := r.value()
		if err != nil {
			return nil, err
		}
		if seen == nil {
			seen = map[string]int{}
		}
		if i, again := seen[name]; again {
			v.members[i].value = item
			continue
		}
		seen[name] = len(v.members)
		v.members = append(v.members, member{name, item})
	}
	_, err := r.d.Token()
	return v, err
}

func (r *reader) number(text string) (*value, error) {
	if len(text) > maxNumber {
		return nil, format.Invalid("%s: a number of %d characters", position(r.text, r.d.InputOffset()), len(text))
	}
	if !strings.ContainsAny(text, ".eE") {
		if text == "-0" {
			text = "0"
		}
		return &value{kind: jsonInteger, text: text}, nil
	}
	d, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(d, 0) {
		return nil, err
	}
	return &value{kind: jsonDouble, double: d}, nil
}

// blankComments puts spaces in the place of comments, so that positions stay true.
func blankComments(b []byte) ([]byte, error) {
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case b[i] == '/' && i+1 < len(b) && b[i+1] == '/':
			for ; i < len(b) && b[i] != '\n' && b[i] != '\r'; i++ {
				b[i] = ' '
			}
		case b[i] == '/' && i+1 < len(b) && b[i+1] == '*':
			end := bytes.Index(b[i+2:], []byte("*/"))
			if end < 0 {
				return nil, format.Invalid("%s: a comment without end", position(b, int64(i)))
			}
			for end += i + 4; i < end; i++ {
				if b[i] != '\n' {
					b[i] = ' '
				}
			}
			i--
		}
	}
	return b, nil
}

// position says where in a text an offset is.
func position(text []byte, offset int64) string {
	before := text[:min(int(offset), len(text))]
	line := 1 + bytes.Count(before, []byte{'\n'})
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return "line " + strconv.Itoa(line) + ", column " + strconv.Itoa(column)
}
