package jsonschema

import (
	"cmp"
	"math/big"

	library "github.com/santhosh-tekuri/jsonschema/v6"
)

// bound is the changes of a keyword that limits something by a number.
type bound struct {
	keyword                              string
	added, removed, increased, decreased Change
}

// limits notes the change of a bound; order compares two of its values.
func limits[V any](s *scope, b bound, writer, reader *V, order func(a, b *V) int) {
	switch {
	case writer == nil && reader == nil:
	case writer == nil:
		s.add(b.added, b.keyword)
	case reader == nil:
		s.add(b.removed, b.keyword)
	case order(writer, reader) < 0:
		s.add(b.increased, b.keyword)
	case order(writer, reader) > 0:
		s.add(b.decreased, b.keyword)
	}
}

func orderInts(a, b *int) int { return cmp.Compare(*a, *b) }

func (s *scope) numbers(writer, reader *node) {
	w, r := writer.rules, reader.rules
	limits(s, bound{"maximum", MaximumAdded, MaximumRemoved, MaximumIncreased, MaximumDecreased},
		highest(w), highest(r), (*big.Rat).Cmp)
	limits(s, bound{"minimum", MinimumAdded, MinimumRemoved, MinimumIncreased, MinimumDecreased},
		lowest(w), lowest(r), (*big.Rat).Cmp)
	limits(s, bound{"exclusiveMaximum", ExclusiveMaximumAdded, ExclusiveMaximumRemoved, ExclusiveMaximumIncreased, ExclusiveMaximumDecreased},
		w.ExclusiveMaximum, r.ExclusiveMaximum, (*big.Rat).Cmp)
	limits(s, bound{"exclusiveMinimum", ExclusiveMinimumAdded, ExclusiveMinimumRemoved, ExclusiveMinimumIncreased, ExclusiveMinimumDecreased},
		w.ExclusiveMinimum, r.ExclusiveMinimum, (*big.Rat).Cmp)
	s.multiples(w.MultipleOf, r.MultipleOf)
	switch {
	case writer.integer && !reader.integer:
		s.add(TypeExtended)
	case !writer.integer && reader.integer:
		s.add(TypeNarrowed)
	}
}

// highest is the maximum. In draft 4 an exclusive maximum is one that is marked so, and stays one.
func highest(s *library.Schema) *big.Rat {
	if s.DraftVersion == 4 && s.Maximum == nil {
		return s.ExclusiveMaximum
	}
	return s.Maximum
}

// lowest is the minimum, as highest is the maximum.
func lowest(s *library.Schema) *big.Rat {
	if s.DraftVersion == 4 && s.Minimum == nil {
		return s.ExclusiveMinimum
	}
	return s.Minimum
}

func (s *scope) multiples(writer, reader *big.Rat) {
	const keyword = "multipleOf"
	switch {
	case writer == nil && reader == nil:
	case writer == nil:
		s.add(MultipleOfAdded, keyword)
	case reader == nil:
		s.add(MultipleOfRemoved, keyword)
	case writer.Cmp(reader) == 0:
	case isMultiple(reader, writer):
		s.add(MultipleOfExpanded, keyword)
	case isMultiple(writer, reader):
		s.add(MultipleOfReduced, keyword)
	default:
		s.add(MultipleOfChanged, keyword)
	}
}

func isMultiple(of, base *big.Rat) bool {
	return base.Sign() != 0 && new(big.Rat).Quo(of, base).IsInt()
}
