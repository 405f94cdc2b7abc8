package validation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"moldau/broker/record"
	"moldau/registry/catalog"
	"moldau/registry/conform"
	"moldau/registry/format"
)

// Level is how closely a payload is looked at.
type Level uint8

// The levels, each with those before it. They stand in the order of the topic configs.
const (
	Off Level = iota
	ID
	Structure
	Full
	Rules
)

// String is the level's name in the topic configs.
func (l Level) String() string { return [...]string{"off", "id", "structure", "full", "rules"}[l] }

// Strategy says under which subject the schema of a payload must stand.
type Strategy uint8

// The strategies.
const (
	TopicName Strategy = iota
	RecordName
	TopicRecordName
)

// Envelope says what becomes of payloads that name no schema. Those that may stay are held against the latest version of the topic's
// subject.
type Envelope uint8

// The envelopes. They stand in the order of the topic configs.
const (
	// Required refuses them.
	Required Envelope = iota
	// Coerce has them stored behind the name of the schema that they conform to.
	Coerce
	// Bare lets them stay as they are.
	Bare
)

// String is the envelope's name in the topic configs.
func (e Envelope) String() string { return [...]string{"required", "coerce", "bare"}[e] }

// Part is what is asked of keys or of values.
type Part struct {
	Level    Level
	Strategy Strategy
}

// Topic is what is asked of the records of a topic.
type Topic struct {
	Name       string
	Key, Value Part
	// Envelope is what becomes of payloads that name no schema.
	Envelope Envelope
	// RejectNull refuses null.
	RejectNull bool
	// LatestOnly refuses schemas that are not the latest version of their subject.
	LatestOnly bool
}

// Failure is a record that does not conform.
type Failure struct {
	// Index is the record's place in the batch.
	Index int32
	// SchemaID is the schema that the record names or, where it names none, was held against; NoSchema where there is neither.
	SchemaID int32
	// Reason is why, in a word.
	Reason string
	// Message says it in plain words. Only the first record.MaxRecordErrors failures of a batch have one.
	Message string
}

// NoSchema is the SchemaID of a record that names no schema and was held against none.
const NoSchema int32 = -1

// Verdict is what was found of a batch.
type Verdict struct {
	// Failures are the records that do not conform, in their order.
	Failures []Failure
	// Envelopes are those that the other records are to be stored with; nil where none needs any.
	Envelopes *Envelopes
}

// Source is a catalog that keeps up with the registry's topic.
type Source interface {
	// Catalog is the newest catalog.
	Catalog() *catalog.Catalog
	// Wait waits until the catalog was loaded.
	Wait(ctx context.Context) error
	// Current waits until the catalog holds all that was committed when it was called.
	Current(ctx context.Context) error
}

// ErrUnavailable says that the schemas could not be asked. The error that wraps it tells why.
var ErrUnavailable = errors.New("schemas are not available")

// patience is how long one batch waits for schemas at most.
const patience = time.Second

// Options is what a validator is made with.
type Options struct {
	// Open makes the source on first use. It is called again when it failed.
	Open func() (Source, error)
	// SchemasTopic is the topic of the registry.
	SchemasTopic string
	// Waiting is how many batches may wait for schemas at a time. Each holds a handler of the broker, and the source itself needs one.
	Waiting    int
	Formats    []format.Format
	Limits     conform.Limits
	Registerer prometheus.Registerer // may be nil
}

// Validator judges batches. Its methods may be called concurrently.
type Validator struct {
	opts     Options
	waiting  chan struct{}
	checkers *checkers
	metrics  *metrics

	mu     sync.Mutex
	source Source // nil until it is needed
	loaded bool
	closed bool // nothing is opened any more
}

// New returns a validator. Close it before the source.
func New(o Options) *Validator {
	return &Validator{opts: o, waiting: make(chan struct{}, o.Waiting), checkers: newCheckers(o), metrics: newMetrics(o.Registerer)}
}

// Close ends what is under way. Nothing can be told afterwards.
func (v *Validator) Close() {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.checkers.close()
}

// Validate judges the records that a reader shows. Failures are at most limit. The error wraps ErrUnavailable; whether the reader
// came to the end of its batch is the caller's to ask.
func (v *Validator) Validate(t *Topic, records *record.Reader, limit int) (Verdict, error) {
	if t.Name == v.opts.SchemasTopic {
		return Verdict{}, nil
	}
	started := time.Now()
	w := &wait{v: v}
	defer w.end()
	source, err := v.loadedSource(w)
	if err != nil {
		return Verdict{}, err
	}
	j := judge{v: v, t: t, label: v.metrics.label(t.Name), source: source, catalog: source.Catalog(), wait: w, subject: [2]string{t.Name + "-key", t.Name + "-value"}}
	verdict, err := j.batch(records, limit)
	v.metrics.cost.WithLabelValues(j.label).Observe(time.Since(started).Seconds())
	return verdict, err
}

// loadedSource opens the source if need be and waits until it was loaded once.
func (v *Validator) loadedSource(w *wait) (Source, error) {
	v.mu.Lock()
	if v.closed {
		v.mu.Unlock()
		return nil, fmt.Errorf("%w: the server is stopping", ErrUnavailable)
	}
	if v.source == nil {
		source, err := v.opts.Open() // makes clients, and does not wait for them
		if err != nil {
			v.mu.Unlock()
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		v.source = source
	}
	source, loaded := v.source, v.loaded
	v.mu.Unlock()
	if loaded {
		return source, nil
	}
	if err := w.do(source.Wait); err != nil {
		return nil, err
	}
	v.mu.Lock()
	v.loaded = true
	v.mu.Unlock()
	return source, nil
}

// wait is the waiting of one batch: one of a few places, and one second for all of it.
type wait struct {
	v      *Validator
	ctx    context.Context //nolint:containedctx // lives as long as one call of Validate
	cancel context.CancelFunc
}

// do waits for something.
func (w *wait) do(f func(context.Context) error) error {
	if w.ctx == nil {
		select {
		case w.v.waiting <- struct{}{}:
		default:
			return fmt.Errorf("%w: %d batches wait for schemas already", ErrUnavailable, w.v.opts.Waiting)
		}
		w.ctx, w.cancel = context.WithTimeout(context.Background(), patience)
	}
	if err := f(w.ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}

func (w *wait) end() {
	if w.ctx != nil {
		w.cancel()
		<-w.v.waiting
	}
}
