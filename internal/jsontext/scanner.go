package jsontext

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Scanner walks over JSON text, byte by byte and once. It checks the whole grammar of RFC 8259, UTF-8 included, and
// keeps values as they are written: no number is ever turned into a float.
type Scanner struct {
	// Data is the text, Pos the byte at hand. Callers may move Pos over bytes that they know.
	Data []byte
	Pos  int
}

// SyntaxError says what is wrong at which byte.
type SyntaxError struct {
	Pos     int
	Message string
}

// Error tells what is wrong, and where.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.Message, e.Pos) }

func (s *Scanner) fail(message string) error { return &SyntaxError{s.Pos, message} }

// Unexpected returns a SyntaxError at the present byte.
func (s *Scanner) Unexpected(want string) error {
	if s.Pos >= len(s.Data) {
		return s.fail("unexpected end, expected " + want)
	}
	if c := s.Data[s.Pos]; c > ' ' && c < 0x7f {
		return s.fail(fmt.Sprintf("unexpected %q, expected %s", c, want))
	}
	return s.fail(fmt.Sprintf("unexpected byte 0x%02x, expected %s", s.Data[s.Pos], want))
}

// Space skips white space and returns the byte behind it, 0 at the end.
func (s *Scanner) Space() byte {
	for s.Pos < len(s.Data) {
		switch c := s.Data[s.Pos]; c {
		case ' ', '\t', '\n', '\r':
			s.Pos++
		default:
			return c
		}
	}
	return 0
}

// Expect skips white space and takes the byte c.
func (s *Scanner) Expect(c byte, want string) error {
	if s.Space() != c || s.Pos >= len(s.Data) {
		return s.Unexpected(want)
	}
	s.Pos++
	return nil
}

// plain holds the bytes that stand for themselves within a string.
var plain = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf
	}
	return t
}()

// SkipString moves behind a string; Pos is at its opening quote. It tells whether there are escapes.
func (s *Scanner) SkipString() (escaped bool, err error) {
	s.Pos++
	start, wide := s.Pos, false
	for s.Pos < len(s.Data) {
		c := s.Data[s.Pos]
		switch {
		case plain[c]:
			s.Pos++
		case c == '"':
			if wide && !utf8.Valid(s.Data[start:s.Pos]) {
				s.Pos = start
				return false, s.fail("a string that is not UTF-8")
			}
			s.Pos++
			return escaped, nil
		case c == '\\':
			escaped = true
			if err := s.skipEscape(); err != nil {
				return false, err
			}
		case c >= utf8.RuneSelf:
			wide = true
			s.Pos++
		default:
			return false, s.fail(fmt.Sprintf("control character 0x%02x in a string", c))
		}
	}
	return false, s.fail("unexpected end of a string")
}

func (s *Scanner) skipEscape() error {
	if s.Pos+1 >= len(s.Data) {
		return s.fail("unexpected end of a string")
	}
	switch s.Data[s.Pos+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.Pos += 2
		return nil
	case 'u':
		if _, ok := hex4(s.Data[s.Pos+2:]); !ok {
			return s.fail(`\u without four hexadecimal digits`)
		}
		s.Pos += 6
		return nil
	}
	return s.fail("unknown escape in a string")
}

// skipNumber moves behind a number; Pos is at its first byte.
func (s *Scanner) skipNumber() error {
	if s.Data[s.Pos] == '-' {
		s.Pos++
	}
	switch {
	case s.At('0'):
		s.Pos++
	case s.Digits() > 0:
	default:
		return s.Unexpected("a digit")
	}
	if s.At('.') {
		s.Pos++
		if s.Digits() == 0 {
			return s.Unexpected("a digit")
		}
	}
	if s.At('e') || s.At('E') {
		s.Pos++
		if s.At('+') || s.At('-') {
			s.Pos++
		}
		if s.Digits() == 0 {
			return s.Unexpected("a digit")
		}
	}
	return nil
}

// At tells whether the byte at hand is c.
func (s *Scanner) At(c byte) bool { return s.Pos < len(s.Data) && s.Data[s.Pos] == c }

// Digits takes the decimal digits at hand and returns how many there were.
func (s *Scanner) Digits() int {
	start := s.Pos
	for s.Pos < len(s.Data) && '0' <= s.Data[s.Pos] && s.Data[s.Pos] <= '9' {
		s.Pos++
	}
	return s.Pos - start
}

// SkipLiteral takes a word: true, false or null.
func (s *Scanner) SkipLiteral(word string) error {
	if len(s.Data)-s.Pos < len(word) || string(s.Data[s.Pos:s.Pos+len(word)]) != word {
		return s.fail("unknown word, expected a value")
	}
	s.Pos += len(word)
	return nil
}

// skipScalar moves behind a string, number or word whose first byte is c.
func (s *Scanner) skipScalar(c byte) error {
	switch {
	case c == '"':
		_, err := s.SkipString()
		return err
	case c == '-' || '0' <= c && c <= '9':
		return s.skipNumber()
	case c == 't':
		return s.SkipLiteral("true")
	case c == 'f':
		return s.SkipLiteral("false")
	case c == 'n':
		return s.SkipLiteral("null")
	}
	return s.Unexpected("a value")
}

// Unescape replaces the escapes of a valid string, in place. A surrogate without its other half becomes U+FFFD.
func Unescape(b []byte) []byte {
	out := b[:0]
	for i := 0; i < len(b); {
		c := b[i]
		if c != '\\' {
			out = append(out, c)
			i++
			continue
		}
		c = b[i+1]
		i += 2
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r, _ := hex4(b[i:])
			i += 4
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if len(b)-i >= 6 && b[i] == '\\' && b[i+1] == 'u' {
					low, _ = hex4(b[i+2:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
			continue
		}
		out = append(out, c)
	}
	return out
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
