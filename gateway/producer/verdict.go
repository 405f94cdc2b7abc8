package producer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// errNoAnswer says that a broker's answer is silent on a partition.
var errNoAnswer = errors.New("the broker did not answer for the partition")

// kind is what is to be done with a batch.
type kind int8

const (
	open        kind = iota // there is no answer yet
	written                 // the records have offsets
	refused                 // because of some records: the others are sent again
	failed                  // for a reason that another attempt does not change
	again                   // another attempt may succeed
	misnumbered             // the broker has lost the sequence; another producer id is needed
	shut                    // the producer or its client is closed
)

// recordError is how an answer names a record and says what is wrong with it.
type recordError = kmsg.ProduceResponseTopicPartitionErrorRecord

// verdict is what a broker answered for a batch.
type verdict struct {
	kind kind
	base int64 // offset of the first record, -1 if not known; of written
	// logAppendTime is the time that the broker gave the records, in ms since 1970; -1 if it kept theirs.
	logAppendTime int64
	// err says why the batch did not get through.
	err error
	// named are the records that the broker names in its refusal.
	named []recordError
	// unsure says that the batch may have been written.
	unsure bool
}

// read takes what an answer says of a partition.
func (v *verdict) read(part *kmsg.ProduceResponseTopicPartition) {
	*v = verdict{base: part.BaseOffset, logAppendTime: part.LogAppendTime}
	k, ok := asKafka(kerr.ErrorForCode(part.ErrorCode))
	if !ok || k == kerr.DuplicateSequenceNumber { // an earlier attempt was written, so long ago that the broker forgot where
		v.kind = written
		return
	}
	v.err, v.named = Answered(part.ErrorCode, part.ErrorMessage), part.ErrorRecords
	v.kind = kindOfKafka(k)
	if v.kind == failed && len(v.named) > 0 {
		v.kind = refused
	}
	v.unsure = v.kind == again && !appendsNothing(k)
}

// kindOfKafka tells what follows from an error that a broker answers.
func kindOfKafka(k *kerr.Error) kind {
	switch k {
	case kerr.InvalidRecord, kerr.InvalidTimestamp, kerr.MessageTooLarge, kerr.RecordListTooLarge:
		return refused
	case kerr.OutOfOrderSequenceNumber, kerr.UnknownProducerID, kerr.InvalidProducerIDMapping, kerr.InvalidProducerEpoch:
		return misnumbered
	case kerr.CorruptMessage: // retriable by name; but the same bytes are as corrupt again
		return failed
	}
	if k.Retriable {
		return again
	}
	return failed
}

// appendsNothing tells whether a broker that answers so has certainly not appended the batch.
func appendsNothing(k *kerr.Error) bool {
	switch k {
	case kerr.NotLeaderForPartition, kerr.FencedLeaderEpoch, kerr.UnknownLeaderEpoch, kerr.UnknownTopicOrPartition, kerr.UnknownTopicID,
		kerr.InconsistentTopicID, kerr.NotEnoughReplicas:
		return true
	}
	return false
}

// kindOf tells what follows from an error of the client.
func kindOf(err error) kind {
	if errors.Is(err, kgo.ErrClientClosed) || errors.Is(err, context.Canceled) { // nothing is cancelled but by Close
		return shut
	}
	if k, ok := asKafka(err); ok {
		return kindOfKafka(k)
	}
	return again
}

// neverSent tells whether a request failed before any of it was sent.
func neverSent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// tooLarge tells whether a batch was refused for its size: cutting it helps, whatever its records are.
func tooLarge(err error) bool {
	k, ok := asKafka(err)
	return ok && (k == kerr.MessageTooLarge || k == kerr.RecordListTooLarge)
}

// strange tells whether the broker does not know the partition.
func strange(err error) bool {
	k, ok := asKafka(err)
	return ok && (k == kerr.UnknownTopicOrPartition || k == kerr.UnknownTopicID || k == kerr.InconsistentTopicID)
}

// errorOf is the error of a record that the broker names. whole is that of its batch.
func errorOf(whole error, text *string) error {
	k, ok := asKafka(whole)
	if !ok || text == nil || *text == "" {
		return whole
	}
	// One code stands for all records of a batch. Kafka gives that of the timestamp if any record's is wrong.
	if k == kerr.InvalidTimestamp && !strings.Contains(strings.ToLower(*text), "timestamp") {
		k = kerr.InvalidRecord
	}
	return &BrokerError{Kafka: k, Text: *text}
}

// notWritten is the error of records that were due before they were written. trouble says why they had to wait.
func notWritten(trouble error) error {
	if trouble == nil {
		return ErrNotSent
	}
	if _, ok := asKafka(trouble); ok {
		return trouble
	}
	return fmt.Errorf("%w: %w", ErrNotSent, trouble)
}

// unacknowledged is the error of records that may have been written.
func unacknowledged(trouble error) error {
	if trouble == nil {
		return ErrUnacknowledged
	}
	return fmt.Errorf("%w (%s)", ErrUnacknowledged, trouble.Error())
}

// asKafka returns the Kafka error within err.
func asKafka(err error) (*kerr.Error, bool) { return errors.AsType[*kerr.Error](err) }
