package jsontext

// maxDepth bounds how deep arrays and objects may be nested.
const maxDepth = 500

// SkipValue moves behind the value that begins at Pos, white space in front of it included. It tells whether there is
// white space between the tokens of the value.
func (s *Scanner) SkipValue() (spaced bool, err error) {
	s.Space()
	w := walker{s: s}
	for {
		opened, err := w.begin()
		if err != nil {
			return false, err
		}
		if opened {
			continue
		}
		done, err := w.end()
		if done || err != nil {
			return w.spaced, err
		}
	}
}

// walker is the walk through one value. The kinds of open brackets are kept as bits, so that depth costs no stack.
type walker struct {
	s       *Scanner
	spaced  bool
	depth   int
	objects [maxDepth/64 + 1]uint64
}

// begin takes the beginning of a value: a scalar as a whole, an empty array or object as a whole, or the bracket of one
// that is not empty, together with the first name if it is an object. opened tells that a value within it comes next.
func (w *walker) begin() (opened bool, err error) {
	s := w.s
	if s.Pos >= len(s.Data) {
		return false, s.Unexpected("a value")
	}
	c := s.Data[s.Pos]
	if c != '{' && c != '[' {
		return false, s.skipScalar(c)
	}
	if w.depth == maxDepth {
		return false, s.fail("nested too deep")
	}
	s.Pos++
	if next := w.space(); next == c+2 { // the codes of '}' and ']' are two above those of '{' and '['
		s.Pos++
		return false, nil
	}
	w.depth++
	if c == '[' {
		w.objects[w.depth/64] &^= 1 << (w.depth % 64)
		return true, nil
	}
	w.objects[w.depth/64] |= 1 << (w.depth % 64)
	return true, w.name()
}

// end takes what may follow a value: brackets that close, then the end of the walk, or a comma and what comes behind it
// up to the next value.
func (w *walker) end() (done bool, err error) {
	for w.depth > 0 {
		inObject := w.objects[w.depth/64]&(1<<(w.depth%64)) != 0
		switch c := w.space(); {
		case c == ',' && inObject:
			w.s.Pos++
			w.space()
			return false, w.name()
		case c == ',':
			w.s.Pos++
			w.space()
			return false, nil
		case inObject && c == '}', !inObject && c == ']':
			w.s.Pos++
			w.depth--
		case inObject:
			return false, w.s.Unexpected("',' or '}'")
		default:
			return false, w.s.Unexpected("',' or ']'")
		}
	}
	return true, nil
}

// name takes the name of a member, the colon, and the white space around it.
func (w *walker) name() error {
	if !w.s.At('"') {
		return w.s.Unexpected("a name in quotes")
	}
	if _, err := w.s.SkipString(); err != nil {
		return err
	}
	if w.space() != ':' {
		return w.s.Unexpected("':'")
	}
	w.s.Pos++
	w.space()
	return nil
}

// space skips white space and notes that there was some.
func (w *walker) space() byte {
	before := w.s.Pos
	c := w.s.Space()
	w.spaced = w.spaced || w.s.Pos != before
	return c
}
