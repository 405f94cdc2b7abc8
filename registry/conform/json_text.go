package conform

import (
	"unicode/utf16"
	"unicode/utf8"
)

// string takes a string and answers what is between its quotes; escaped says that it has escapes in it, which are
// well-formed.
func (w *jsonWalk) string() (content []byte, escaped, ok bool) {
	if w.next() != '"' {
		return nil, false, false
	}
	w.at++
	from, ascii := w.at, true
	for w.at < len(w.buf) {
		c := w.buf[w.at]
		switch {
		case c == '"':
			content = w.buf[from:w.at]
			w.at++
			return content, escaped, ascii || utf8.Valid(content)
		case c == '\\':
			escaped = true
			if !w.escape() {
				return nil, false, false
			}
			continue
		case c < ' ':
			return nil, false, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
		w.at++
	}
	return nil, false, false
}

// escape takes an escape sequence.
func (w *jsonWalk) escape() bool {
	if w.at+1 >= len(w.buf) {
		return false
	}
	switch w.buf[w.at+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		w.at += 2
		return true
	case 'u':
		if w.at+6 > len(w.buf) {
			return false
		}
		_, ok := hexadecimal(w.buf[w.at+2 : w.at+6])
		w.at += 6
		return ok
	}
	return false
}

func hexadecimal(b []byte) (r rune, ok bool) {
	for _, c := range b {
		r <<= 4
		switch {
		case c >= '0' && c <= '9':
			r |= rune(c - '0')
		case c >= 'a' && c <= 'f':
			r |= rune(c-'a') + 10
		case c >= 'A' && c <= 'F':
			r |= rune(c-'A') + 10
		default:
			return 0, false
		}
	}
	return r, true
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape appends what a string with well-formed escapes stands for. It does not know what half of a surrogate pair stands
// for.
func unescape(to, content []byte) ([]byte, bool) {
	for i := 0; i < len(content); {
		if content[i] != '\\' {
			to = append(to, content[i])
			i++
			continue
		}
		if content[i+1] != 'u' {
			to = append(to, escapes[content[i+1]])
			i += 2
			continue
		}
		r, _ := hexadecimal(content[i+2 : i+6])
		i += 6
		if utf16.IsSurrogate(r) {
			if i+6 > len(content) || content[i] != '\\' || content[i+1] != 'u' {
				return nil, false
			}
			low, _ := hexadecimal(content[i+2 : i+6])
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				return nil, false
			}
			i += 6
		}
		to = utf8.AppendRune(to, r)
	}
	return to, true
}

// skip takes a value that no schema says anything of.
func (w *jsonWalk) skip() verdict {
	switch c := w.next(); {
	case c == '"':
		_, _, ok := w.string()
		return taken(ok)
	case c == '{' || c == '[':
		return w.nested(&unconstrained, c == '{')
	case c == '-' || c >= '0' && c <= '9':
		return w.number(&unconstrained)
	case c == 't':
		return w.word(&unconstrained, "true", typeBoolean)
	case c == 'f':
		return w.word(&unconstrained, "false", typeBoolean)
	case c == 'n':
		return w.word(&unconstrained, "null", typeNull)
	}
	return refused
}

// unconstrained is a schema that says nothing.
var unconstrained = jsonNode{anything: true, minLength: -1, maxLength: -1, minItems: -1, maxItems: -1}

func taken(ok bool) verdict {
	if ok {
		return accepted
	}
	return refused
}
