package conform

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxAvroItems is how many items an array or a map has at most in Java.
const maxAvroItems = math.MaxInt32 - 8

// avroWalk goes over the bytes of a value. It lives on the stack, so that a value which conforms costs no allocation.
type avroWalk struct {
	buf     []byte
	at      int
	depth   int
	empties int64
	// reason, what and path say what is wrong; the path is that from the value up.
	reason Reason
	what   string
	path   []string
}

func (w *avroWalk) fail(reason Reason, what string) bool {
	w.reason, w.what = reason, what
	return false
}

// in notes on the way out where a failed value was.
func (w *avroWalk) in(name string) bool {
	w.path = append(w.path, name)
	return false
}

func (w *avroWalk) violation() *Violation {
	slices.Reverse(w.path)
	if len(w.path) > maxPath {
		w.path = append(w.path[:maxPath:maxPath], "…")
	}
	where := ""
	if len(w.path) > 0 {
		where = "at " + strings.Join(w.path, ".") + ", "
	}
	return &Violation{w.reason, fmt.Sprintf("%sbyte %d: %s", where, min(w.at, len(w.buf)), w.what)}
}

// maxPath bounds how many steps of a path a message names.
const maxPath = 20

// What is wrong, said once.
const (
	endsEarly  = "the payload ends inside the value"
	badVarint  = "a number has too many bytes"
	badLength  = "a length is negative"
	overLength = "a length goes beyond the end of the payload"
)

func (w *avroWalk) value(n *avroNode) bool {
	switch n.op {
	case avroNull:
		return true
	case avroBoolean:
		return w.skip(1)
	case avroInt:
		v, ok := w.int()
		return ok && (n.logical == nil || w.logicalNumber(n.logical, int64(v)))
	case avroLong:
		v, ok := w.long()
		return ok && (n.logical == nil || w.logicalNumber(n.logical, v))
	case avroFloat:
		return w.skip(4)
	case avroDouble:
		return w.skip(8)
	case avroFixed:
		from := w.at
		return w.skip(n.size) && (n.logical == nil || w.logicalBytes(n.logical, w.buf[from:w.at]))
	case avroBytes:
		b, ok := w.bytes()
		return ok && (n.logical == nil || w.logicalBytes(n.logical, b))
	case avroString:
		b, ok := w.string()
		return ok && (n.logical == nil || w.logicalText(b))
	case avroEnum:
		v, ok := w.int()
		return ok && (v >= 0 && int(v) < n.size || w.fail(Malformed, fmt.Sprintf("the enum has no symbol %d", v)))
	default:
		return w.nested(n)
	}
}

// nested walks what has other values inside.
func (w *avroWalk) nested(n *avroNode) bool {
	if w.depth--; w.depth < 0 {
		return w.fail(TooDeep, "values nest too deeply")
	}
	ok := false
	switch n.op {
	case avroUnion:
		ok = w.union(n)
	case avroRecord:
		ok = w.record(n)
	default:
		ok = w.blocks(n)
	}
	w.depth++
	return ok
}

func (w *avroWalk) record(n *avroNode) bool {
	for _, i := range n.solid {
		if !w.value(n.parts[i]) {
			return w.in(n.names[i])
		}
	}
	return true
}

func (w *avroWalk) union(n *avroNode) bool {
	v, ok := w.int()
	if !ok {
		return false
	}
	if v < 0 || int(v) >= len(n.parts) {
		return w.fail(Malformed, fmt.Sprintf("the union has no branch %d", v))
	}
	return w.value(n.parts[v])
}

