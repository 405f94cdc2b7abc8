package jsonschema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// printer writes a value without white space.
type printer struct {
	strings.Builder
	// sorted writes members by name, in the order of UTF-16 code units, instead of in the order of the text.
	sorted bool
}

func printJSON(v *value, sorted bool) string {
	p := printer{sorted: sorted}
	p.value(v)
	return p.String()
}

func (p *printer) value(v *value) {
	switch v.kind {
	case null:
		p.WriteString("null")
	case boolean:
		p.WriteString(v.text)
	case number:
		p.WriteString(printNumber(v.text))
	case str:
		p.quoted(v.text)
	case array:
		p.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				p.WriteByte(',')
			}
			p.value(item)
		}
		p.WriteByte(']')
	case object:
		p.object(v)
	}
}

func (p *printer) object(v *value) {
	members := v.members
	if p.sorted {
		members = slices.Clone(members)
		slices.SortFunc(members, func(a, b member) int { return compareUnits(a.name, b.name) })
	}
	p.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			p.WriteByte(',')
		}
		p.quoted(m.name)
		p.WriteByte(':')
		p.value(m.value)
	}
	p.WriteByte('}')
}

// compareUnits compares as Java does, by UTF-16 code units: a character beyond the first plane, which UTF-16 writes with
// surrogates, comes before those from U+E000 on.
func compareUnits(a, b string) int {
	for {
		ra, na := decodeRune(a)
		rb, nb := decodeRune(b)
		if na == 0 || nb == 0 {
			return cmp.Compare(na, nb)
		}
		if ra != rb {
			return cmp.Compare(unitRank(ra), unitRank(rb))
		}
		a, b = a[na:], b[nb:]
	}
}

func unitRank(r rune) uint32 {
	if r < 0x10000 {
		return uint32(r) << 16
	}
	high, low := utf16.EncodeRune(r)
	return uint32(high)<<16 | uint32(low)
}

// decodeRune is utf8.DecodeRuneInString that knows the form of lone surrogates.
func decodeRune(s string) (rune, int) {
	if len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return utf8.DecodeRuneInString(s)
}

func (p *printer) quoted(s string) {
	p.WriteByte('"')
	for len(s) > 0 {
		c, n := decodeRune(s)
		switch {
		case c == '"' || c == '\\':
			p.WriteByte('\\')
			p.WriteByte(s[0])
		case c < ' ':
			p.control(byte(c))
		case c >= 0xD800 && c <= 0xDFFF:
			p.WriteString(`\u` + strings.ToUpper(strconv.FormatInt(int64(c), 16)))
		default:
			p.WriteString(s[:n])
		}
		s = s[n:]
	}
	p.WriteByte('"')
}

func (p *printer) control(c byte) {
	if i := strings.IndexByte("\b\f\n\r\t", c); i >= 0 {
		p.WriteByte('\\')
		p.WriteByte("bfnrt"[i])
		return
	}
	const digits = "0123456789ABCDEF"
	p.WriteString(`\u00`)
	p.WriteByte(digits[c>>4])
	p.WriteByte(digits[c&15])
}

// printNumber keeps every digit. Only an exponent is written anew, as Java writes decimals: the text that another registry
// stored stays as it is, and 1e3, 1E3 and 1E+3 are one number.
func printNumber(text string) string {
	if !strings.ContainsAny(text, ".eE") {
		if text == "-0" {
			return "0"
		}
		return text
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	negative := strings.HasPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		digits, negative = "0", false
	}
	power, _ := strconv.Atoi(strings.TrimPrefix(exponent, "+")) // the reader has seen to it
	scale := len(fraction) - power
	out := decimal(digits, scale)
	if negative {
		out = "-" + out
	}
	return out
}

// decimal writes digits times ten to the power of minus scale.
func decimal(digits string, scale int) string {
	adjusted := len(digits) - 1 - scale
	switch {
	case scale == 0:
		return digits
	case scale > 0 && adjusted >= -6:
		if zeros := scale - len(digits) + 1; zeros > 0 {
			digits = strings.Repeat("0", zeros) + digits
		}
		return digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	out := digits[:1]
	if len(digits) > 1 {
		out += "." + digits[1:]
	}
	sign := "+"
	if adjusted < 0 {
		sign = ""
	}
	return out + "E" + sign + strconv.Itoa(adjusted)
}
