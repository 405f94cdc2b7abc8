package avro

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"moldau/registry/format"
)

// The kinds of incompatibility.
const (
	nameMismatch   = "NAME_MISMATCH"
	sizeMismatch   = "FIXED_SIZE_MISMATCH"
	missingSymbols = "MISSING_ENUM_SYMBOLS"
	missingDefault = "READER_FIELD_MISSING_DEFAULT_VALUE"
	typeMismatch   = "TYPE_MISMATCH"
	missingBranch  = "MISSING_UNION_BRANCH"
	ambiguousField = "READER_FIELD_AMBIGUOUS"
)

const (
	// maxPairs bounds the pairs of types that one check compares, maxFindings what it reports, maxCheckDepth how deeply
	// it goes.
	maxPairs      = 200_000
	maxFindings   = 1_000
	maxCheckDepth = 1_000
)

// promotions are the types whose values a reader's type takes as its own.
var promotions = map[kind][]kind{
	kindLong:   {kindInt},
	kindFloat:  {kindInt, kindLong},
	kindDouble: {kindInt, kindLong, kindFloat},
	kindBytes:  {kindString},
	kindString: {kindBytes},
}

// findings are what stands in the way. One that is met on several ways is one pointer.
type findings []*format.Incompatibility

// with adds findings, as many as are worth reporting.
func (f findings) with(more findings) findings {
	return append(f, more[:min(len(more), max(0, maxFindings-len(f)))]...)
}

// checker resolves a writer's types with a reader's. Every pair is judged once; a pair that is met again while it is being
// judged is no obstacle in itself.
type checker struct {
	ctx            context.Context
	reader, writer string // what the sentences call the two
	known          map[pair]findings
	depth          int
	path           []string
}

// check resolves the writer's schema with the reader's. A schema can always read itself, even where its aliases would
// otherwise be ambiguous.
func check(ctx context.Context, reader, writer *node, o format.CheckOptions) ([]format.Incompatibility, error) {
	if (&comparison{}).same(reader, writer) {
		return nil, nil
	}
	c := &checker{ctx: ctx, known: map[pair]findings{}}
	c.reader, c.writer = o.Labels()
	found, err := c.resolve(reader, writer)
	if err != nil {
		return nil, err
	}
	all := make([]format.Incompatibility, len(found))
	for i, f := range found {
		all[i] = *f
	}
	return distinct(all), nil
}

// at goes one step down the path for the length of a call.
func (c *checker) at(step string, do func() (findings, error)) (findings, error) {
	c.path = append(c.path, step)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	return do()
}

func (c *checker) resolve(r, w *node) (findings, error) {
	if r == w {
		return nil, nil
	}
	p := pair{r, w}
	if known, ok := c.known[p]; ok {
		return known, nil
	}
	if len(c.known) >= maxPairs || c.depth >= maxCheckDepth {
		return nil, fmt.Errorf("%w: too many pairs of types to compare", format.ErrTooLarge)
	}
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	c.known[p] = nil
	c.depth++
	found, err := c.judge(r, w)
	if len(found) > 1 {
		found = distinct(slices.Clone(found))
	}
	c.depth--
	c.known[p] = found
	return found, err
}

// within resolves with a path of its own, for branches whose obstacles are not reported one by one.
func (c *checker) within(r, w *node) (findings, error) {
	outer := c.path
	c.path = nil
	found, err := c.resolve(r, w)
	c.path = outer
	return found, err
}

func (c *checker) judge(r, w *node) (findings, error) {
	switch {
	case w.kind == kindUnion && r.kind == kindUnion:
		return c.unions(r, w)
	case w.kind == kindUnion:
		return c.branches(r, w)
	case r.kind == kindUnion:
		return c.choose(r, w)
	case r.kind != w.kind:
		if slices.Contains(promotions[r.kind], w.kind) {
			return nil, nil
		}
		return c.found(typeMismatch, "reader type: "+upper(r)+", writer type: "+upper(w),
			"The %s schema has %s where the %s schema has %s", c.reader, article(r.kind), c.writer, article(w.kind)), nil
	}
	switch r.kind {
	case kindArray:
		return c.at("items", func() (findings, error) { return c.resolve(r.items, w.items) })
	case kindMap:
		return c.at("values", func() (findings, error) { return c.resolve(r.items, w.items) })
	case kindFixed:
		return append(c.names(r, w), c.sizes(r, w)...), nil
	case kindEnum:
		return append(c.names(r, w), c.symbols(r, w)...), nil
	case kindRecord:
		return c.records(r, w)
	default:
		return nil, nil
	}
}

