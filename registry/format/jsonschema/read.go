package jsonschema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"moldau/registry/format"
)

const (
	// maxNumber bounds the characters of a number, maxExponent its exponent: exact arithmetic writes numbers out.
	maxNumber   = 1000
	maxExponent = 5000
	// indexFrom is the number of members from which on an object is read with an index of its names.
	indexFrom = 16
)

// readJSON reads one value and nothing after it. Of members with the same name the last one's value holds, in the place
// of the first.
func readJSON(text string, maxDepth int) (*value, error) {
	r := reader{text: text, maxDepth: maxDepth}
	r.space()
	if r.at == len(text) {
		return nil, format.Invalid("the text is empty")
	}
	v, err := r.value(1)
	if err != nil {
		return nil, err
	}
	r.space()
	if r.at < len(text) {
		return nil, r.invalid("there is more after the end of the value")
	}
	return v, nil
}

type reader struct {
	text     string
	at       int
	maxDepth int
}

func (r *reader) invalid(reason string, args ...any) error {
	return format.Invalid("%s: %s", r.position(), fmt.Sprintf(reason, args...))
}

func (r *reader) position() string {
	before := r.text[:min(r.at, len(r.text))]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}

func (r *reader) space() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

// next answers the next byte without taking it, 0 at the end.
func (r *reader) next() byte {
	if r.at >= len(r.text) {
		return 0
	}
	return r.text[r.at]
}

func (r *reader) unexpected() error {
	if r.at >= len(r.text) {
		return r.invalid("the text ends before the value does")
	}
	c, _ := utf8.DecodeRuneInString(r.text[r.at:])
	return r.invalid("%q is not expected here", c)
}

func (r *reader) value(depth int) (*value, error) {
	if depth > r.maxDepth {
		return nil, fmt.Errorf("%w: %s: values nest deeper than %d levels", format.ErrTooLarge, r.position(), r.maxDepth)
	}
	switch c := r.next(); {
	case c == '{':
		return r.object(depth)
	case c == '[':
		return r.array(depth)
	case c == '"':
		text, err := r.string()
		return &value{kind: str, text: text}, err
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	case r.literal("true"), r.literal("false"):
		return &value{kind: boolean, text: map[byte]string{'t': "true", 'f': "false"}[c]}, nil
	case r.literal("null"):
		return &value{kind: null}, nil
	default:
		return nil, r.unexpected()
	}
}

func (r *reader) literal(word string) bool {
	if !strings.HasPrefix(r.text[r.at:], word) {
		return false
	}
	r.at += len(word)
	return true
}

func (r *reader) array(depth int) (*value, error) {
	v := &value{kind: array}
	r.at++
	r.space()
	if r.next() == ']' {
		r.at++
		return v, nil
	}
	for {
		r.space()
		item, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, item)
		if done, err := r.separator(']'); done || err != nil {
			return v, err
		}
	}
}

// separator takes what follows an item or a member and says whether it was the end.
func (r *reader) separator(end byte) (bool, error) {
	r.space()
	switch r.next() {
	case ',':
		r.at++
		return false, nil
	case end:
		r.at++
		return true, nil
	default:
		return false, r.unexpected()
	}
}

func (r *reader) object(depth int) (*value, error) {
	v := &value{kind: object}
	r.at++
	r.space()
	if r.next() == '}' {
		r.at++
		return v, nil
	}
	var index map[string]int
	for {
		r.space()
		m, err := r.member(depth)
		if err != nil {
			return nil, err
		}
		index = v.put(m, index)
		if done, err := r.separator('}'); done || err != nil {
			return v, err
		}
	}
}

func (r *reader) member(depth int) (member, error) {
	if r.next() != '"' {
		return member{}, r.unexpected()
	}
	name, err := r.string()
	if err != nil {
		return member{}, err
	}
	r.space()
	if r.next() != ':' {
		return member{}, r.unexpected()
	}
	r.at++
	r.space()
	v, err := r.value(depth + 1)
	return member{name, v}, err
}

