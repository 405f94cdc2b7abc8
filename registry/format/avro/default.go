package avro

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"moldau/registry/format"
)

// fitting judges whether values fit types. A record takes fields that a value lacks from their own defaults, so the same
// question can come up over and over; each is answered once, and one that leads back to itself is answered with no.
type fitting struct {
	known map[question]bool
	// exact also wants symbols that the enum has, as many bytes as the fixed has, and strings that are bytes for bytes:
	// what Java leaves to the moment at which the default is used.
	exact bool
}

type question struct {
	typ *node
	v   *value
}

// check holds the default of a field against its type.
func (f *fitting) check(record *node, of *field) error {
	if f.fits(of.typ, of.def) {
		return nil
	}
	return format.Invalid("record %q, field %q: the default %s does not fit type %s",
		record.name.full(), of.name, brief(of.def), of.typ.fullName())
}

func (f *fitting) fits(typ *node, v *value) bool {
	if typ.kind != kindRecord {
		return f.judge(typ, v)
	}
	q := question{typ, v}
	if answer, ok := f.known[q]; ok {
		return answer
	}
	if f.known == nil {
		f.known = map[question]bool{}
	}
	f.known[q] = false
	answer := f.judge(typ, v)
	f.known[q] = answer
	return answer
}

func (f *fitting) judge(typ *node, v *value) bool {
	switch typ.kind {
	case kindString, kindBytes, kindEnum, kindFixed:
		return v.kind == jsonString && (!f.exact || usable(typ, v.text))
	case kindInt:
		_, ok := v.integer(32)
		return ok
	case kindLong:
		_, ok := v.integer(64)
		return ok
	case kindFloat, kindDouble:
		return v.kind == jsonInteger || v.kind == jsonDouble
	case kindBoolean:
		return v.kind == jsonBool
	case kindNull:
		return v.kind == jsonNull
	case kindUnion:
		for _, b := range typ.branches {
			if f.fits(b, v) {
				return true
			}
		}
		return false
	default:
		return f.compound(typ, v)
	}
}

func usable(typ *node, text string) bool {
	switch typ.kind {
	case kindEnum:
		return slices.Contains(typ.symbols, text)
	case kindFixed:
		return latin(text) && utf8.RuneCountInString(text) == typ.size
	case kindBytes:
		return latin(text)
	default:
		return true
	}
}

// latin says whether every character stands for one byte.
func latin(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxLatin1 }) < 0
}

func (f *fitting) compound(typ *node, v *value) bool {
	switch typ.kind {
	case kindArray:
		for _, item := range v.items {
			if !f.fits(typ.items, item) {
				return false
			}
		}
		return v.kind == jsonArray
	case kindMap:
		for _, m := range v.members {
			if !f.fits(typ.items, m.value) {
				return false
			}
		}
		return v.kind == jsonObject
	default:
		if v.kind != jsonObject {
			return false
		}
		index := v.index()
		for _, of := range typ.fields {
			given := index[of.name]
			if given == nil {
				given = of.def
			}
			if given == nil || !f.fits(of.typ, given) {
				return false
			}
		}
		return true
	}
}
