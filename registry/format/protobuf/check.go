package protobuf

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"moldau/registry/format"
)

// The kinds of incompatibility.
const (
	packageChanged      = "PACKAGE_CHANGED"
	messageRemoved      = "MESSAGE_REMOVED"
	fieldKindChanged    = "FIELD_KIND_CHANGED"
	scalarKindChanged   = "FIELD_SCALAR_KIND_CHANGED"
	namedTypeChanged    = "FIELD_NAMED_TYPE_CHANGED"
	numericLabelChanged = "FIELD_NUMERIC_LABEL_CHANGED"
	requiredAdded       = "REQUIRED_FIELD_ADDED"
	requiredRemoved     = "REQUIRED_FIELD_REMOVED"
	oneofFieldRemoved   = "ONEOF_FIELD_REMOVED"
	manyMovedToOneof    = "MULTIPLE_FIELDS_MOVED_TO_ONEOF"
	oneMovedToOneof     = "FIELD_MOVED_TO_EXISTING_ONEOF"
)

const (
	// maxPairs bounds the pairs of messages that one check compares, maxFindings what it reports, maxCheckDepth how deeply
	// it goes.
	maxPairs      = 100_000
	maxFindings   = 1_000
	maxCheckDepth = 1_000
)

// findings are what stands in the way. One that is met on several ways is one pointer.
type findings []*format.Incompatibility

// with adds findings, as many as are worth reporting.
func (f findings) with(more findings) findings {
	return append(f, more[:min(len(more), max(0, maxFindings-len(f)))]...)
}

type pair struct {
	r, w protoreflect.MessageDescriptor
}

// checker compares what a writer's file says with what a reader's says, message by message. Messages of one file are
// compared where they stand; those of imported files where a field leads to them.
type checker struct {
	ctx            context.Context
	reader, writer string // what the sentences call the two
	rRoot, wRoot   protoreflect.FileDescriptor
	// known are the findings of imported messages; while a pair is being compared it has none.
	known map[pair]findings
	pairs int
	depth int
}

func check(ctx context.Context, r, w *Schema, o format.CheckOptions) ([]format.Incompatibility, error) {
	c := &checker{ctx: ctx, rRoot: r.unit.linked, wRoot: w.unit.linked, known: map[pair]findings{}}
	c.reader, c.writer = o.Labels()
	var all findings
	if c.rRoot.Package() != c.wRoot.Package() {
		all = c.found(packageChanged, nil, "The package is %q in the %s schema and %q in the %s schema",
			c.rRoot.Package(), c.reader, c.wRoot.Package(), c.writer)
	}
	found, err := c.types(nil, c.rRoot.Messages(), c.wRoot.Messages())
	if err != nil {
		return nil, err
	}
	all = all.with(found)
	list := make([]format.Incompatibility, len(all))
	for i, f := range all {
		list[i] = *f
	}
	return distinct(list), nil
}

// distinct keeps the first of those that are equal, in a list of its own.
func distinct[T comparable](list []T) []T {
	seen := make(map[T]bool, len(list))
	return slices.DeleteFunc(slices.Clone(list), func(x T) bool {
		again := seen[x]
		seen[x] = true
		return again
	})
}

// types compares the messages of a file, or those inside a message.
func (c *checker) types(path []string, r, w protoreflect.MessageDescriptors) (findings, error) {
	var all findings
	for i := range w.Len() {
		wm := w.Get(i)
		if wm.IsMapEntry() || isGroup(wm) {
			continue
		}
		at := below(path, string(wm.Name()))
		rm := r.ByName(wm.Name())
		if rm == nil {
			all = all.with(c.found(messageRemoved, at, "The %s schema lacks message %s of the %s schema", c.reader, wm.FullName(), c.writer))
			continue
		}
		found, err := c.message(at, rm, wm)
		if err != nil {
			return nil, err
		}
		all = all.with(found)
	}
	return all, nil
}

// isGroup says whether a message is the type of a group, which goes with its field.
func isGroup(m protoreflect.MessageDescriptor) bool {
	parent, ok := m.Parent().(protoreflect.MessageDescriptor)
	if !ok {
		return false
	}
	for i := range parent.Fields().Len() {
		if f := parent.Fields().Get(i); f.Kind() == protoreflect.GroupKind && f.Message() == m {
			return true
		}
	}
	return false
}

func (c *checker) message(path []string, r, w protoreflect.MessageDescriptor) (findings, error) {
	if c.pairs++; c.pairs > maxPairs || c.depth > maxCheckDepth {
		return nil, fmt.Errorf("%w: too many pairs of messages to compare", format.ErrTooLarge)
	}
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	c.depth++
	defer func() { c.depth-- }()
	all := c.moves(path, r, w)
	found, err := c.fields(path, r, w)
	if err != nil {
		return nil, err
	}
	all = all.with(found)
	if found, err = c.types(path, r.Messages(), w.Messages()); err != nil {
		return nil, err
	}
	return all.with(found), nil
}

