package conform

import (
	"bytes"
	"hash/maphash"
	"slices"
	"unicode/utf8"
)

// verdict is what the single pass says of a value.
type verdict uint8

const (
	accepted verdict = iota
	refused
	// unsure leaves the answer to the library.
	unsure
	// exhausted is that the schema looks at the same bytes too often.
	exhausted
)

const (
	jsonDepth = 1000
	// inPlace bounds how many schemas are applied to one value through each other.
	inPlace = 50
	// jsonSteps and jsonStepsPerByte bound the schemas that are applied to the values of a text.
	jsonSteps        = 10_000
	jsonStepsPerByte = 64
	// maxNames is how many names of an object are remembered where one that comes twice would matter.
	maxNames = 32
)

// jsonWalk goes over the bytes of a JSON text once for each schema that applies to them.
type jsonWalk struct {
	buf   []byte
	at    int
	steps int
	depth int
	// strict says that a refusal has to be certain, because it makes another schema accept.
	strict int
	seed   maphash.Seed
}

// document walks the whole text.
func (w *jsonWalk) document(n *jsonNode) verdict {
	w.space()
	if v := w.value(n, 0); v != accepted {
		return v
	}
	w.space()
	if w.at < len(w.buf) {
		return refused
	}
	return accepted
}

func (w *jsonWalk) space() {
	for w.at < len(w.buf) {
		switch w.buf[w.at] {
		case ' ', '\t', '\n', '\r':
			w.at++
		default:
			return
		}
	}
}

// next answers the next byte without taking it, 0 at the end.
func (w *jsonWalk) next() byte {
	if w.at < len(w.buf) {
		return w.buf[w.at]
	}
	return 0
}

// value walks the value at hand, and is behind it when it is accepted.
func (w *jsonWalk) value(n *jsonNode, applied int) verdict {
	if w.steps--; w.steps < 0 {
		return exhausted
	}
	if n.anything {
		return w.skip()
	}
	if n.nothing {
		return refused
	}
	if applied > inPlace {
		return unsure
	}
	from := w.at
	if v := w.self(n); v != accepted {
		return v
	}
	if n.all == nil && n.any == nil && n.one == nil && n.not == nil && n.test == nil {
		return accepted
	}
	end := w.at
	v := w.combined(n, from, applied+1)
	w.at = end
	return v
}

// self holds a value against what a schema says itself.
func (w *jsonWalk) self(n *jsonNode) verdict {
	switch c := w.next(); {
	case c == '{':
		if v := n.admits(typeObject); v != accepted {
			return v
		}
		return w.nested(n, true)
	case c == '[':
		if v := n.admits(typeArray); v != accepted {
			return v
		}
		return w.nested(n, false)
	case c == '"':
		if v := n.admits(typeString); v != accepted {
			return v
		}
		return w.text(n)
	case c == '-' || c >= '0' && c <= '9':
		return w.number(n)
	case c == 't':
		return w.word(n, "true", typeBoolean)
	case c == 'f':
		return w.word(n, "false", typeBoolean)
	case c == 'n':
		return w.word(n, "null", typeNull)
	}
	return refused
}

func (n *jsonNode) admits(t jsonType) verdict {
	if n.ask&t != 0 {
		return unsure
	}
	if n.types != 0 && n.types&t == 0 {
		return refused
	}
	for i := range n.choices {
		if t == typeObject || t == typeArray {
			if n.choices[i].structured {
				return unsure
			}
			return refused
		}
	}
	return accepted
}

func (w *jsonWalk) word(n *jsonNode, word string, t jsonType) verdict {
	if !bytes.HasPrefix(w.buf[w.at:], []byte(word)) {
		return refused
	}
	w.at += len(word)
	for i := range n.choices {
		c := &n.choices[i]
		if word == "true" && !c.yes || word == "false" && !c.no || word == "null" && !c.null {
			return refused
		}
	}
	return n.admits(t)
}

// nested walks an object or an array.
func (w *jsonWalk) nested(n *jsonNode, object bool) verdict {
	if w.depth++; w.depth > jsonDepth {
		return unsure
	}
	var v verdict
	if object {
		v = w.object(n)
	} else {
		v = w.array(n)
	}
	w.depth--
	return v
}

func (w *jsonWalk) array(n *jsonNode) verdict {
	w.at++
	w.space()
	count := 0
	if w.next() == ']' {
		w.at++
		return n.holdsItems(count)
	}
	for {
		item := n.rest
		if count < len(n.prefix) {
			item = n.prefix[count]
		}
		w.space()
		if v := w.inside(item); v != accepted {
			return v
		}
		count++
		if done, ok := w.separator(']'); !ok {
			return refused
		} else if done {
			return n.holdsItems(count)
		}
	}
}

func (n *jsonNode) holdsItems(count int) verdict {
	if n.minItems >= 0 && count < n.minItems || n.maxItems >= 0 && count > n.maxItems {
		return refused
	}
	return accepted
}

// inside walks a value that a schema applies to, or none.
func (w *jsonWalk) inside(n *jsonNode) verdict {
	if n == nil {
		return w.skip()
	}
	return w.value(n, 0)
}

