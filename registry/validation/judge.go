package validation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"moldau/broker/record"
	"moldau/registry/catalog"
	"moldau/registry/conform"
	"moldau/registry/format"
)

// Reasons beside those of package conform.
const (
	reasonNull        = "null"
	reasonNoID        = "no_schema_id"
	reasonUnknown     = "unknown_schema"
	reasonSubject     = "subject"
	reasonUncheckable = "uncheckable"
)

// judge judges one batch.
type judge struct {
	v       *Validator
	t       *Topic
	source  Source
	wait    *wait
	current bool // the catalog was brought up to date for this batch
	last    [2]named
	subject [2]string // of the topic's keys and values
	indexes [conform.MaxIndexes]int32
}

// named is the schema of the last key or value, which the next one most likely has too.
type named struct {
	catalog *catalog.Catalog
	id      int32
	uses    []*catalog.Schema
}

// The two parts of a record.
const (
	key = iota
	value
)

var partNames = [...]string{"key", "value"}

// failure is why a payload is refused.
type failure struct{ reason, message string }

func fail(reason, text string, args ...any) *failure {
	return &failure{reason, fmt.Sprintf(text, args...)}
}

func (j *judge) batch(batch record.Batch, d *record.Decompressor) ([]Failure, error) {
	var out []Failure
	var checked [2]int
	defer func() {
		for part, rules := range [...]Part{j.t.Key, j.t.Value} {
			if rules.Level != Off {
				j.v.metrics.checked.WithLabelValues(j.t.Name, rules.Level.String()).Add(float64(checked[part]))
			}
		}
	}()
	it := batch.Records(d)
	defer it.Close()
	for index := int32(0); it.Next(); index++ {
		r := it.Record()
		for part, rules := range [...]Part{j.t.Key, j.t.Value} {
			if rules.Level == Off {
				continue
			}
			f, err := j.part(part, rules, r)
			if err != nil {
				return nil, err
			}
			checked[part]++
			if f != nil {
				j.v.metrics.failed.WithLabelValues(j.t.Name, rules.Level.String(), f.reason).Inc()
			}
			if f != nil && len(out) < record.MaxRecordErrors && (len(out) == 0 || out[len(out)-1].Index != index) {
				out = append(out, Failure{Index: index, Reason: f.reason, Message: "The " + partNames[part] + " " + f.message})
			}
		}
	}
	return out, it.Err()
}

// part judges a key or value.
func (j *judge) part(part int, rules Part, r *record.Record) (*failure, error) {
	payload, header := r.Value, conform.ValueHeader
	if part == key {
		payload, header = r.Key, conform.KeyHeader
	}
	if payload == nil {
		if j.t.RejectNull {
			return fail(reasonNull, "is null"), nil
		}
		return nil, nil
	}
	uses, rest, f, err := j.find(part, payload, headerOf(r, header))
	if f != nil || err != nil {
		return f, err
	}
	return j.payload(part, rules, uses, rest)
}

// rest is what a payload holds behind the name of its schema.
type rest struct {
	index   []byte // the message path of Protobuf in a header; nil where it is in front of the payload
	payload []byte
	header  bool // the header named the schema, so index counts
	bare    bool // nothing did
}

// headerOf is the value of the last header of a name; nil where there is none.
func headerOf(r *record.Record, name string) []byte {
	for _, h := range slices.Backward(r.Headers) {
		if string(h.Key) == name {
			return h.Value
		}
	}
	return nil
}

// find finds the versions whose schema a payload names.
func (j *judge) find(part int, payload, header []byte) ([]*catalog.Schema, rest, *failure, error) {
	if header != nil {
		guid, index, err := conform.ParseHeader(header)
		if err != nil {
			return nil, rest{}, fail(reasonNoID, "has a schema id header that is malformed"), nil //nolint:nilerr // the producer's fault
		}
		uses, err := j.versions(func(c *catalog.Catalog) []*catalog.Schema { return c.Same(catalog.DefaultContext, guid) })
		if err == nil && len(uses) == 0 {
			return nil, rest{}, fail(reasonUnknown, "names schema %s, which the registry does not have", catalog.GUID(guid)), nil
		}
		return uses, rest{index: index, payload: payload, header: true}, nil, err
	}
	id, body, err := conform.ParsePrefix(payload)
	if err != nil {
		return j.bare(part, payload)
	}
	if n := &j.last[part]; n.uses != nil && n.id == id && n.catalog == j.source.Catalog() {
		return n.uses, rest{payload: body}, nil, nil
	}
	uses, err := j.versions(func(c *catalog.Catalog) []*catalog.Schema { return c.UsesOf(catalog.DefaultContext, id) })
	if err != nil {
		return nil, rest{}, nil, err
	}
	if len(uses) == 0 {
		if j.t.Bare {
			return j.bare(part, payload)
		}
		return nil, rest{}, fail(reasonUnknown, "names schema %d, which the registry does not have", id), nil
	}
	j.last[part] = named{j.source.Catalog(), id, uses}
	return uses, rest{payload: body}, nil, nil
}

