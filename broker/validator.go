package broker

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"moldau/broker/configdef"
	"moldau/broker/partition"
	"moldau/broker/record"
)

// Validator holds records against their schemas. The broker calls it without a lock, before it appends a batch to a topic
// that asks for it.
type Validator interface {
	// Validate judges the records that a reader shows. Failures are at most limit, of which those past record.MaxRecordErrors may
	// lack their message. An error says that it cannot be told now, and that the producer should try again. The reader's own error
	// is the caller's to ask for.
	Validate(topic string, rules *configdef.Validation, records *record.Reader, limit int) (Verdict, error)
}

// Verdict is what a validator finds of a batch.
type Verdict struct {
	// Failures are the records that do not conform, in the order of the batch.
	Failures []ValidationFailure
	// Envelopes are what the other records are to be stored with; nil where none needs any.
	Envelopes Envelopes
}

// good tells whether the batch may be appended as it came.
func (v *Verdict) good() bool { return len(v.Failures) == 0 && v.Envelopes == nil }

// Envelopes says what names the schema of payloads that do not name it themselves.
type Envelopes interface {
	// Of answers what goes in front of the key and the value of the record with this place in the batch, nil for nothing. The
	// caller doesn't change it. Records that do not conform have none.
	Of(index int32) (inFrontOfKey, inFrontOfValue []byte)
}

// ValidationFailure is a record that does not conform.
type ValidationFailure struct {
	// Index is the record's place in the batch.
	Index int32
	// SchemaID is the schema that the record names or was held against; negative where there is none.
	SchemaID int32
	// Reason is why, in a word.
	Reason string
	// Message says it to people.
	Message string
}

// observedEvery is how often a log line tells of records that did not conform and were let in.
const observedEvery = time.Second

// maxSorted bounds how many records of a batch are marked or become dead letters. A batch with more bad ones is refused.
const maxSorted = 100_000

// validation is what a node needs to validate.
type validation struct {
	validator Validator // nil: topics that ask for validation take nothing
	log       *slog.Logger
	logged    atomic.Int64 // when the last line was written, in ns since 1970
}

// internalPrefix begins the names of topics that hold the state of this broker and of those that build on it.
const internalPrefix = "__"

// target is where a batch goes if its records are good.
type target struct {
	topic     *partition.Topic
	partition *partition.Partition
	index     int32
	acks      int16
	cfg       *configdef.Topic
}

// validated tells whether the topic asks for validation.
func (s *target) validated() bool {
	return s.cfg.Validation.Active() && !strings.HasPrefix(s.topic.Name, internalPrefix)
}

// admitted is a batch that may be appended.
type admitted struct {
	batch   record.Batch
	letters partition.Commit // of the records that it lost
	buf     *[]byte          // of n.scratch; holds a batch that was made anew, else nil
}

// release gives the buffer of a batch that was appended back.
func (n *Node) release(in admitted) {
	if in.buf != nil {
		n.scratch.Put(in.buf)
	}
}

// admit checks a batch, and has its records validated where the topic asks for it. Release the result after the append.
func (n *Node) admit(s target, batch record.Batch) (admitted, error) {
	d := n.decompressors.upTo(s.cfg.MaxDecompressedBytes)
	if !s.validated() {
		check := n.checkOf(s.cfg) // its own: the one below is on the heap, and this is the way of most batches
		_, err := batch.Admit(&check, d)
		return admitted{batch: batch}, err
	}
	check := n.checkOf(s.cfg)
	v, err := n.validation.judge(s.topic.Name, s.cfg, batch, &check, d)
	if err != nil {
		return admitted{}, err
	}
	if len(v.Failures) > 0 {
		switch actionOn(&s.cfg.Validation, batch) {
		case configdef.ValidationObserve:
			n.validation.observe(s.topic.Name, v.Failures, n.now())
			v.Failures = nil // they stay as they are, which those without an envelope do anyway
		case configdef.ValidationMark:
		case configdef.ValidationDeadLetter:
			return n.leaveOut(s, batch, &v, d)
		default:
			return admitted{}, refuseRecords(s.topic.Name, v.Failures)
		}
	}
	if v.good() {
		return admitted{batch: batch}, nil
	}
	return n.rewrite(s, batch, &v, d)
}

// checkOf is what a topic asks of every batch.
func (n *Node) checkOf(cfg *configdef.Topic) record.Check {
	return record.Check{
		Now: n.now().UnixMilli(), MaxBytes: cfg.MaxMessageBytes, TimestampType: cfg.TimestampType,
		BeforeMaxMs: cfg.TimestampBeforeMaxMs, AfterMaxMs: cfg.TimestampAfterMaxMs, Compacted: cfg.Compacted(),
	}
}

// actionOn is what happens with a batch whose records do not conform. The records of a transaction stay together.
func actionOn(rules *configdef.Validation, batch record.Batch) configdef.ValidationAction {
	if rules.Action == configdef.ValidationDeadLetter && batch.IsTransactional() {
		return configdef.ValidationReject
	}
	return rules.Action
}

// judge admits a batch and has its records validated on the way.
func (v *validation) judge(topic string, cfg *configdef.Topic, batch record.Batch, check *record.Check, d *record.Decompressor) (Verdict, error) {
	reading, err := batch.BeginAdmit(check, d)
	if err != nil {
		return Verdict{}, err
	}
	defer reading.Close()
	limit := record.MaxRecordErrors
	action := actionOn(&cfg.Validation, batch)
	sorts := action == configdef.ValidationMark || action == configdef.ValidationDeadLetter
	if sorts {
		limit = maxSorted + 1
	}
	verdict, unavailable := v.validate(topic, &cfg.Validation, reading.Reader, limit)
	if _, err := reading.End(); err != nil {
		return Verdict{}, err // it is as wrong when it comes again
	}
	if unavailable != nil {
		return Verdict{}, fmt.Errorf("%w: %w", ErrSchemasNotAvailable, unavailable)
	}
	if sorts && len(verdict.Failures) > maxSorted {
		return Verdict{}, refuseRecords(topic, verdict.Failures[:record.MaxRecordErrors])
	}
	return verdict, nil
}

var errNoValidator = errors.New("the topic asks for validation, and this broker has no schemas to validate by")

func (v *validation) validate(topic string, rules *configdef.Validation, records *record.Reader, limit int) (Verdict, error) {
	if v.validator == nil {
		return Verdict{}, errNoValidator
	}
	return v.validator.Validate(topic, rules, records, limit)
}

// refuseRecords is the answer to a batch that is refused.
func refuseRecords(topic string, failures []ValidationFailure) *record.InvalidRecordError {
	refused := &record.InvalidRecordError{
		Kind:    ErrInvalidRecord,
		Message: fmt.Sprintf("One or more records do not conform to the schema that topic %s asks for: %s", topic, failures[0].Message),
		Records: make([]record.RecordError, min(len(failures), record.MaxRecordErrors)),
	}
	for i := range refused.Records {
		refused.Records[i] = record.RecordError{Index: failures[i].Index, Message: failures[i].Message}
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
