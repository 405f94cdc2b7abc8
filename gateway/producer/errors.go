package producer

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// ErrUnacknowledged says that records were sent and not acknowledged in time: they may have been written, or may yet be.
var ErrUnacknowledged = errors.New("not acknowledged in time; the record may have been written")

// ErrNotSent says that records waited until they were due, behind others, and were not written.
var ErrNotSent = errors.New("not sent in time; the record was not written")

// ErrClosed says that the producer was closed before the records were sent.
var ErrClosed = kgo.ErrClientClosed

// BrokerError is what a broker answered, with the text that it gave.
type BrokerError struct {
	// Kafka is the error by its code.
	Kafka *kerr.Error
	// Text is for people and is not empty.
	Text string
}

// Error returns the text.
func (e *BrokerError) Error() string { return e.Text }

// Unwrap returns the error by its code.
func (e *BrokerError) Unwrap() error { return e.Kafka }

// Answered turns an error code and the text of an answer into an error: a *BrokerError, a *kerr.Error where there is no text, nil for code
// 0.
func Answered(code int16, text *string) error {
	err := kerr.ErrorForCode(code)
	k, ok := errors.AsType[*kerr.Error](err)
	if !ok || text == nil || *text == "" {
		return err
	}
	return &BrokerError{Kafka: k, Text: *text}
}
