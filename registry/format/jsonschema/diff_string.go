package jsonschema

import (
	library "github.com/santhosh-tekuri/jsonschema/v6"
)

func (s *scope) strings(writer, reader *library.Schema) {
	limits(s, bound{"maxLength", MaxLengthAdded, MaxLengthRemoved, MaxLengthIncreased, MaxLengthDecreased},
		writer.MaxLength, reader.MaxLength, orderInts)
	limits(s, bound{"minLength", MinLengthAdded, MinLengthRemoved, MinLengthIncreased, MinLengthDecreased},
		writer.MinLength, reader.MinLength, orderInts)
	switch {
	case writer.Pattern == nil && reader.Pattern == nil:
	case writer.Pattern == nil:
		s.add(PatternAdded, "pattern")
	case reader.Pattern == nil:
		s.add(PatternRemoved, "pattern")
	case writer.Pattern.String() != reader.Pattern.String():
		s.add(PatternChanged, "pattern")
	}
}
