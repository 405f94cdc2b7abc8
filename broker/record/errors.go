package record

import (
	"errors"
	"fmt"
)

// The ways in which bytes fail to be an acceptable batch. The Kafka edge maps each to one protocol code.
var (
	// ErrShort says that the bytes end inside a batch. A reader of a file asks for more; a request that ends so is corrupt.
	ErrShort = errors.New("bytes end inside a record batch")
	// ErrCorrupt says that the framing is impossible or that the checksum does not match: CORRUPT_MESSAGE.
	ErrCorrupt = errors.New("corrupt record batch")
	// ErrUnsupportedMagic says that the batch has the message format 0 or 1. Kafka 4 no longer
	// writes these formats, and clients since 0.11 do not either; they are recognised, and neither converted nor stored.
	ErrUnsupportedMagic = errors.New("record batch has an unsupported magic")
	// ErrUnsupportedCodec says that the attributes name a compression type that does not exist: UNSUPPORTED_COMPRESSION_TYPE.
	ErrUnsupportedCodec = errors.New("unsupported compression type")
	// ErrTooLarge says that the batch as sent, that is after compression, exceeds the limit: MESSAGE_TOO_LARGE.
	ErrTooLarge = errors.New("record batch is too large")
	// ErrBomb says that a compressed payload expands past the limits of the Decompressor. Validation answers it inside an
	// InvalidRecordError: INVALID_RECORD.
	ErrBomb = errors.New("compressed records expand past the limit")
	// ErrInvalidRecord says that the header or the records contradict themselves or the topic's rules: INVALID_RECORD.
	ErrInvalidRecord = errors.New("invalid record")
	// ErrInvalidTimestamp says that timestamps are outside the bounds of the topic (KIP-937): INVALID_TIMESTAMP.
	ErrInvalidTimestamp = errors.New("invalid timestamp")
)

// RecordError names one record that made its batch unacceptable (KIP-467).
type RecordError struct {
	Index   int32  // position in the batch, from 0
	Message string // what is wrong with it
}

// MaxRecordErrors bounds the record errors that one validation collects, so that a hostile batch cannot turn a byte of request into
// a long message of answer.
const MaxRecordErrors = 1000

// InvalidRecordError is what Validate answers for a batch that is well framed and yet unacceptable. errors.Is finds its Kind, and
// ErrBomb where that is the cause.
type InvalidRecordError struct {
	Kind    error         // ErrInvalidRecord or ErrInvalidTimestamp
	Message string        // for the producer; names no record
	Records []RecordError // the offending records, at most MaxRecordErrors; empty where the batch as a whole is at fault
	Cause   error         // may be nil
}

// Error implements error.
func (e *InvalidRecordError) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %s", e.Kind, e.Message, e.Cause)
	}
	return fmt.Sprintf("%s: %s", e.Kind, e.Message)
}

// Unwrap lets errors.Is and errors.As see the kind and the cause.
func (e *InvalidRecordError) Unwrap() []error {
	if e.Cause != nil {
		return []error{e.Kind, e.Cause}
	}
	return []error{e.Kind}
}

func invalid(format string, args ...any) *InvalidRecordError {
	return &InvalidRecordError{Kind: ErrInvalidRecord, Message: fmt.Sprintf(format, args...)}
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}