// separator takes what follows an item or a member and says whether it was the end.
func (w *jsonWalk) separator(end byte) (done, ok bool) {
	w.space()
	switch w.next() {
	case ',':
		w.at++
		return false, true
	case end:
		w.at++
		return true, true
	}
	return false, false
}

// members is what is known of an object on the way through it.
type members struct {
	seen  uint64
	count int
	// names are the hashes of names that have no bit; only kept where a name that comes twice would matter.
	names [maxNames]uint64
	kept  int
}

// unconstrainedObject says nothing of its members.
var unconstrainedObject = &jsonObject{most: -1}

func (w *jsonWalk) object(n *jsonNode) verdict {
	o := n.object
	if o == nil {
		o = unconstrainedObject
	}
	w.at++
	w.space()
	var m members
	if w.next() == '}' {
		w.at++
		return o.holds(&m)
	}
	for {
		w.space()
		v, from := w.member(o, &m)
		if v == refused && w.strict > 0 && from > 0 {
			return w.certain(o, &m, from)
		}
		if v != accepted {
			return v
		}
		if done, ok := w.separator('}'); !ok {
			return refused
		} else if done {
			return o.holds(&m)
		}
	}
}

// certain says whether the refusal of the member whose value begins at from is certain: it is unless a later member has the
// name of an earlier one and takes its place.
func (w *jsonWalk) certain(o *jsonObject, m *members, from int) verdict {
	w.at = from
	for {
		if w.skip() != accepted {
			return refused
		}
		if done, ok := w.separator('}'); !ok || done {
			w.steps -= (w.at - from) / jsonStepsPerByte
			return refused
		}
		w.space()
		name, escaped, ok := w.string()
		if !ok {
			return refused
		}
		p := o.properties[string(name)]
		if escaped || !w.first(m, p, name) {
			return unsure
		}
		if p != nil {
			m.seen |= p.bit
		}
		w.space()
		if w.next() != ':' {
			return refused
		}
		w.at++
		w.space()
	}
}

func (o *jsonObject) holds(m *members) verdict {
	if o.required&^m.seen != 0 || m.count < o.least || o.most >= 0 && m.count > o.most {
		return refused
	}
	return accepted
}

// member walks a member and answers where its value begins, 0 where it has none.
func (w *jsonWalk) member(o *jsonObject, m *members) (v verdict, from int) {
	name, escaped, ok := w.string()
	if !ok {
		return refused, 0
	}
	if escaped && o != unconstrainedObject {
		return unsure, 0
	}
	w.space()
	if w.next() != ':' {
		return refused, 0
	}
	w.at++
	w.space()
	m.count++
	p := o.properties[string(name)]
	if o != unconstrainedObject && (w.strict > 0 || o.least > 0) {
		if !w.first(m, p, name) {
			return unsure, 0
		}
	}
	if p != nil {
		m.seen |= p.bit
	}
	from = w.at
	return w.property(o, p, name), from
}

// first says that a name has certainly not been there before. Of members with one name only the last one counts, which the
// pass does not know when it comes to the first.
func (w *jsonWalk) first(m *members, p *jsonProperty, name []byte) bool {
	if p != nil && p.bit != 0 {
		return m.seen&p.bit == 0
	}
	if m.kept == maxNames {
		return false
	}
	if w.seed == (maphash.Seed{}) {
		w.seed = maphash.MakeSeed()
	}
	h := maphash.Bytes(w.seed, name)
	if slices.Contains(m.names[:m.kept], h) {
		return false
	}
	m.names[m.kept] = h
	m.kept++
	return true
}

// property walks the value of a member with every schema that applies to it.
func (w *jsonWalk) property(o *jsonObject, p *jsonProperty, name []byte) verdict {
	if len(o.patterns) > 0 {
		return w.patterned(o, p, name)
	}
	if p != nil && p.node != nil {
		return w.value(p.node, 0)
	}
	return w.inside(o.additional)
}

func (w *jsonWalk) patterned(o *jsonObject, p *jsonProperty, name []byte) verdict {
	from, applied := w.at, false
	if p != nil && p.node != nil {
		applied = true
		if v := w.value(p.node, 0); v != accepted {
			return v
		}
	}
	for i := range o.patterns {
		if !o.patterns[i].re.Match(name) {
			continue
		}
		w.at, applied = from, true
		if v := w.value(o.patterns[i].node, 0); v != accepted {
			return v
		}
	}
	if applied {
		return accepted
	}
	return w.inside(o.additional)
}

// combined holds the value that begins at from, and is well-formed, against the schemas that a schema combines.
func (w *jsonWalk) combined(n *jsonNode, from, applied int) verdict {
	for _, s := range n.all {
		w.at = from
		if v := w.value(s, applied); v != accepted {
			return v
		}
	}
	w.strict++
	defer func() { w.strict-- }()
	if v := w.choose(n, from, applied); v != accepted {
		return v
	}
	if n.test == nil {
		return accepted
	}
	branch := n.then
	switch v := w.try(n.test, from, applied); v {
	case accepted:
	case refused:
		branch = n.other
	default:
		return v
	}
	if branch == nil {
		return accepted
	}
	return w.try(branch, from, applied)
}

