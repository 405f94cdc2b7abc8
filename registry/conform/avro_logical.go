package conform

import (
	"fmt"
	"math/big"
	"time"
)

// avroLogical is what a logical type adds to the type below it.
type avroLogical struct {
	kind logicalKind
	// below is the number that a time of day stays under.
	below int64
	// precision is the digits of a decimal, bound the first number that has more.
	precision int64
	bound     *big.Int
}

type logicalKind uint8

const (
	logicalTime logicalKind = iota
	logicalDecimal
	logicalBigDecimal
	logicalUUID
)

// maxPrecision bounds the digits of a decimal that are checked. A precision beyond it holds for whatever fits a payload.
const maxPrecision = 10_000

// readLogical answers the logical type of a node that is to be checked; nil where there is none, or none that is in force
// because it does not fit its type, or one that every value fulfils.
func readLogical(n *avroNode, o map[string]any) *avroLogical {
	name, _ := o["logicalType"].(string)
	switch {
	case name == "time-millis" && n.op == avroInt:
		return &avroLogical{kind: logicalTime, below: (24 * time.Hour).Milliseconds()}
	case name == "time-micros" && n.op == avroLong:
		return &avroLogical{kind: logicalTime, below: (24 * time.Hour).Microseconds()}
	case name == "uuid" && n.op == avroString:
		return &avroLogical{kind: logicalUUID}
	case name == "big-decimal" && n.op == avroBytes:
		return &avroLogical{kind: logicalBigDecimal}
	case name == "decimal" && (n.op == avroBytes || n.op == avroFixed):
		return readDecimal(o)
	}
	return nil
}

func readDecimal(o map[string]any) *avroLogical {
	precision, ok := whole(o["precision"])
	if !ok || precision < 1 || precision > maxPrecision {
		return nil
	}
	scale := int64(0)
	if s, given := o["scale"]; given {
		if scale, ok = whole(s); !ok {
			return nil
		}
	}
	if scale > precision {
		return nil
	}
	bound := new(big.Int).Exp(big.NewInt(10), big.NewInt(precision), nil)
	return &avroLogical{kind: logicalDecimal, precision: precision, bound: bound}
}

func (w *avroWalk) logicalNumber(l *avroLogical, v int64) bool {
	if v < 0 || v >= l.below {
		return w.fail(Logical, fmt.Sprintf("%d is no time of day", v))
	}
	return true
}

func (w *avroWalk) logicalBytes(l *avroLogical, b []byte) bool {
	if l.kind == logicalBigDecimal {
		return w.bigDecimal(b)
	}
	if len(b) == 0 {
		return w.fail(Logical, "a decimal without bytes")
	}
	if tooManyDigits(b, l.bound) {
		return w.fail(Logical, fmt.Sprintf("a decimal has more than %d digits", l.precision))
	}
	return true
}

// tooManyDigits says whether a number in two's complement has an absolute value of bound or more.
func tooManyDigits(b []byte, bound *big.Int) bool {
	if len(b) <= 8 && bound.IsInt64() {
		v := int64(int8(b[0]))
		for _, c := range b[1:] {
			v = v<<8 | int64(c)
		}
		limit := bound.Int64()
		return v >= limit || v <= -limit
	}
	if 8*len(b) <= bound.BitLen()-1 {
		return false
	}
	v := new(big.Int).SetBytes(b)
	if b[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v.CmpAbs(bound) >= 0
}

// bigDecimal checks a decimal that carries its own scale: the bytes of a number, then the scale.
func (w *avroWalk) bigDecimal(b []byte) bool {
	inner := avroWalk{buf: b}
	number, ok := inner.bytes()
	if ok {
		_, ok = inner.int()
	}
	if !ok || len(number) == 0 || inner.at < len(b) {
		return w.fail(Logical, "a big-decimal does not hold a number and a scale")
	}
	return true
}

// logicalText checks a string; the only logical type of one is the uuid.
func (w *avroWalk) logicalText(b []byte) bool {
	if !isUUID(b) {
		return w.fail(Logical, "a uuid is not 32 hexadecimal digits in five groups")
	}
	return true
}

func isUUID(b []byte) bool {
	if len(b) != 36 {
		return false
	}
	for i, c := range b {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
		default:
			return false
		}
	}
	return true
}
