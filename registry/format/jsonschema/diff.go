package jsonschema

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"moldau/registry/format"
)

const (
	// maxDiffDepth bounds how many pairs of schemas are compared within each other.
	maxDiffDepth = 5_000
	// maxDifferences bounds the differences kept for a pair, maxKept those for all pairs, maxPairs the pairs.
	maxDifferences, maxKept, maxPairs = 1_000, 200_000, 1_000_000
	// askEvery is how many pairs are compared between two looks at the context.
	askEvery = 64
)

// difference is a change at a path, which begins with #.
type difference struct {
	change Change
	path   string
}

// pair is what the writer wrote with and what the reader reads with, at the same place.
type pair struct{ writer, reader *node }

// outcome is what comparing a pair has found. Paths begin at the pair.
type outcome struct {
	differences  []difference
	incompatible bool
}

// equivalent is the outcome of most pairs.
var equivalent = &outcome{}

// compare answers the differences between two schemas, those that are not allowed or, with all, all of them.
//
// A cycle of references leads to a pair that is already being compared. It is taken for compatible, which holds when
// nothing else is found; where it does not hold, whatever was concluded from it may be wrong. So pairs found incompatible
// are remembered and everything is compared again, until a pass finds no further one. Their number is bounded.
func (f *Format) compare(ctx context.Context, writer, reader *Schema, policy format.Policy, all bool) (found []difference, err error) {
	ctx, cancel := context.WithTimeout(ctx, f.limits.CheckTime)
	defer cancel()
	defer recoverMatch(&err)
	known := make(map[pair]*outcome)
	for {
		d := &differ{
			ctx: ctx, policy: policy, all: all, documents: map[*graph]*documents{
				writer.graph.graph: writer.documents, reader.graph.graph: reader.documents,
			},
			index: make(memberIndex), done: make(map[pair]*outcome), known: known, busy: make(map[pair]bool),
		}
		s := &scope{differ: d}
		s.compare(writer.graph, reader.graph)
		if d.err != nil {
			return nil, fmt.Errorf("compare JSON schemas: %w", d.err)
		}
		incompatible := d.incompatible()
		if !d.assumed || len(incompatible) == len(known) {
			return s.differences, nil
		}
		known = incompatible
	}
}

// differ compares one pair of schemas in one pass.
type differ struct {
	ctx       context.Context
	policy    format.Policy
	all       bool
	documents map[*graph]*documents
	index     memberIndex
	// done is the pairs of this pass, known the incompatible ones of the passes before, busy those on the way to the
	// current one.
	done, known map[pair]*outcome
	busy        map[pair]bool
	// assumed says that a pair was taken for compatible because it was busy.
	assumed bool
	steps   int
	kept    int
	err     error
}

func (d *differ) incompatible() map[pair]*outcome {
	found := maps.Clone(d.known)
	for p, o := range d.done {
		if o.incompatible {
			found[p] = o
		}
	}
	return found
}

func (d *differ) allows(c Change) bool {
	return allowed[c] || d.policy == format.Lenient && allowedLeniently[c]
}

// proceed counts a step and says whether there is time for it.
func (d *differ) proceed() bool {
	if d.err != nil {
		return false
	}
	d.steps++
	if d.steps%askEvery == 1 {
		d.err = d.ctx.Err()
	}
	if errors.Is(d.err, context.DeadlineExceeded) {
		d.err = fmt.Errorf("%w: comparing takes too long: %w", format.ErrTooLarge, d.err)
	}
	if d.err == nil && len(d.done) >= maxPairs {
		d.err = fmt.Errorf("%w: more than %d pairs of schemas are to be compared", format.ErrTooLarge, maxPairs)
	}
	if d.err == nil && len(d.busy) > maxDiffDepth {
		d.err = fmt.Errorf("%w: more than %d schemas are compared within each other", format.ErrTooLarge, maxDiffDepth)
	}
	return d.err == nil
}

// outcome compares a pair, or answers what is known of it.
func (d *differ) outcome(p pair) *outcome {
	if o, ok := d.done[p]; ok {
		return o
	}
	if d.busy[p] {
		if o, ok := d.known[p]; ok {
			return o
		}
		d.assumed = true
		return equivalent
	}
	if !d.proceed() {
		return equivalent
	}
	d.busy[p] = true
	s := &scope{differ: d}
	s.kinds(p.writer, p.reader)
	delete(d.busy, p)
	d.kept += len(s.differences)
	if d.kept > maxKept && d.err == nil {
		d.err = fmt.Errorf("%w: more than %d differences", format.ErrTooLarge, maxKept)
	}
	o := equivalent
	if len(s.differences) > 0 {
		o = &outcome{s.differences, s.incompatible}
	}
	d.done[p] = o
	return o
}

// scope collects the differences below a path.
type scope struct {
	*differ
	path         []string
	differences  []difference
	incompatible bool
}

