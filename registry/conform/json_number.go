package conform

import (
	"math"
	"math/big"
)

// jsonNumber is a number: an integer over a power of ten where it is short, else a fraction.
type jsonNumber struct {
	digits int64
	places int
	rat    *big.Rat
}

// maxDigits is how many digits a short number has at most.
const maxDigits = 17

var powersOfTen = func() (p [maxDigits + 1]int64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 10 * p[i-1]
	}
	return p
}()

// parseNumber reads the text of a JSON number.
func parseNumber(text []byte) jsonNumber {
	n, count, point := jsonNumber{}, 0, false
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			n.digits = 10*n.digits + int64(c-'0')
			if count++; count > maxDigits {
				return longNumber(text)
			}
			if point {
				n.places++
			}
		case c == '.':
			point = true
		case c != '-':
			return longNumber(text)
		}
	}
	if text[0] == '-' {
		n.digits = -n.digits
	}
	return n
}

func longNumber(text []byte) jsonNumber {
	r, ok := new(big.Rat).SetString(string(text))
	if !ok {
		r = new(big.Rat)
	}
	return jsonNumber{rat: r}
}

// ratNumber is a fraction as a short number where it is one.
func ratNumber(r *big.Rat) jsonNumber {
	if places, exact := r.FloatPrec(); exact && places <= maxDigits/2 && r.Num().IsInt64() && r.Denom().IsInt64() {
		digits := new(big.Rat).Mul(r, new(big.Rat).SetInt64(powersOfTen[places]))
		if d := digits.Num(); d.IsInt64() && digits.IsInt() && d.CmpAbs(big.NewInt(powersOfTen[maxDigits])) < 0 {
			return jsonNumber{digits: d.Int64(), places: places}
		}
	}
	return jsonNumber{rat: r}
}

func (n jsonNumber) fraction() *big.Rat {
	if n.rat != nil {
		return n.rat
	}
	return big.NewRat(n.digits, powersOfTen[n.places])
}

func (n jsonNumber) isInteger() bool {
	if n.rat != nil {
		return n.rat.IsInt()
	}
	return n.digits%powersOfTen[n.places] == 0
}

// align brings two short numbers to the same number of places.
func align(a, b jsonNumber) (x, y int64, ok bool) {
	if a.rat != nil || b.rat != nil {
		return 0, 0, false
	}
	places := max(a.places, b.places)
	x, ok = scale(a.digits, places-a.places)
	if !ok {
		return 0, 0, false
	}
	y, ok = scale(b.digits, places-b.places)
	return x, y, ok
}

func scale(digits int64, places int) (int64, bool) {
	by := powersOfTen[places]
	if digits > math.MaxInt64/by || digits < math.MinInt64/by {
		return 0, false
	}
	return digits * by, true
}

func (n jsonNumber) compare(o jsonNumber) int {
	if x, y, ok := align(n, o); ok {
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	return n.fraction().Cmp(o.fraction())
}

func (n jsonNumber) multipleOf(o jsonNumber) bool {
	if x, y, ok := align(n, o); ok && y != 0 {
		return x%y == 0
	}
	by := o.fraction()
	if by.Sign() == 0 {
		return false
	}
	return new(big.Rat).Quo(n.fraction(), by).IsInt()
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
