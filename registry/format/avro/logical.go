package avro

import (
	"math"
	"strconv"
)

// logicalBase is the type that each logical type annotates; decimal, uuid and duration have rules of their own.
var logicalBase = map[string]kind{
	"big-decimal":            kindBytes,
	"date":                   kindInt,
	"time-millis":            kindInt,
	"time-micros":            kindLong,
	"timestamp-millis":       kindLong,
	"timestamp-micros":       kindLong,
	"timestamp-nanos":        kindLong,
	"local-timestamp-millis": kindLong,
	"local-timestamp-micros": kindLong,
	"local-timestamp-nanos":  kindLong,
}

const (
	uuidBytes     = 16
	durationBytes = 12
)

// logical says whether a type carries a logical type that is in force. One that is unknown or does not fit is nothing but
// a property.
func logical(n *node) bool {
	s, ok := prop(n.props, "logicalType").str()
	if !ok {
		return false
	}
	switch s {
	case "uuid":
		return n.kind == kindString || n.kind == kindFixed && n.size == uuidBytes
	case "duration":
		return n.kind == kindFixed && n.size == durationBytes
	case "decimal":
		return decimal(n)
	}
	base, known := logicalBase[s]
	return known && n.kind == base
}

func decimal(n *node) bool {
	if n.kind != kindBytes && n.kind != kindFixed {
		return false
	}
	p := prop(n.props, "precision")
	if p == nil {
		return false
	}
	precision, ok := p.integer(32)
	if !ok || precision <= 0 {
		return false
	}
	if n.kind == kindFixed && precision > int64(math.Log10(2)*float64(8*n.size-1)) {
		return false
	}
	scale := int64(0)
	if s := prop(n.props, "scale"); s != nil {
		if scale, ok = s.integer(32); !ok {
			return false
		}
	}
	return scale >= 0 && scale <= precision
}

// typed gives a default the form that its type gives it: numbers of floating-point fields get a point. A union is judged
// by its first branch.
func typed(v *value, typ *node) *value {
	if v == nil {
		return nil
	}
	if typ.kind == kindUnion && len(typ.branches) > 0 {
		typ = typ.branches[0]
	}
	switch {
	case v.kind == jsonInteger || v.kind == jsonDouble:
		return typedNumber(v, typ.kind)
	case v.kind == jsonArray && typ.kind == kindArray:
		c := &value{kind: jsonArray}
		for _, item := range v.items {
			c.items = append(c.items, typed(item, typ.items))
		}
		return c
	case v.kind == jsonObject && (typ.kind == kindMap || typ.kind == kindRecord):
		c := &value{kind: jsonObject}
		for _, m := range v.members {
			of := typ.items
			if typ.kind == kindRecord {
				f := typ.byName[m.name]
				if f == nil {
					c.members = append(c.members, m)
					continue
				}
				of = f.typ
			}
			c.members = append(c.members, member{m.name, typed(m.value, of)})
		}
		return sortedValue(c)
	default:
		return sortedValue(v)
	}
}

func typedNumber(v *value, k kind) *value {
	if k != kindFloat && k != kindDouble {
		return v
	}
	d := v.double
	if v.kind == jsonInteger {
		var err error
		if d, err = strconv.ParseFloat(v.text, 64); err != nil {
			return v
		}
	}
	if k == kindFloat {
		shortest, err := strconv.ParseFloat(javaFloat(d, 32), 64)
		if err != nil {
			return v
		}
		d = shortest
	}
	return &value{kind: jsonDouble, double: d}
}
