package storage

import "errors"

// Errors of this package. They come wrapped with what was attempted; use errors.Is.
var (
	// ErrOffsetOutOfRange says that an offset lies before the log start offset or behind the log end offset.
	ErrOffsetOutOfRange = errors.New("offset out of range")
	// ErrReadOnly says that the log is damaged before its recovery point: it can be read as far as it is whole, and takes no writes.
	ErrReadOnly = errors.New("log is damaged and read-only")
	// ErrStorage says that the log directory is offline after an I/O error.
	ErrStorage = errors.New("log directory is offline")
	// ErrNoSpace says that the file system was full. Nothing was appended; the next append may succeed.
	ErrNoSpace = errors.New("no space left for the log")
	// ErrOutOfOrderSequence says that an idempotent producer's batch doesn't follow the last one that was appended.
	ErrOutOfOrderSequence = errors.New("out of order sequence number")
	// ErrInvalidProducerEpoch says that a batch carries an older epoch than the producer's latest.
	ErrInvalidProducerEpoch = errors.New("producer epoch is older than the latest")
	// ErrInvalidTxnState says that a batch doesn't fit the producer's transaction: it opens one that the coordinator has not confirmed,
	// or it is not transactional while one is open.
	ErrInvalidTxnState = errors.New("batch does not fit the transaction of its producer")
	// ErrCoordinatorFenced says that a marker comes from an older transaction coordinator than the last one.
	ErrCoordinatorFenced = errors.New("marker of an older transaction coordinator")
	// ErrCorrupt says that bytes read from disk are not what was written. The error names file and position.
	ErrCorrupt = errors.New("corrupt data on disk")
	// ErrClosed says that the log or the engine was closed or deleted.
	ErrClosed = errors.New("log is closed")
	// ErrLogExists says that the engine holds a log of this partition already.
	ErrLogExists = errors.New("log exists already")
	// ErrTooLarge says that an append is larger than a segment may be.
	ErrTooLarge = errors.New("append is larger than a segment")
	// ErrNewerFormat says that a log directory was written by a newer version of this program.
	ErrNewerFormat = errors.New("log directory has a newer format than this program knows")
	// ErrForeignDir says that a log directory belongs to another cluster or node.
	ErrForeignDir = errors.New("log directory belongs to another broker")
)
