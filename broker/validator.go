package broker

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"moldau/broker/configdef"
	"moldau/broker/record"
)

// Validator holds records against their schemas. The broker calls it without a lock, before it appends a batch to a topic
// that asks for it.
type Validator interface {
	// Validate judges a batch whose form is sound. Failures are in the order of the records, at most record.MaxRecordErrors. An
	// error says that it cannot be told now, and that the producer should try again.
	Validate(topic string, rules *configdef.Validation, batch record.Batch, d *record.Decompressor) ([]ValidationFailure, error)
}

// ValidationFailure is a record that does not conform.
type ValidationFailure struct {
	// Index is the record's place in the batch.
	Index int32
	// Reason is why, in a word.
	Reason string
	// Message says it to the producer.
	Message string
}

// observedEvery is how often a log line tells of records that did not conform and were let in.
const observedEvery = time.Second

// validation is what a node needs to validate.
type validation struct {
	validator Validator // nil: topics that ask for validation take nothing
	log       *slog.Logger
	logged    atomic.Int64 // when the last line was written, in ns since 1970
}

// internalPrefix begins the names of topics that hold the state of this broker and of those that build on it.
const internalPrefix = "__"

// admit judges a batch as its topic asks. It returns an *record.InvalidRecordError for what is refused.
func (v *validation) admit(topic string, cfg *configdef.Topic, batch record.Batch, d *record.Decompressor, now time.Time) error {
	rules := &cfg.Validation
	if !rules.Active() || strings.HasPrefix(topic, internalPrefix) {
		return nil
	}
	if v.validator == nil {
		return fmt.Errorf("%w: the topic asks for validation, and this broker has no schemas to validate by", ErrSchemasNotAvailable)
	}
	failures, err := v.validator.Validate(topic, rules, batch, d)
	switch {
	case errors.Is(err, ErrCorruptMessage):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", ErrSchemasNotAvailable, err)
	case len(failures) == 0:
		return nil
	case rules.Observe:
		v.observe(topic, failures, now)
		return nil
	}
	refused := &record.InvalidRecordError{
		Kind:    ErrInvalidRecord,
		Message: fmt.Sprintf("One or more records do not conform to the schema that topic %s asks for: %s", topic, failures[0].Message),
		Records: make([]record.RecordError, len(failures)),
	}
	for i, f := range failures {
		refused.Records[i] = record.RecordError{Index: f.Index, Message: f.Message}
	}
	return refused
}

// observe logs a sample of what was let in.
func (v *validation) observe(topic string, failures []ValidationFailure, now time.Time) {
	last := v.logged.Load()
	if now.UnixNano()-last < int64(observedEvery) || !v.logged.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	v.log.Warn("records that do not conform to their schema were let in; this is a sample", "topic", topic,
		"of_batch", len(failures), "index", failures[0].Index, "reason", failures[0].Reason)
}
