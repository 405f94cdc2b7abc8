package configdef

import (
	"math"
	"strconv"
	"strings"
)

// Value is a parsed config value. Which field holds it depends on the type.
type Value struct {
	typ  Type
	text string // String, Class, Password
	num  int64  // Int, Short, Long
	real float64
	yes  bool
	list []string
}

// Int returns the value of an Int, Short or Long config.
func (v Value) Int() int64 { return v.num }

// Float returns the value of a Double config.
func (v Value) Float() float64 { return v.real }

// Bool returns the value of a Boolean config.
func (v Value) Bool() bool { return v.yes }

// Strings returns the value of a List config. The caller must not change it.
func (v Value) Strings() []string { return v.list }

// Text returns the value of a String, Class or Password config.
func (v Value) Text() string { return v.text }

// String returns the canonical text of the value: what DescribeConfigs shows, and what parses to the same value.
func (v Value) String() string {
	switch v.typ {
	case Boolean:
		return strconv.FormatBool(v.yes)
	case Int, Short, Long:
		return strconv.FormatInt(v.num, 10)
	case Double:
		return formatDouble(v.real)
	case List:
		return strings.Join(v.list, ",")
	default:
		return v.text
	}
}

// parseValue reads text as a value of the type. A non-empty second result says why it is none, in Kafka's words.
func parseValue(t Type, text string) (Value, string) {
	v := Value{typ: t}
	text = strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	switch t {
	case Boolean:
		switch {
		case strings.EqualFold(text, "true"):
			v.yes = true
		case !strings.EqualFold(text, "false"):
			return v, "Expected value to be either true or false"
		}
	case Int, Short, Long:
		n, err := strconv.ParseInt(text, 10, bits(t))
		if err != nil {
			return v, "Not a number of type " + t.String()
		}
		v.num = n
	case Double:
		f, ok := parseDouble(text)
		if !ok {
			return v, "Not a number of type " + t.String()
		}
		v.real = f
	case List:
		v.list = splitList(text)
	default:
		v.text = text
	}
	return v, ""
}

// bits is the width of an integer type.
func bits(t Type) int {
	switch t {
	case Short:
		return 16
	case Int:
		return 32
	default:
		return 64
	}
}

// splitList cuts a list at its commas. White space around the commas doesn't count, and an empty text is an empty list.
func splitList(text string) []string {
	if text == "" {
		return nil
	}
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// parseDouble reads a finite decimal number. Hexadecimal, underscores and words, which strconv would take, aren't numbers
// here; a number too large to be represented isn't one either.
func parseDouble(text string) (float64, bool) {
	if strings.ContainsAny(text, "xX_") {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// formatDouble writes a number the way Java does: at least one digit after the point, an exponent without a plus sign
// outside of 0.001 to 10,000,000.
func formatDouble(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-3 || a >= 1e7) {
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'E', -1, 64), "E")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		sign := ""
		if exponent[0] == '-' {
			sign = "-"
		}
		return mantissa + "E" + sign + strings.TrimLeft(exponent[1:], "0")
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