// put is set with an index of the names, which it makes when the object becomes large.
func (v *value) put(m member, index map[string]int) map[string]int {
	if index == nil && len(v.members) < indexFrom {
		v.set(m.name, m.value)
		return nil
	}
	if index == nil {
		index = make(map[string]int, 2*len(v.members))
		for i := range v.members {
			index[v.members[i].name] = i
		}
	}
	if i, ok := index[m.name]; ok {
		v.members[i].value = m.value
		return index
	}
	index[m.name] = len(v.members)
	v.members = append(v.members, m)
	return index
}

func (r *reader) number() (*value, error) {
	from := r.at
	if r.next() == '-' {
		r.at++
	}
	whole := r.digits()
	if whole == 0 || whole > 1 && r.text[r.at-whole] == '0' {
		return nil, r.invalid("no number begins so")
	}
	if r.next() == '.' {
		r.at++
		if r.digits() == 0 {
			return nil, r.unexpected()
		}
	}
	if c := r.next(); c == 'e' || c == 'E' {
		r.at++
		if err := r.exponent(); err != nil {
			return nil, err
		}
	}
	if r.at-from > maxNumber {
		return nil, r.invalid("a number has more than %d characters", maxNumber)
	}
	return &value{kind: number, text: r.text[from:r.at]}, nil
}

func (r *reader) exponent() error {
	if c := r.next(); c == '+' || c == '-' {
		r.at++
	}
	from := r.at
	if r.digits() == 0 {
		return r.unexpected()
	}
	if n, err := strconv.Atoi(r.text[from:r.at]); err != nil || n > maxExponent {
		return r.invalid("a number has an exponent beyond %d", maxExponent)
	}
	return nil
}

// digits takes digits and answers how many there were.
func (r *reader) digits() int {
	from := r.at
	for r.next() >= '0' && r.next() <= '9' {
		r.at++
	}
	return r.at - from
}

func (r *reader) string() (string, error) {
	r.at++
	var b strings.Builder
	for {
		from := r.at
		for r.at < len(r.text) && r.text[r.at] >= ' ' && r.text[r.at] != '"' && r.text[r.at] != '\\' {
			r.at++
		}
		run := r.text[from:r.at]
		if !utf8.ValidString(run) {
			return "", r.invalid("a string is no valid UTF-8")
		}
		b.WriteString(run)
		switch r.next() {
		case '"':
			r.at++
			return b.String(), nil
		case '\\':
			if err := r.escape(&b); err != nil {
				return "", err
			}
		default:
			return "", r.unexpected()
		}
	}
}

func (r *reader) escape(b *strings.Builder) error {
	r.at++
	c := r.next()
	if c == 'u' {
		return r.unicodeEscape(b)
	}
	const names, bytes = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	i := strings.IndexByte(names, c)
	if c == 0 || i < 0 {
		return r.unexpected()
	}
	r.at++
	b.WriteByte(bytes[i])
	return nil
}

func (r *reader) unicodeEscape(b *strings.Builder) error {
	unit, err := r.unit()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(unit) {
		rest := r.text[r.at:]
		if unit < 0xDC00 && strings.HasPrefix(rest, `\u`) {
			back := r.at
			r.at++
			low, err := r.unit()
			if err != nil {
				return err
			}
			if pair := utf16.DecodeRune(unit, low); pair != utf8.RuneError {
				b.WriteRune(pair)
				return nil
			}
			r.at = back
		}
		b.Write([]byte{0xE0 | byte(unit>>12), 0x80 | byte(unit>>6&0x3F), 0x80 | byte(unit&0x3F)})
		return nil
	}
	b.WriteRune(unit)
	return nil
}

// unit takes u and four hexadecimal digits.
func (r *reader) unit() (rune, error) {
	r.at++
	if len(r.text)-r.at < 4 {
		r.at = len(r.text)
		return 0, r.unexpected()
	}
	n, err := strconv.ParseUint(r.text[r.at:r.at+4], 16, 16)
	if err != nil {
		return 0, r.invalid("\\u is not followed by four hexadecimal digits")
	}
	r.at += 4
	return rune(n), nil
}
