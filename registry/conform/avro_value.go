package conform

import (
	"encoding/binary"
	"errors"
	"math"
)

// maxValues bounds the values that a payload is decoded into for its conditions.
const maxValues = 1 << 18

var errManyValues = errors.New("the value has too many parts to evaluate conditions on")

// avroDecoder makes a value of a payload that is known to be well-formed: records and maps become maps by name, enums their
// symbols, bytes and fixed stay bytes. Logical types are left as the types below them.
type avroDecoder struct {
	avroWalk
	values int
}

func decodeAvro(payload []byte, n *avroNode) (any, error) {
	d := avroDecoder{avroWalk: avroWalk{buf: payload}}
	v := d.decode(n)
	if d.values > maxValues {
		return nil, errManyValues
	}
	return v, nil
}

// decode answers nothing any more once there are too many values.
func (d *avroDecoder) decode(n *avroNode) any {
	if d.values++; d.values > maxValues {
		return nil
	}
	switch n.op {
	case avroBoolean:
		d.at++
		return d.buf[d.at-1] == 1
	case avroInt:
		v, _ := d.int()
		return int64(v)
	case avroLong:
		v, _ := d.long()
		return v
	case avroFloat:
		d.at += 4
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(d.buf[d.at-4:])))
	case avroDouble:
		d.at += 8
		return math.Float64frombits(binary.LittleEndian.Uint64(d.buf[d.at-8:]))
	case avroFixed:
		d.at += n.size
		return d.buf[d.at-n.size : d.at]
	case avroBytes:
		b, _ := d.bytes()
		return b
	case avroString:
		b, _ := d.bytes()
		return string(b)
	case avroEnum:
		v, _ := d.int()
		return n.names[v]
	default:
		return d.compound(n)
	}
}

func (d *avroDecoder) compound(n *avroNode) any {
	switch n.op {
	case avroUnion:
		v, _ := d.int()
		return d.decode(n.parts[v])
	case avroRecord:
		m := make(map[string]any, len(n.parts))
		for i, p := range n.parts {
			m[n.names[i]] = d.decode(p)
			if d.values > maxValues {
				return nil
			}
		}
		return m
	case avroArray:
		items := []any{}
		d.each(func() { items = append(items, d.decode(n.items)) })
		return items
	case avroMap:
		m := map[string]any{}
		d.each(func() {
			key, _ := d.bytes()
			m[string(key)] = d.decode(n.items)
		})
		return m
	default:
		return nil
	}
}

// each calls take for every item of an array or a map.
func (d *avroDecoder) each(take func()) {
	for {
		count, _ := d.block()
		if count == 0 {
			return
		}
		for range count {
			if take(); d.values > maxValues {
				return
			}
		}
	}
}
