package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ParseProperties reads a file in the form of Java's Properties class, which
// is the form of server.properties: "key=value", "key: value" or "key value",
// comments after "#" or "!", lines that go on after a backslash, and the
// escapes \t \n \r \f \\ \uXXXX. A key that stands twice keeps the last value.
// Bytes that are no UTF-8 are read as ISO 8859-1, as Java does.
func ParseProperties(raw []byte) ([]Pair, error) {
	var out []Pair
	at := map[string]int{}
	for _, l := range logicalLines(text(raw)) {
		key, value, err := splitProperty(l.text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", l.number, err)
		}
		p := Pair{Key: key, Value: value, Line: l.number}
		if i, twice := at[key]; twice {
			out[i] = p
			continue
		}
		at[key] = len(out)
		out = append(out, p)
	}
	return out, nil
}

// text decodes a file's bytes.
func text(raw []byte) string {
	if utf8.Valid(raw) {
		return strings.TrimPrefix(string(raw), "\ufeff")
	}
	runes := make([]rune, len(raw))
	for i, b := range raw {
		runes[i] = rune(b)
	}
	return string(runes)
}

type line struct {
	text   string
	number int // of its first natural line, from 1
}

// logicalLines drops blank lines and comments and joins lines that end in an
// odd number of backslashes with the next one, without its leading blanks.
func logicalLines(s string) []line {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	var (
		out  []line
		cur  strings.Builder
		from int
	)
	for i, natural := range strings.Split(s, "\n") {
		trimmed := strings.TrimLeft(natural, " \t\f")
		if from == 0 {
			if trimmed == "" || trimmed[0] == '#' || trimmed[0] == '!' {
				continue
			}
			from = i + 1
		}
		if continues(trimmed) {
			cur.WriteString(trimmed[:len(trimmed)-1])
			continue
		}
		cur.WriteString(trimmed)
		out = append(out, line{cur.String(), from})
		cur.Reset()
		from = 0
	}
	if from != 0 {
		out = append(out, line{cur.String(), from})
	}
	return out
}

// continues reports whether the last backslash of a line is not itself escaped.
func continues(s string) bool {
	n := len(s) - len(strings.TrimRight(s, `\`))
	return n%2 == 1
}

// splitProperty cuts a logical line into key and value and resolves escapes.
func splitProperty(s string) (key, value string, err error) {
	end := len(s)
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			continue
		}
		if strings.IndexByte("=: \t\f", s[i]) >= 0 {
			end = i
			break
		}
	}
	rest := strings.TrimLeft(s[end:], " \t\f")
	if rest != "" && (rest[0] == '=' || rest[0] == ':') {
		rest = strings.TrimLeft(rest[1:], " \t\f")
	}
	if key, err = unescape(s[:end]); err != nil {
		return "", "", err
	}
	if value, err = unescape(rest); err != nil {
		return "", "", err
	}
	return key, value, nil
}

// unescape resolves the escapes of Java's Properties class. A backslash before
// any other character is dropped, as Java does.
func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			break
		}
		switch s[i] {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			r, n, err := unicodeEscape(s[i-1:])
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
			i += n - 2
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), nil
}

// unicodeEscape reads \uXXXX at the start of s, or two of them that make a
// surrogate pair, and returns the rune and the bytes used.
func unicodeEscape(s string) (r rune, n int, err error) {
	first, err := hexUnit(s)
	if err != nil {
		return 0, 0, err
	}
	if !utf16.IsSurrogate(first) {
		return first, 6, nil
	}
	if len(s) > 6 && strings.HasPrefix(s[6:], `\u`) {
		second, err := hexUnit(s[6:])
		if err != nil {
			return 0, 0, err
		}
		if both := utf16.DecodeRune(first, second); both != utf8.RuneError {
			return both, 12, nil
		}
	}
	return utf8.RuneError, 6, nil
}

func hexUnit(s string) (rune, error) {
	if len(s) < 6 {
		return 0, fmt.Errorf(`malformed \uXXXX escape %q`, s)
	}
	v, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return 0, fmt.Errorf(`malformed \uXXXX escape %q`, s[:6])
	}
	return rune(v), nil
}
