package conform

import (
	"bytes"
	"cmp"
	"math/big"
	"math/bits"
)

// jsonNumber is a number of up to maxDigits significant digits: digits over a power of ten. The arithmetic is exact, and takes no longer for
// large exponents than for small ones.
type jsonNumber struct {
	negative bool
	digits   uint64
	places   int // negative for a number with zeros behind its digits
}

// maxDigits is how many significant digits a number has at most, maxExponent how large its exponent is. The library has the same limit for
// exponents and refuses what is beyond.
const (
	maxDigits   = 19
	maxExponent = 5000
)

var powersOfTen = func() (p [maxDigits + 1]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 10 * p[i-1]
	}
	return p
}()

// parseNumber reads the text of a JSON number. ok is false for one that has more digits or a larger exponent than jsonNumber does.
func parseNumber(text []byte) (n jsonNumber, ok bool) {
	count, point := 0, false
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			if n.digits = 10*n.digits + uint64(c-'0'); n.digits > 0 {
				count++
			}
			if count > maxDigits {
				return jsonNumber{}, false
			}
			if point {
				n.places++
			}
		case c == '.':
			point = true
		case c == 'e' || c == 'E':
			exponent := exponentAt(text, i+1)
			if exponent > maxExponent {
				return jsonNumber{}, false
			}
			if text[i+1] == '-' {
				exponent = -exponent
			}
			n.places -= exponent
			return n.signed(text), true
		}
	}
	return n.signed(text), true
}

// signed gives a number the sign of its text. There is one zero.
func (n jsonNumber) signed(text []byte) jsonNumber {
	n.negative = text[0] == '-' && n.digits != 0
	return n
}

// ratNumber is a fraction as a number; ok is false where it has too many digits.
func ratNumber(r *big.Rat) (n jsonNumber, ok bool) {
	places, exact := r.FloatPrec()
	if !exact {
		return jsonNumber{}, false
	}
	text := []byte(r.FloatString(places))
	if point := bytes.IndexByte(text, '.'); point >= 0 {
		text = append(text[:point], text[point+1:]...)
	}
	for len(text) > 1 && text[len(text)-1] == '0' {
		text = text[:len(text)-1]
		places--
	}
	n, ok = parseNumber(text)
	n.places = places
	return n, ok
}

// width is how many digits a number has.
func width(digits uint64) int {
	for i, p := range powersOfTen {
		if digits < p {
			return i
		}
	}
	return len(powersOfTen)
}

func (n jsonNumber) isInteger() bool {
	switch {
	case n.places <= 0 || n.digits == 0:
		return true
	case n.places > maxDigits:
		return false
	}
	return n.digits%powersOfTen[n.places] == 0
}

// sign is -1, 0 or 1.
func (n jsonNumber) sign() int {
	switch {
	case n.digits == 0:
		return 0
	case n.negative:
		return -1
	}
	return 1
}

func (n jsonNumber) compare(o jsonNumber) int {
	sign := n.sign()
	switch other := o.sign(); {
	case sign < other:
		return -1
	case sign > other:
		return 1
	case sign == 0:
		return 0
	}
	return sign * n.compareSize(o)
}

// compareSize compares what is left of two numbers without their signs, of which neither is 0.
func (n jsonNumber) compareSize(o jsonNumber) int {
	if n.places == o.places {
		return cmp.Compare(n.digits, o.digits)
	}
	w, v := width(n.digits), width(o.digits)
	if by := (w - n.places) - (v - o.places); by != 0 {
		return max(min(by, 1), -1)
	}
	return cmp.Compare(n.digits*powersOfTen[maxDigits-w], o.digits*powersOfTen[maxDigits-v])
}

// multipleOf tells whether a number is another one, which is not 0, times an integer.
func (n jsonNumber) multipleOf(o jsonNumber) bool {
	if n.digits == 0 {
		return true
	}
	zeros := o.places - n.places // to be put behind the digits of n, or of o where it is negative
	if zeros >= 0 {
		return mulMod(n.digits%o.digits, powerMod(10, zeros, o.digits), o.digits) == 0
	}
	if -zeros > maxDigits {
		return false
	}
	high, by := bits.Mul64(o.digits, powersOfTen[-zeros])
	return high == 0 && n.digits%by == 0
}

// powerMod is base to the power of exponent, modulo m.
func powerMod(base uint64, exponent int, m uint64) uint64 {
	result := 1 % m
	for base %= m; exponent > 0; exponent /= 2 {
		if exponent%2 == 1 {
			result = mulMod(result, base, m)
		}
		base = mulMod(base, base, m)
	}
	return result
}

// mulMod multiplies two numbers below m, modulo m.
func mulMod(a, b, m uint64) uint64 {
	high, low := bits.Mul64(a, b)
	_, rest := bits.Div64(high, low, m)
	return rest
}

// jsonBound is a bound that a number stays within: sign is -1 for a lower one, 1 for an upper one.
type jsonBound struct {
	number    jsonNumber
	sign      int
	exclusive bool
}

func (b jsonBound) holds(n jsonNumber) bool {
	c := n.compare(b.number)
	return c == 0 && !b.exclusive || c == -b.sign
}

// The library's arithmetic writes numbers out, and takes time that rises with the square of their exponents. hugeSteps is what the exponents of any
// text may cost, hugeStepsPerByte what each byte of it adds: all finite numbers of 64 bits stay within that.
const (
	hugeSteps        = 1_000_000
	hugeStepsPerByte = 45
	hugeUnit         = 400
	mostExponent     = 10_000 // that of a number which is refused anyway
)

// tooHuge tells whether the numbers of a text have exponents that would take too long to compare. It looks at texts that need be no JSON.
func tooHuge(text []byte) bool {
	left := hugeSteps + hugeStepsPerByte*len(text)
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && (c == 'e' || c == 'E'):
			exponent := exponentAt(text, i+1)
			if left -= exponent * exponent / hugeUnit; left < 0 {
				return true
			}
		}
	}
	return false
}

// exponentAt reads the digits of an exponent, with or without a sign in front of them.
func exponentAt(text []byte, at int) (n int) {
	if at < len(text) && (text[at] == '-' || text[at] == '+') {
		at++
	}
	for ; at < len(text) && text[at]-'0' <= 9; at++ {
		n = min(10*n+int(text[at]-'0'), mostExponent)
	}
	return n
}