// within runs something with a longer path.
func (s *scope) within(token string, do func()) {
	s.path = append(s.path, token)
	do()
	s.path = s.path[:len(s.path)-1]
}

// add notes a change at the path and, where there is one, the keyword behind it.
func (s *scope) add(c Change, keyword ...string) {
	s.note(difference{c, "#/" + strings.Join(append(slices.Clone(s.path), keyword...), "/")})
}

func (s *scope) note(d difference) {
	if !s.allows(d.change) {
		s.incompatible = true
	} else if !s.all {
		return
	}
	if len(s.differences) < maxDifferences {
		s.differences = append(s.differences, d)
	}
}

// adopt takes over what was found for a pair that is at the path.
func (s *scope) adopt(o *outcome) {
	s.incompatible = s.incompatible || o.incompatible
	prefix := "#/" + strings.Join(s.path, "/")
	for _, d := range o.differences {
		if below := strings.TrimPrefix(d.path, "#/"); below == "" {
			d.path = prefix
		} else if len(s.path) > 0 {
			d.path = prefix + "/" + below
		}
		s.note(d)
	}
}

// compare notes the differences between what is at the path for the writer and for the reader. A reader's schema that
// accepts everything is as good as none.
func (s *scope) compare(writer, reader *node) {
	switch {
	case writer == nil && reader == nil:
	case writer == nil:
		if reader.kind != emptyKind {
			s.add(SchemaAdded)
		}
	case reader == nil:
		s.add(SchemaRemoved)
	default:
		s.adopt(s.outcome(pair{writer, reader}))
	}
}

// try compares a pair and takes the outcome over only where it is compatible.
func (s *scope) try(writer, reader *node) bool {
	o := s.outcome(pair{writer, reader})
	if o.incompatible || s.err != nil {
		return false
	}
	s.adopt(o)
	return true
}

// kinds compares two nodes, the one with branches and the other without first.
func (s *scope) kinds(writer, reader *node) {
	switch {
	case writer.kind != combinedKind && reader.kind == combinedKind && s.wrapped(writer, reader):
		return
	case writer.kind == combinedKind && reader.kind != combinedKind && s.unwrapped(writer, reader):
		return
	case writer.kind != reader.kind:
		if writer.kind != falseKind && reader.kind != emptyKind && !(s.isBytes(writer) && s.isBytes(reader)) {
			s.add(TypeChanged)
		}
		return
	}
	s.annotations(writer, reader)
	switch writer.kind {
	case stringKind:
		s.strings(writer.rules, reader.rules)
	case numberKind:
		s.numbers(writer, reader)
	case objectKind:
		s.objects(writer, reader)
	case arrayKind:
		s.arrays(writer, reader)
	case enumKind:
		s.enums(writer.rules.Enum.Values, reader.rules.Enum.Values)
	case constKind:
		if !equalValues(*writer.rules.Const, *reader.rules.Const) {
			s.add(EnumArrayChanged, "const")
		}
	case notKind:
		s.nots(writer, reader)
	case combinedKind:
		s.combined(writer, reader)
	default: // the other kinds have nothing of their own to compare
	}
}

// isBytes says whether a schema is that of bytes by the name which Kafka Connect's converter gives types. Its decimals
// changed their JSON type once, and are the same type all the same.
func (s *scope) isBytes(n *node) bool {
	if n.schema == nil {
		return false
	}
	name, _ := s.documents[n.graph].at(n.schema.Location, s.index).get("connect.type").characters()
	return name == "bytes"
}

func (s *scope) annotations(writer, reader *node) {
	if !s.all || writer.schema == nil || reader.schema == nil {
		return // all of them are allowed
	}
	w, r := writer.schema, reader.schema
	if w.ID != r.ID {
		s.add(IDChanged)
	}
	if w.Title != r.Title {
		s.add(TitleChanged)
	}
	if w.Description != r.Description {
		s.add(DescriptionChanged)
	}
	if (w.Default == nil) != (r.Default == nil) || w.Default != nil && !equalValues(*w.Default, *r.Default) {
		s.add(DefaultChanged)
	}
}

// nots compares what must not match the other way round: a reader may exclude less than the writer does.
func (s *scope) nots(writer, reader *node) {
	change := NotTypeNarrowed
	if s.outcome(pair{reader.inner, writer.inner}).incompatible {
		change = NotTypeExtended
	}
	s.add(change, "not")
}

func (s *scope) enums(writer, reader []any) {
	narrowed, extended := !containsAll(reader, writer), !containsAll(writer, reader)
	switch {
	case narrowed && extended:
		s.add(EnumArrayChanged, "enum")
	case narrowed:
		s.add(EnumArrayNarrowed, "enum")
	case extended:
		s.add(EnumArrayExtended, "enum")
	}
}