// bare finds the schema of a payload that names none.
func (j *judge) bare(part int, payload []byte) ([]*catalog.Schema, rest, *failure, error) {
	if !j.t.Bare {
		return nil, rest{}, fail(reasonNoID, "does not begin with a schema id"), nil
	}
	subject := j.subject[part]
	uses, err := j.versions(func(c *catalog.Catalog) []*catalog.Schema {
		if s := c.Latest(subject); s != nil {
			return []*catalog.Schema{s}
		}
		return nil
	})
	if err == nil && len(uses) == 0 {
		return nil, rest{}, fail(reasonUnknown, "names no schema, and there is none under subject %s", subject), nil
	}
	return uses, rest{payload: payload, bare: true}, nil, err
}

// versions asks the catalog, and once more when it is up to date.
func (j *judge) versions(ask func(*catalog.Catalog) []*catalog.Schema) ([]*catalog.Schema, error) {
	if uses := ask(j.source.Catalog()); len(uses) > 0 || j.current {
		return uses, nil
	}
	if err := j.wait.do(j.source.Current); err != nil {
		return nil, err
	}
	j.current = true
	return ask(j.source.Catalog()), nil
}

// payload judges what follows the name of a schema.
func (j *judge) payload(part int, rules Part, uses []*catalog.Schema, r rest) (*failure, error) {
	s := catalog.Preferred(uses)
	var index []int32
	if s.Type == format.Protobuf {
		var f *failure
		if index, f = r.cutIndexes(&j.indexes); f != nil {
			return f, nil
		}
	} else if r.header && len(r.index) > 0 {
		return fail(reasonNoID, "has a schema id header with bytes behind the id"), nil
	}
	if rules.Strategy == TopicName && !standsUnder(uses, j.subject[part]) {
		return fail(reasonSubject, "names schema %d, which is not registered under subject %s", s.ID, j.subject[part]), nil
	}
	if rules.Level == ID && rules.Strategy == TopicName && s.Type != format.Protobuf {
		return nil, nil
	}
	c, err := j.checker(s, rules.Level)
	switch {
	case errors.Is(err, ErrUnavailable):
		return nil, err
	case err != nil:
		return fail(reasonUncheckable, "names schema %d, which cannot be checked against: %v", s.ID, err), nil
	}
	if rules.Level == ID || rules.Strategy != TopicName {
		if f := c.subject(j.t.Name, rules.Strategy, uses, index); f != nil || rules.Level == ID {
			return f, nil
		}
	}
	return judged(c.checker.Check(r.payload, index), s.ID), nil
}

// judged turns the answer of a checker into a failure.
func judged(err error, id int32) *failure {
	if err == nil {
		return nil
	}
	if violation, ok := errors.AsType[*conform.Violation](err); ok {
		return fail(string(violation.Reason), "does not conform to schema %d: %s", id, violation.Message)
	}
	return fail(reasonUncheckable, "cannot be held against schema %d: %v", id, err)
}

// cutIndexes reads the path of the message. Without anything that names a schema it is the first message.
func (r *rest) cutIndexes(into *[conform.MaxIndexes]int32) ([]int32, *failure) {
	if r.bare {
		into[0] = 0
		return into[:1], nil
	}
	from := r.payload
	if r.header {
		from = r.index
	}
	index, left, err := conform.ParseIndexes(from, into)
	if err != nil || r.header && len(left) > 0 {
		return nil, fail(string(conform.UnknownMessage), "has message indexes that are malformed")
	}
	if !r.header {
		r.payload = left
	}
	return index, nil
}

// checker waits for the compiled form of a schema.
func (j *judge) checker(s *catalog.Schema, level Level) (*compiled, error) {
	e := j.v.checkers.get(j.source.Catalog(), s, level)
	select {
	case <-e.done:
		return e.compiled, e.err
	default:
	}
	if err := j.wait.do(func(ctx context.Context) error {
		select {
		case <-e.done:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("schema %d is being compiled: %w", s.ID, ctx.Err())
		}
	}); err != nil {
		return nil, err
	}
	return e.compiled, e.err
}

func standsUnder(uses []*catalog.Schema, subject string) bool {
	for _, s := range uses {
		if s.Subject == subject {
			return true
		}
	}
	return false
}
