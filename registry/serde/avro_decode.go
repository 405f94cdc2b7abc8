package serde

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"moldau/internal/jsontext"
)

const (
	// maxEmptyItems bounds the items of arrays and maps that take no bytes, which a short payload could have very many of.
	maxEmptyItems = 64 << 10
	// maxJSON bounds the JSON of one payload, which may be very much larger where much of it is in the schema.
	maxJSON = 64 << 20
)

func (c avroCodec) decode(dst, payload []byte) ([]byte, error) {
	if c.root.kind == avroBytes {
		return appendLatin1(dst, payload), nil
	}
	d := avroDecoder{data: payload, items: len(payload) + maxEmptyItems, limit: len(dst) + maxJSON}
	out, err := d.value(dst, c.root, 0)
	if err == nil && len(d.data) > 0 {
		err = fmt.Errorf("%d bytes are left behind the value", len(d.data))
	}
	if err != nil {
		return dst, fmt.Errorf("%w: Avro: %w", ErrPayload, err)
	}
	return out, nil
}

// avroDecoder reads one value.
type avroDecoder struct {
	data  []byte
	items int // of arrays and maps that may still come
	limit int // of the output's length
}

var (
	errAvroShort  = errors.New("they end within a value")
	errAvroVarint = errors.New("a number is damaged")
	errAvroLarge  = errors.New("they hold more than is permitted")
)

// value appends the JSON of a value of n: Avro's own, with the name of the branch around what a union holds.
func (d *avroDecoder) value(dst []byte, n *avroNode, depth int) ([]byte, error) {
	if depth > maxAvroDepth {
		return dst, errors.New("nested too deeply")
	}
	if len(dst) > d.limit {
		return dst, errAvroLarge
	}
	switch n.kind {
	case avroRecord:
		return d.record(dst, n, depth)
	case avroArray, avroMap:
		return d.list(dst, n, depth)
	case avroUnion:
		i, err := d.index(len(n.branches))
		if err != nil {
			return dst, fmt.Errorf("the branch of a union: %w", err)
		}
		b := n.branches[i]
		if b.kind == avroNull {
			return append(dst, "null"...), nil
		}
		dst = append(jsontext.AppendString(append(dst, '{'), b.name), ':')
		dst, err = d.value(dst, b, depth+1)
		return append(dst, '}'), err
	default:
		return d.scalar(dst, n)
	}
}

func (d *avroDecoder) scalar(dst []byte, n *avroNode) ([]byte, error) {
	switch n.kind {
	case avroNull:
		return append(dst, "null"...), nil
	case avroBoolean:
		b, err := d.take(1)
		if err != nil {
			return dst, err
		}
		return strconv.AppendBool(dst, b[0] == 1), nil
	case avroInt, avroLong:
		v, err := d.long()
		if err == nil && n.kind == avroInt && int64(int32(v)) != v { //nolint:gosec // that is the question
			err = fmt.Errorf("%d is no int", v)
		}
		return strconv.AppendInt(dst, v, 10), err
	case avroFloat:
		b, err := d.take(4)
		if err != nil {
			return dst, err
		}
		return appendFloat(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 32), nil
	case avroDouble:
		b, err := d.take(8)
		if err != nil {
			return dst, err
		}
		return appendFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(b)), 64), nil
	case avroEnum:
		i, err := d.index(len(n.symbols))
		if err != nil {
			return dst, fmt.Errorf("a symbol of %s: %w", n.name, err)
		}
		return jsontext.AppendString(dst, n.symbols[i]), nil
	case avroFixed:
		b, err := d.take(int64(n.size))
		return appendLatin1(dst, b), err
	default:
		return d.text(dst, n)
	}
}

// text appends a string or bytes.
func (d *avroDecoder) text(dst []byte, n *avroNode) ([]byte, error) {
	size, err := d.long()
	if err != nil {
		return dst, err
	}
	b, err := d.take(size)
	if err != nil {
		return dst, err
	}
	if n.kind == avroBytes {
		return appendLatin1(dst, b), nil
	}
	return jsontext.AppendString(dst, b), nil
}

func (d *avroDecoder) record(dst []byte, n *avroNode, depth int) (_ []byte, err error) {
	dst = append(dst, '{')
	for i := range n.fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsontext.AppendString(dst, n.fields[i].name), ':')
		if dst, err = d.value(dst, n.fields[i].typ, depth+1); err != nil {
			return dst, fmt.Errorf("%s: %w", n.fields[i].name, err)
		}
	}
	return append(dst, '}'), nil
}

// list reads the blocks of an array or a map.
func (d *avroDecoder) list(dst []byte, n *avroNode, depth int) ([]byte, error) {
	open, end := byte('['), byte(']')
	if n.kind == avroMap {
		open, end = '{', '}'
	}
	dst = append(dst, open)
	for first := true; ; {
		count, err := d.block()
		if err != nil {
			return dst, err
		}
		if count == 0 {
			return append(dst, end), nil
		}
		for range count {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			if n.kind == avroMap {
				size, err := d.long()
				if err != nil {
					return dst, err
				}
				name, err := d.take(size)
				if err != nil {
					return dst, err
				}
				dst = append(jsontext.AppendString(dst, name), ':')
			}
			if dst, err = d.value(dst, n.items, depth+1); err != nil {
				return dst, err
			}
		}
	}
}

// block reads how many items come next; a negative number is followed by their size in bytes.
func (d *avroDecoder) block() (int64, error) {
	count, err := d.long()
	if err != nil {
		return 0, err
	}
	if count < 0 {
		if count == math.MinInt64 {
			return 0, errAvroLarge
		}
		count = -count
		size, err := d.long()
		if err != nil {
			return 0, err
		}
		if size < 0 || size > int64(len(d.data)) {
			return 0, errAvroShort
		}
	}
	if count > int64(d.items) {
		return 0, errAvroLarge
	}
	d.items -= int(count)
	return count, nil
}

func (d *avroDecoder) take(n int64) ([]byte, error) {
	if n < 0 || n > int64(len(d.data)) {
		return nil, errAvroShort
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b, nil
}

func (d *avroDecoder) long() (int64, error) {
	v, w := binary.Varint(d.data)
	switch {
	case w == 0:
		return 0, errAvroShort
	case w < 0:
		return 0, errAvroVarint
	}
	d.data = d.data[w:]
	return v, nil
}

// index reads a number below n.
func (d *avroDecoder) index(n int) (int, error) {
	i, err := d.long()
	if err != nil {
		return 0, err
	}
	if i < 0 || i >= int64(n) {
		return 0, fmt.Errorf("there is no number %d of %d", i, n)
	}
	return int(i), nil
}

// appendLatin1 appends bytes as the string in which Avro's JSON holds them.
func appendLatin1(dst, b []byte) []byte {
	text := make([]byte, 0, len(b)+len(b)/4)
	for _, c := range b {
		text = utf8.AppendRune(text, rune(c))
	}
	return jsontext.AppendString(dst, text)
}

// appendFloat appends a number, or one of the words for what JSON has no number for.
func appendFloat(dst []byte, f float64, bits int) []byte {
	if word, ok := plainFloat(f, bits).(string); ok {
		return jsontext.AppendString(dst, word)
	}
	layout := byte('f')
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		layout = 'e'
	}
	return strconv.AppendFloat(dst, f, layout, -1, bits)
}
