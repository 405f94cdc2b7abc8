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
	reasonNotLatest   = "not_latest"
	reasonUncheckable = "uncheckable"
)

// judge judges one batch.
type judge struct {
	v       *Validator
	t       *Topic
	label   string // of the topic in metrics
	source  Source
	catalog *catalog.Catalog
	wait    *wait
	current bool // the catalog was brought up to date for this batch
	last    [2]named
	subject [2]string // of the topic's keys and values
	schema  int32     // what the payload that was judged last names or was held against
	indexes [conform.MaxIndexes]int32
}

// named is the schema that a key or value names, and what was found out of it. The next one most likely names it too.
type named struct {
	by       naming
	id       int32        // of a prefix
	guid     catalog.GUID // of a header
	uses     []*catalog.Schema
	schema   *catalog.Schema // that stands for uses
	stands   bool            // under the subject of the strategy topic
	compiled *compiled       // nil until it is needed
	allowed  bool            // the record of path stands under the subject that it must
	path     []int32         // of a message of Protobuf
	envelope []byte          // for the payloads of byTopic; nil until it is needed
}

// naming is how a schema is named.
type naming uint8

const (
	byNothing naming = iota // no schema was found
	byPrefix
	byHeader
	byTopic // a bare payload
)

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

func (j *judge) batch(records *record.Reader, limit int) (v Verdict, err error) {
	var checked [2]int
	defer func() { j.count(checked, v.Envelopes) }()
	for index := int32(0); records.Next(); index++ {
		failed := false
		var envelopes [2][]byte
		for part, rules := range j.parts() {
			if rules.Level == Off {
				continue
			}
			f, err := j.part(part, rules, records.Record())
			if err != nil {
				return Verdict{}, err
			}
			checked[part]++
			if f != nil {
				failed = true
				v.Failures = j.add(v.Failures, limit, index, part, rules, f)
				continue
			}
			envelopes[part] = j.envelope(part, records.Record())
		}
		if !failed {
			v.Envelopes = v.Envelopes.with(index, envelopes)
		}
	}
	return v, nil
}

// parts are what is asked of the keys and of the values.
func (j *judge) parts() [2]Part { return [...]Part{key: j.t.Key, value: j.t.Value} }

// count tells the metrics how many keys and values were judged, and how many records get an envelope.
func (j *judge) count(checked [2]int, coerced *Envelopes) {
	for part, rules := range j.parts() {
		if rules.Level != Off {
			j.v.metrics.checked.WithLabelValues(j.label, rules.Level.String()).Add(float64(checked[part]))
		}
	}
	if coerced != nil {
		j.v.metrics.coerced.WithLabelValues(j.label).Add(float64(coerced.count))
	}
}

// add counts a failure and notes it, unless the record has one already.
func (j *judge) add(out []Failure, limit int, index int32, part int, rules Part, f *failure) []Failure {
	j.v.metrics.failed.WithLabelValues(j.label, rules.Level.String(), f.reason).Inc()
	if len(out) >= limit || len(out) > 0 && out[len(out)-1].Index == index {
		return out
	}
	noted := Failure{Index: index, SchemaID: j.schema, Reason: f.reason}
	if len(out) < record.MaxRecordErrors {
		noted.Message = "The " + partNames[part] + " " + f.message
	}
	return append(out, noted)
}

// payloadOf is the key or the value of a record.
func payloadOf(part int, r *record.Record) []byte {
	if part == key {
		return r.Key
	}
	return r.Value
}

// part judges a key or value.
func (j *judge) part(part int, rules Part, r *record.Record) (*failure, error) {
	payload, header := payloadOf(part, r), conform.ValueHeader
	if part == key {
		header = conform.KeyHeader
	}
	j.schema = NoSchema
	if payload == nil {
		if j.t.RejectNull {
			return fail(reasonNull, "is null"), nil
		}
		return nil, nil
	}
	name := headerOf(r, header)
	f, stale, err := j.try(part, rules, payload, name)
	if f == nil || !stale || j.current || err != nil {
		return f, err
	}
	if err := j.refresh(); err != nil {
		return nil, err
	}
	f, _, err = j.try(part, rules, payload, name)
	return f, err
}