// unions needs a branch of the reader's for every branch of the writer's.
func (c *checker) unions(r, w *node) (findings, error) {
	var all findings
	for i, b := range w.branches {
		found, err := c.within(r, b)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue
		}
		missing, err := c.at(strconv.Itoa(i), func() (findings, error) { return c.lacking(b), nil })
		if err != nil {
			return nil, err
		}
		all = all.with(missing)
	}
	return all, nil
}

// branches needs a reader that is no union to take every branch of the writer's.
func (c *checker) branches(r, w *node) (findings, error) {
	var all findings
	for i, b := range w.branches {
		found, err := c.at(strconv.Itoa(i), func() (findings, error) { return c.resolve(r, b) })
		if err != nil {
			return nil, err
		}
		all = all.with(found)
	}
	return all, nil
}

// choose needs one branch of the reader's that takes what the writer wrote.
func (c *checker) choose(r, w *node) (findings, error) {
	for _, b := range r.branches {
		found, err := c.within(b, w)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, nil
		}
	}
	return c.lacking(w), nil
}

func (c *checker) lacking(w *node) findings {
	return c.found(missingBranch, "reader union lacks writer type: "+upper(w),
		"The union in the %s schema has no branch that can take the %s type %s", c.reader, c.writer, w.fullName())
}

func (c *checker) records(r, w *node) (findings, error) {
	all := c.names(r, w)
	outer := len(c.path)
	defer func() { c.path = c.path[:outer] }()
	c.path = append(c.path, "fields")
	for i, f := range r.fields {
		found, err := c.at(strconv.Itoa(i), func() (findings, error) { return c.field(f, w) })
		if err != nil {
			return nil, err
		}
		all = all.with(found)
	}
	return all, nil
}

func (c *checker) field(f *field, w *node) (findings, error) {
	var from *field
	for _, candidate := range append([]string{f.name}, f.aliases...) {
		g := w.byName[candidate]
		switch {
		case g == nil || g == from:
		case from != nil:
			return c.found(ambiguousField, f.name,
				"Field %q of the %s schema stands for more than one field of the %s schema", f.name, c.reader, c.writer), nil
		default:
			from = g
		}
	}
	into := func(t *node) func() (findings, error) {
		return func() (findings, error) { return c.resolve(f.typ, t) }
	}
	switch {
	case from != nil:
		return c.at("type", into(from.typ))
	case f.def != nil:
		return nil, nil
	case f.typ.kind == kindEnum && f.typ.symbolDefault != nil:
		return c.at("type", into(w))
	default:
		return c.found(missingDefault, f.name,
			"Field %q of the %s schema has no default and is not in the %s schema", f.name, c.reader, c.writer), nil
	}
}

// names wants the same simple name, or an alias of the reader's for the writer's full name.
func (c *checker) names(r, w *node) findings {
	if r.name.simple == w.name.simple {
		return nil
	}
	for _, a := range r.aliases {
		if a.listed(r.name.space) == w.name.full() {
			return nil
		}
	}
	c.path = append(c.path, "name")
	defer func() { c.path = c.path[:len(c.path)-1] }()
	return c.found(nameMismatch, "expected: "+w.name.full(),
		"The type is named %s in the %s schema and %s in the %s schema", r.name.full(), c.reader, w.name.full(), c.writer)
}

func (c *checker) sizes(r, w *node) findings {
	if r.size == w.size {
		return nil
	}
	c.path = append(c.path, "size")
	defer func() { c.path = c.path[:len(c.path)-1] }()
	return c.found(sizeMismatch, fmt.Sprintf("expected: %d, found: %d", w.size, r.size),
		"The fixed %s has %d bytes in the %s schema and %d in the %s schema", r.name.full(), r.size, c.reader, w.size, c.writer)
}

func (c *checker) symbols(r, w *node) findings {
	if r.symbolDefault != nil {
		return nil
	}
	has := make(map[string]bool, len(r.symbols))
	for _, s := range r.symbols {
		has[s] = true
	}
	var missing []string
	for _, s := range w.symbols {
		if !has[s] {
			missing = append(missing, s)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	list := "[" + strings.Join(missing, ", ") + "]"
	c.path = append(c.path, "symbols")
	defer func() { c.path = c.path[:len(c.path)-1] }()
	return c.found(missingSymbols, list,
		"The enum in the %s schema lacks the symbols %s of the %s schema and has no default", c.reader, list, c.writer)
}

func (c *checker) found(kind, additional, sentence string, args ...any) findings {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	steps := make([]string, len(c.path))
	for i, s := range c.path {
		steps[i] = escape.Replace(s)
	}
	path := "/" + strings.Join(steps, "/")
	return findings{&format.Incompatibility{
		Type: kind, Path: path, Additional: additional, Quote: "'",
		Description: fmt.Sprintf(sentence, args...) + " (path '" + path + "')",
	}}
}

func upper(n *node) string { return strings.ToUpper(string(n.kind)) }
