package gateway

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"

	"moldau/gateway/producer"
)

// Conditions of the gateway itself. What the broker answers arrives as *kerr.Error.
var (
	// ErrOverloaded says that the memory for requests in flight, or the places for waiting reads, are used up.
	ErrOverloaded = errors.New("too many requests in flight, try again later")
	// ErrTooLarge says that a request is larger than its limit.
	ErrTooLarge = errors.New("the request is too large")
	// ErrCursor says that a cursor was not made here, or is damaged.
	ErrCursor = errors.New("the cursor is not valid")
	// ErrCursorTopic says that a cursor belongs to another topic, or to an earlier one of the same name.
	ErrCursorTopic = errors.New("the cursor belongs to another topic, or to an earlier topic of this name")
	// ErrClosed says that the gateway is shutting down.
	ErrClosed = errors.New("the gateway is shutting down")
	// ErrOutcomeUnknown says that records were not acknowledged in time: they may have been written, or may yet be.
	ErrOutcomeUnknown = producer.ErrUnacknowledged
	// ErrNoRegistry says that something was to be encoded by a schema, and the gateway has no registry.
	ErrNoRegistry = errors.New("this gateway has no schema registry: set gateway.registry.url")
)

// InvalidError says what is wrong with a request.
type InvalidError struct {
	// Field is the path of the field, such as records[3].timestamp, or the name of a query parameter; it may be empty.
	Field string
	// Record is the index of the record, -1 if it is not about a record.
	Record int
	// Reason is the machine-readable kind; empty means INVALID_ARGUMENT.
	Reason string
	// Message says what is wrong, and what would be right.
	Message string
}

// Error returns the field and what is wrong with it.
func (e *InvalidError) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// invalid returns an InvalidError that is not about a record.
func invalid(field, format string, args ...any) error {
	return &InvalidError{Field: field, Record: -1, Message: fmt.Sprintf(format, args...)}
}

// OffsetError says that a position is not in the log, and what is.
type OffsetError struct {
	Partition                        int32
	Offset                           int64
	LogStartOffset, LogHighWatermark int64
}

// Error names the offsets that are there.
func (e *OffsetError) Error() string {
	return fmt.Sprintf("offset %d is not in partition %d, which holds %d up to but without %d",
		e.Offset, e.Partition, e.LogStartOffset, e.LogHighWatermark)
}

// answered turns an error code and text of a broker's answer into an error; nil for code 0.
func answered(code int16, text *string) error { return producer.Answered(code, text) }

// asKafka returns the Kafka error within err.
func asKafka(err error) (*kerr.Error, bool) {
	var k *kerr.Error
	ok := errors.As(err, &k)
	return k, ok
}