// try judges a payload by the catalog as it is. stale says that a newer one could think better of a failure.
func (j *judge) try(part int, rules Part, payload, header []byte) (f *failure, stale bool, err error) {
	n, rest, f, err := j.find(part, payload, header)
	if f != nil || err != nil {
		return f, false, err // find has asked for the newest itself
	}
	f, err = j.payload(part, rules, n, rest)
	return f, f != nil && (n.by == byTopic || f.reason == reasonSubject || f.reason == reasonNotLatest), err
}

// rest is what a payload holds behind the name of its schema.
type rest struct {
	index   []byte // the message path of Protobuf in a header; nil where it is in front of the payload
	payload []byte
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

// find finds the schema that a payload names.
func (j *judge) find(part int, payload, header []byte) (*named, rest, *failure, error) {
	if header != nil {
		return j.findByHeader(part, payload, header)
	}
	id, body, err := conform.ParsePrefix(payload)
	if err != nil {
		return j.bare(part, payload)
	}
	j.schema = id
	if n := &j.last[part]; n.by == byPrefix && n.id == id {
		return n, rest{payload: body}, nil, nil
	}
	uses, err := j.versions(func(c *catalog.Catalog) []*catalog.Schema { return c.UsesOf(catalog.DefaultContext, id) })
	switch {
	case err != nil:
		return nil, rest{}, nil, err
	case len(uses) > 0:
		return j.remember(part, named{by: byPrefix, id: id, uses: uses}), rest{payload: body}, nil, nil
	case j.t.Envelope != Required:
		j.schema = NoSchema
		return j.bare(part, payload)
	}
	return nil, rest{}, fail(reasonUnknown, "names schema %d, which the registry does not have", id), nil
}

// findByHeader finds the schema that a header names.
func (j *judge) findByHeader(part int, payload, header []byte) (*named, rest, *failure, error) {
	sum, index, err := conform.ParseHeader(header)
	if err != nil {
		return nil, rest{}, fail(reasonNoID, "has a schema id header that is malformed"), nil //nolint:nilerr // the producer's fault
	}
	guid, behind := catalog.GUID(sum), rest{index: index, payload: payload}
	if n := &j.last[part]; n.by == byHeader && n.guid == guid {
		return n, behind, nil, nil
	}
	uses, err := j.versions(func(c *catalog.Catalog) []*catalog.Schema { return c.Same(catalog.DefaultContext, guid) })
	if err != nil {
		return nil, rest{}, nil, err
	}
	if len(uses) == 0 {
		return nil, rest{}, fail(reasonUnknown, "names schema %s, which the registry does not have", guid), nil
	}
	return j.remember(part, named{by: byHeader, guid: guid, uses: uses}), behind, nil, nil
}

// bare finds the schema of a payload that names none.
func (j *judge) bare(part int, payload []byte) (*named, rest, *failure, error) {
	if j.t.Envelope == Required {
		return nil, rest{}, fail(reasonNoID, "does not begin with a schema id"), nil
	}
	if n := &j.last[part]; n.by == byTopic {
		return n, rest{payload: payload}, nil, nil
	}
	subject := j.subject[part]
	uses, err := j.versions(func(c *catalog.Catalog) []*catalog.Schema {
		if s := c.Latest(subject); s != nil {
			return []*catalog.Schema{s}
		}
		return nil
	})
	if err != nil {
		return nil, rest{}, nil, err
	}
	if len(uses) == 0 {
		return nil, rest{}, fail(reasonUnknown, "names no schema, and there is none under subject %s", subject), nil
	}
	return j.remember(part, named{by: byTopic, uses: uses}), rest{payload: payload}, nil, nil
}

// remember keeps a schema for the next payload.
func (j *judge) remember(part int, n named) *named {
	n.schema = catalog.Preferred(n.uses)
	j.last[part] = n
	return &j.last[part]
}

// versions asks the catalog, and once more when it is up to date.
func (j *judge) versions(ask func(*catalog.Catalog) []*catalog.Schema) ([]*catalog.Schema, error) {
	if uses := ask(j.catalog); len(uses) > 0 || j.current {
		return uses, nil
	}
	if err := j.refresh(); err != nil {
		return nil, err
	}
	return ask(j.catalog), nil
}

// refresh waits until the catalog holds all that was committed by now.
func (j *judge) refresh() error {
	if err := j.wait.do(j.source.Current); err != nil {
		return err
	}
	j.current, j.catalog, j.last = true, j.source.Catalog(), [2]named{}
	return nil
}

// payload judges what follows the name of a schema.
func (j *judge) payload(part int, rules Part, n *named, r rest) (*failure, error) {
	j.schema = n.schema.ID
	var index []int32
	if n.schema.Type == format.Protobuf {
		var f *failure
		if index, f = r.cutIndexes(n.by, &j.indexes); f != nil {
			return f, nil
		}
	} else if n.by == byHeader && len(r.index) > 0 {
		return fail(reasonNoID, "has a schema id header with bytes behind the id"), nil
	}
	if rules.Strategy == TopicName && !n.stands {
		if f := j.standing(n.uses, j.subject[part]); f != nil {
			return f, nil
		}
		n.stands = true
	}
	if rules.Level == ID && rules.Strategy == TopicName && n.schema.Type != format.Protobuf {
		return nil, nil
	}
	f, err := j.compile(n, rules.Level)
	if f != nil || err != nil {
		return f, err
	}
	if (rules.Level == ID || rules.Strategy != TopicName) && !(n.allowed && slices.Equal(n.path, index)) {
		if f := j.named(n.compiled, rules.Strategy, n.uses, index); f != nil {
			return f, nil
		}
		n.allowed, n.path = true, slices.Clone(index)
	}
	if rules.Level == ID {
		return nil, nil
	}
	return judged(n.compiled.checker.Check(r.payload, index), n.schema.ID), nil
}

// compile gets the compiled form of a schema.
func (j *judge) compile(n *named, level Level) (*failure, error) {
	if n.compiled != nil {
		return nil, nil
	}
	c, err := j.checker(n.schema, level)
	switch {
	case errors.Is(err, ErrUnavailable):
		return nil, err
	case err != nil:
		return fail(reasonUncheckable, "names schema %d, which cannot be checked against: %v", n.schema.ID, err), nil
	}
	n.compiled = c
	return nil, nil
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
func (r *rest) cutIndexes(by naming, into *[conform.MaxIndexes]int32) ([]int32, *failure) {
	if by == byTopic {
		return append(into[:0], bareIndex[:]...), nil
	}
	from := r.payload
	if by == byHeader {
		from = r.index
	}
	index, left, err := conform.ParseIndexes(from, into)
	if err != nil || by == byHeader && len(left) > 0 {
		return nil, fail(string(conform.UnknownMessage), "has message indexes that are malformed")
	}
	if by != byHeader {
		r.payload = left
	}
	return index, nil
}

// checker waits for the compiled form of a schema.
func (j *judge) checker(s *catalog.Schema, level Level) (*compiled, error) {
	e := j.v.checkers.get(j.catalog, s, level)
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

// standing asks whether a schema is registered under a subject, and whether it is the latest there if that is asked for.
func (j *judge) standing(uses []*catalog.Schema, subject string) *failure {
	if !slices.ContainsFunc(uses, func(s *catalog.Schema) bool { return s.Subject == subject }) {
		return fail(reasonSubject, "names schema %d, which is not registered under subject %s", uses[0].ID, subject)
	}
	if !j.t.LatestOnly {
		return nil
	}
	if latest := j.catalog.Latest(subject); latest != nil && latest.GUID != uses[0].GUID {
		return fail(reasonNotLatest, "names schema %d, but the latest of subject %s is schema %d", uses[0].ID, subject, latest.ID)
	}
	return nil
}

// named asks whether a schema stands under the subject that a strategy wants, and in Protobuf whether the message is there.
func (j *judge) named(c *compiled, strategy Strategy, uses []*catalog.Schema, index []int32) *failure {
	name, err := c.name(index)
	if err != nil {
		return fail(string(conform.UnknownMessage), "names message %v, which its schema does not have", index)
	}
	switch strategy {
	case RecordName:
	case TopicRecordName:
		name = j.t.Name + "-" + name
	default:
		return nil
	}
	return j.standing(uses, name)
}
