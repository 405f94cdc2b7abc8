package metadata

import "errors"

// Errors of a store. Engines wrap them; test with errors.Is.
var (
	// ErrNotFound: the key does not exist.
	ErrNotFound = errors.New("metadata: key not found")
	// ErrCompacted: the changes asked for are no longer remembered; list and watch from there.
	ErrCompacted = errors.New("metadata: revision compacted")
	// ErrUnknownOutcome: the transaction may or may not have taken effect.
	ErrUnknownOutcome = errors.New("metadata: outcome of the transaction is unknown")
	// ErrSessionLost: the session has ended.
	ErrSessionLost = errors.New("metadata: session lost")
	// ErrInvalidTxn: the transaction breaks a rule: no operation, an empty key, a key named twice, a bad session TTL.
	ErrInvalidTxn = errors.New("metadata: invalid transaction")
	// ErrTooLarge: the transaction breaks one of the limits of MaxOps, MaxKeyBytes and their neighbours.
	ErrTooLarge = errors.New("metadata: transaction too large")
	// ErrNoSpace: the disk has less free space than the store's floor; reads go on, and writes resume when there is space.
	ErrNoSpace = errors.New("metadata: too little free disk space")
	// ErrFailed: an earlier write failed in a way that leaves the disk in doubt; nothing is written until a restart.
	ErrFailed = errors.New("metadata: store failed, restart needed")
	// ErrClosed: the store or the loader was closed.
	ErrClosed = errors.New("metadata: closed")
	// ErrNewerFormat: the data was written by a newer version that this one does not understand.
	ErrNewerFormat = errors.New("metadata: written by a newer version")
	// ErrCorrupt: stored bytes cannot be understood. The error around it names the key.
	ErrCorrupt = errors.New("metadata: corrupt value")
)