// choose holds a value against not, anyOf and oneOf.
func (w *jsonWalk) choose(n *jsonNode, from, applied int) verdict {
	if n.not != nil {
		switch v := w.try(n.not, from, applied); v {
		case accepted:
			return refused
		case refused:
		default:
			return v
		}
	}
	if v := w.count(n.any, 1, from, applied); v != accepted {
		return v
	}
	return w.count(n.one, 2, from, applied)
}

// count wants one schema that accepts; with an enough of two it wants no second one.
func (w *jsonWalk) count(schemas []*jsonNode, enough, from, applied int) verdict {
	if schemas == nil {
		return accepted
	}
	found := 0
	for _, s := range schemas {
		switch v := w.try(s, from, applied); v {
		case accepted:
			if found++; found == enough {
				if enough == 1 {
					return accepted
				}
				return refused
			}
		case refused:
		default:
			return v
		}
	}
	if found == 0 {
		return refused
	}
	return accepted
}

// try walks the value at from once more.
func (w *jsonWalk) try(n *jsonNode, from, applied int) verdict {
	depth := w.depth
	w.at = from
	v := w.value(n, applied)
	w.depth = depth
	return v
}

func (w *jsonWalk) number(n *jsonNode) verdict {
	text, plain, v := w.digits()
	if v != accepted {
		return v
	}
	if n.ask&typeNumber != 0 {
		return unsure
	}
	if n.types != 0 && n.types&(typeNumber|typeInteger) == 0 {
		return refused
	}
	whole := n.types&typeInteger != 0 && n.types&typeNumber == 0
	if n.bounds == nil && n.multipleOf == nil && n.choices == nil && (!whole || plain) {
		return accepted
	}
	number, ok := parseNumber(text)
	if !ok {
		return unsure
	}
	return n.holdsNumber(number, whole)
}

// longest is how many characters a number has that the pass looks at, longestExponent how many digits its exponent has: all those
// are within the library's limits but for exponents beyond maxExponent.
const longest, longestExponent = 64, 4

func (n *jsonNode) holdsNumber(number jsonNumber, whole bool) verdict {
	if whole && !number.isInteger() {
		return refused
	}
	for i := range n.bounds {
		if !n.bounds[i].holds(number) {
			return refused
		}
	}
	if n.multipleOf != nil && !number.multipleOf(*n.multipleOf) {
		return refused
	}
	for i := range n.choices {
		among := slices.ContainsFunc(n.choices[i].numbers, func(c jsonNumber) bool { return c.compare(number) == 0 })
		switch {
		case among:
		case n.choices[i].unreadable:
			return unsure
		default:
			return refused
		}
	}
	return accepted
}

// digits takes a number and says whether it has neither fraction nor exponent. It is unsure of long ones, which the library
// bounds.
func (w *jsonWalk) digits() (text []byte, plain bool, v verdict) {
	from := w.at
	if w.next() == '-' {
		w.at++
	}
	first := w.next()
	whole := w.run()
	if whole == 0 || whole > 1 && first == '0' {
		return nil, false, refused
	}
	plain = true
	if w.next() == '.' {
		plain = false
		w.at++
		if w.run() == 0 {
			return nil, false, refused
		}
	}
	exponent := 0
	if c := w.next(); c == 'e' || c == 'E' {
		plain = false
		w.at++
		if c := w.next(); c == '+' || c == '-' {
			w.at++
		}
		if exponent = w.run(); exponent == 0 {
			return nil, false, refused
		}
	}
	if exponent > longestExponent || w.at-from > longest || exponent > 2 && exponentAt(w.buf, w.at-exponent) > maxExponent {
		return nil, false, unsure
	}
	return w.buf[from:w.at], plain, accepted
}

func (w *jsonWalk) run() int {
	from := w.at
	for w.at < len(w.buf) && w.buf[w.at]-'0' <= 9 {
		w.at++
	}
	return w.at - from
}

func (w *jsonWalk) text(n *jsonNode) verdict {
	content, escaped, ok := w.string()
	if !ok {
		return refused
	}
	if n.minLength < 0 && n.maxLength < 0 && n.pattern == nil && n.format == nil && n.choices == nil {
		return accepted
	}
	if escaped {
		return n.holdsEscaped(content)
	}
	return n.holdsText(content)
}

func (n *jsonNode) holdsEscaped(content []byte) verdict {
	var room [128]byte
	plain, ok := unescape(room[:0], content)
	if !ok {
		return unsure
	}
	return n.holdsText(plain)
}

func (n *jsonNode) holdsText(content []byte) verdict {
	if n.minLength >= 0 || n.maxLength >= 0 {
		length := utf8.RuneCount(content)
		if length < n.minLength || n.maxLength >= 0 && length > n.maxLength {
			return refused
		}
	}
	if n.pattern != nil && !n.pattern.Match(content) {
		return refused
	}
	for i := range n.choices {
		if !n.choices[i].strings[string(content)] {
			return refused
		}
	}
	if n.format != nil && n.format(string(content)) != nil {
		return refused
	}
	return accepted
}