// imported compares two messages that a field leads to; they are reported by their own names.
func (c *checker) imported(r, w protoreflect.MessageDescriptor) (findings, error) {
	p := pair{r, w}
	if known, ok := c.known[p]; ok {
		return known, nil
	}
	c.known[p] = nil
	found, err := c.message(strings.Split(localName(w), "."), r, w)
	found = distinct(found)
	c.known[p] = found
	return found, err
}

// localName is the full name without the package.
func localName(m protoreflect.MessageDescriptor) string {
	return strings.TrimPrefix(strings.TrimPrefix(string(m.FullName()), string(m.ParentFile().Package())), ".")
}

// fields compares what stands under each number.
func (c *checker) fields(path []string, r, w protoreflect.MessageDescriptor) (findings, error) {
	var all findings
	for _, n := range fieldNumbers(r, w) {
		rf, wf := r.Fields().ByNumber(n), w.Fields().ByNumber(n)
		at := below(path, itoa(int32(n)))
		if rf == nil {
			all = all.with(c.removed(path, at, r, wf))
			continue
		}
		if wf == nil {
			if rf.Cardinality() == protoreflect.Required {
				all = all.with(c.found(requiredAdded, at, "The required field %s of the %s schema is not in the %s schema", rf.Name(), c.reader, c.writer))
			}
			continue
		}
		if o := oneofOf(rf); o != nil {
			at = below(path, string(o.Name()), itoa(int32(n)))
		}
		found, err := c.field(at, rf, wf)
		if err != nil {
			return nil, err
		}
		all = all.with(found)
	}
	return all, nil
}

func fieldNumbers(r, w protoreflect.MessageDescriptor) []protoreflect.FieldNumber {
	var all []protoreflect.FieldNumber
	for _, fields := range []protoreflect.FieldDescriptors{r.Fields(), w.Fields()} {
		for i := range fields.Len() {
			all = append(all, fields.Get(i).Number())
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// removed judges a field of the writer's that the reader lacks. One of a oneof leaves a hole in it, unless nothing of the
// oneof is left.
func (c *checker) removed(path, at []string, r protoreflect.MessageDescriptor, wf protoreflect.FieldDescriptor) findings {
	o := oneofOf(wf)
	switch {
	case o != nil && !gone(o, r):
		return c.found(oneofFieldRemoved, below(path, string(o.Name()), itoa(int32(wf.Number()))),
			"The %s schema lacks field %s in oneof %s of the %s schema", c.reader, wf.Name(), o.Name(), c.writer)
	case o == nil && wf.Cardinality() == protoreflect.Required:
		return c.found(requiredRemoved, at, "The %s schema lacks the required field %s of the %s schema", c.reader, wf.Name(), c.writer)
	}
	return nil
}

// gone says whether a message has neither a oneof of this name nor any of its fields.
func gone(o protoreflect.OneofDescriptor, r protoreflect.MessageDescriptor) bool {
	if ro := r.Oneofs().ByName(o.Name()); ro != nil && !ro.IsSynthetic() {
		return false
	}
	for i := range o.Fields().Len() {
		if r.Fields().ByNumber(o.Fields().Get(i).Number()) != nil {
			return false
		}
	}
	return true
}

// oneofOf answers the oneof that a field is in, if the text has it.
func oneofOf(f protoreflect.FieldDescriptor) protoreflect.OneofDescriptor {
	if o := f.ContainingOneof(); o != nil && !o.IsSynthetic() {
		return o
	}
	return nil
}

// moves looks for fields that exclude each other now and did not before: those of a oneof of the reader's that come from
// more than one place.
func (c *checker) moves(path []string, r, w protoreflect.MessageDescriptor) findings {
	var all findings
	for i := range r.Oneofs().Len() {
		o := r.Oneofs().Get(i)
		if o.IsSynthetic() {
			continue
		}
		origins, free := map[string]bool{}, 0
		for j := range o.Fields().Len() {
			wf := w.Fields().ByNumber(o.Fields().Get(j).Number())
			switch {
			case wf == nil:
			case oneofOf(wf) != nil:
				origins[string(oneofOf(wf).Name())] = true
			default:
				origins["/"+itoa(int32(wf.Number()))] = true
				free++
			}
		}
		at := below(path, string(o.Name()))
		switch {
		case len(origins) <= 1:
		case free > 1:
			all = all.with(c.found(manyMovedToOneof, at, "Several fields of oneof %s in the %s schema stand on their own in the %s schema", o.Name(), c.reader, c.writer))
		default:
			all = all.with(c.found(oneMovedToOneof, at, "A field of oneof %s in the %s schema stands elsewhere in the %s schema", o.Name(), c.reader, c.writer))
		}
	}
	return all
}

func below(path []string, steps ...string) []string {
	return append(slices.Clone(path), steps...)
}

func (c *checker) found(kind string, at []string, sentence string, args ...any) findings {
	path := "#/" + strings.Join(at, "/")
	return findings{&format.Incompatibility{Type: kind, Path: path, Description: fmt.Sprintf(sentence, args...) + " (path '" + path + "')"}}
}
