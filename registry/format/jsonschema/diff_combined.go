package jsonschema

import (
	"strconv"
)

// wrapped compares a schema of the writer with one of the reader that has branches around it, and says whether one of
// them reads it.
func (s *scope) wrapped(writer, reader *node) bool {
	if len(reader.branches) == 1 {
		return s.try(writer, reader.branches[0])
	}
	if reader.criterion == allOf {
		return false
	}
	for _, branch := range reader.branches {
		if s.try(writer, branch) {
			s.add(SumTypeExtended)
			return true
		}
	}
	return false
}

// unwrapped compares a schema of the writer that has branches with one of the reader that has none, and says whether the
// reader's reads what one of them lets through that everything has to conform to.
func (s *scope) unwrapped(writer, reader *node) bool {
	if len(writer.branches) == 1 {
		return s.try(writer.branches[0], reader)
	}
	if writer.criterion != allOf {
		return false
	}
	for _, branch := range writer.branches {
		if s.try(branch, reader) {
			s.add(ProductTypeNarrowed)
			return true
		}
	}
	return false
}

func (s *scope) combined(writer, reader *node) {
	if !s.criteria(writer, reader) {
		return
	}
	from, to := writer.branches, reader.branches
	switch {
	case len(from) < len(to) && reader.criterion == allOf:
		s.add(ProductTypeExtended)
	case len(from) < len(to):
		s.add(SumTypeExtended)
	case len(from) > len(to) && writer.criterion == allOf:
		s.add(ProductTypeNarrowed)
	case len(from) > len(to):
		s.add(SumTypeNarrowed)
	}
	outcomes := make(map[[2]int]*outcome)
	compatible := make([][]int, len(from))
	for i, w := range from {
		for j, r := range to {
			if o := s.outcome(pair{w, r}); !o.incompatible {
				outcomes[[2]int{i, j}] = o
				compatible[i] = append(compatible[i], j)
			}
			if s.err != nil {
				return
			}
		}
	}
	matched := 0
	for i, j := range match(compatible, len(to)) {
		if j < 0 {
			continue
		}
		matched++
		s.within(string(writer.criterion), func() {
			s.within(strconv.Itoa(i), func() { s.adopt(outcomes[[2]int{i, j}]) })
		})
	}
	if matched < min(len(from), len(to)) {
		s.add(CombinedTypeSubschemasChanged)
	}
}

// criteria compares how the branches are combined and says whether they are to be compared too.
func (s *scope) criteria(writer, reader *node) bool {
	if writer.criterion == reader.criterion {
		return true
	}
	oneEach := len(writer.branches) == 1 && len(reader.branches) == 1
	if reader.criterion == anyOf || oneEach ||
		len(writer.branches) == 1 && reader.criterion == oneOf ||
		len(reader.branches) == 1 && writer.criterion == allOf {
		s.add(CombinedTypeExtended)
		return true
	}
	s.add(CombinedTypeChanged)
	return false
}
