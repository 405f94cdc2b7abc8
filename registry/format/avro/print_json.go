package avro

import (
	"math"
	"strconv"
	"strings"
)

const hexDigits = "0123456789ABCDEF"

func appendValue(dst []byte, v *value) []byte {
	switch v.kind {
	case jsonNull:
		return append(dst, "null"...)
	case jsonString:
		return appendString(dst, v.text)
	case jsonDouble:
		if math.IsNaN(v.double) || math.IsInf(v.double, 0) {
			return appendString(dst, javaDouble(v.double))
		}
		return append(dst, javaDouble(v.double)...)
	case jsonArray:
		dst = append(dst, '[')
		for i, item := range v.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, item)
		}
		return append(dst, ']')
	case jsonObject:
		dst = append(dst, '{')
		for i, m := range v.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, m.name), ':')
			dst = appendValue(dst, m.value)
		}
		return append(dst, '}')
	default:
		return append(dst, v.text...)
	}
}

// appendString writes a JSON string in which only that is escaped that has to be.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= ' ':
			dst = append(dst, c)
		case strings.IndexByte("\b\t\n\f\r", c) >= 0:
			dst = append(dst, '\\', "btn_fr"[c-'\b'])
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(dst, '"')
}

// javaDouble writes a number as Java does: with a point always, and with an exponent from 10^7 on and below 10^-3.
func javaDouble(f float64) string { return javaFloat(f, 64) }

func javaFloat(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	if a := math.Abs(f); a == 0 || a >= 1e-3 && a < 1e7 {
		s := strconv.FormatFloat(f, 'f', -1, bits)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, bits), "e")
	if !strings.Contains(digits, ".") {
		digits += ".0"
	}
	n, err := strconv.Atoi(exponent)
	if err != nil {
		return digits + "E" + exponent // an exponent that strconv wrote is a number
	}
	return digits + "E" + strconv.Itoa(n)
}