// blocks walks an array or a map.
func (w *avroWalk) blocks(n *avroNode) bool {
	least := n.items.least
	if n.op == avroMap {
		least++
	}
	total := int64(0)
	for {
		count, ok := w.block()
		if !ok || count == 0 {
			return ok
		}
		if total += count; count > maxAvroItems || total > maxAvroItems {
			return w.fail(Malformed, "an array or a map has more items than a decoder can hold")
		}
		if least > 0 && count > int64(len(w.buf)-w.at)/least {
			return w.fail(Malformed, "a block has more items than the payload has room for")
		}
		if least == 0 && n.op == avroArray {
			if w.empties -= count; w.empties < 0 {
				return w.fail(Malformed, "arrays have too many items without any bytes")
			}
			if n.items.empty {
				continue
			}
		}
		if !w.items(n, count) {
			return false
		}
	}
}

// block reads the head of a block: the number of its items, and its size where that is given. No decoder holds the size
// against the items.
func (w *avroWalk) block() (int64, bool) {
	count, ok := w.long()
	if !ok || count >= 0 {
		return count, ok
	}
	if count == math.MinInt64 {
		return 0, w.fail(Malformed, "a block has an impossible number of items")
	}
	size, ok := w.long()
	if ok && size < 0 {
		return 0, w.fail(Malformed, "the size of a block is negative")
	}
	return -count, ok
}

func (w *avroWalk) items(n *avroNode, count int64) bool {
	for i := range count {
		if n.op == avroMap {
			if _, ok := w.string(); !ok {
				return w.in(fmt.Sprintf("key %d", i))
			}
		}
		if !w.value(n.items) {
			return w.in(fmt.Sprintf("[%d]", i))
		}
	}
	return true
}

func (w *avroWalk) skip(n int) bool {
	if n > len(w.buf)-w.at {
		return w.fail(Malformed, endsEarly)
	}
	w.at += n
	return true
}

func (w *avroWalk) bytes() ([]byte, bool) {
	n, ok := w.long()
	if !ok {
		return nil, false
	}
	if n < 0 {
		return nil, w.fail(Malformed, badLength)
	}
	if n > int64(len(w.buf)-w.at) {
		return nil, w.fail(Malformed, overLength)
	}
	b := w.buf[w.at : w.at+int(n)]
	w.at += int(n)
	return b, true
}

func (w *avroWalk) string() ([]byte, bool) {
	b, ok := w.bytes()
	if ok && !validText(b) {
		w.at -= len(b)
		return nil, w.fail(Encoding, "a string is no valid UTF-8")
	}
	return b, ok
}

// validText is utf8.Valid with a short way for short ASCII.
func validText(b []byte) bool {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if binary.LittleEndian.Uint64(b[i:])&0x8080808080808080 != 0 {
			return utf8.Valid(b[i:])
		}
	}
	for ; i < len(b); i++ {
		if b[i] >= utf8.RuneSelf {
			return utf8.Valid(b[i:])
		}
	}
	return true
}

// int reads a 32-bit number of at most five bytes. Bits beyond the 32 are dropped, as decoders do.
func (w *avroWalk) int() (int32, bool) {
	if w.at < len(w.buf) && w.buf[w.at] < 0x80 {
		u := uint32(w.buf[w.at])
		w.at++
		return int32(u>>1) ^ -int32(u&1), true //nolint:gosec // zigzag
	}
	u, ok := w.varint(5)
	return int32(uint32(u)>>1) ^ -int32(u&1), ok //nolint:gosec // zigzag; the upper bits are dropped
}

// long reads a 64-bit number of at most ten bytes.
func (w *avroWalk) long() (int64, bool) {
	if w.at < len(w.buf) && w.buf[w.at] < 0x80 {
		u := uint64(w.buf[w.at])
		w.at++
		return int64(u>>1) ^ -int64(u&1), true //nolint:gosec // zigzag
	}
	u, ok := w.varint(10)
	return int64(u>>1) ^ -int64(u&1), ok //nolint:gosec // zigzag
}

func (w *avroWalk) varint(limit int) (u uint64, ok bool) {
	for i := range limit {
		if w.at+i >= len(w.buf) {
			return 0, w.fail(Malformed, endsEarly)
		}
		b := w.buf[w.at+i]
		u |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			w.at += i + 1
			return u, true
		}
	}
	return 0, w.fail(Malformed, badVarint)
}
