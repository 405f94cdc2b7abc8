package coordinator

// Log is one partition of a coordinator's topic, as its owner uses it. All methods may be called from the goroutine that
// calls Elect and from the owner.
type Log interface {
	// Bounds returns the first offset and the offset after the last record.
	Bounds() (start, end int64)
	// Read appends whole batches from the one that holds an offset to dst: at least one, none at the log end. They need
	// not be committed.
	Read(dst []byte, offset int64) ([]byte, error)
	// Append appends whole batches as the leader in an epoch. An error says that nothing was appended; one that wraps
	// ErrNotCoordinator says that this node does not lead in that epoch. The bytes are changed in place and not kept.
	Append(batches []byte, epoch int32) (Commit, error)
	// CommitOf returns a Commit that is done once everything below an offset is committed.
	CommitOf(end int64) Commit
	// BatchBytesMax is the size of a batch at most.
	BatchBytesMax() int
}

// Commit is done when records are committed.
type Commit interface {
	// Poll returns done when the outcome is known: err is nil once the records are committed; it wraps ErrNotCoordinator
	// when the leadership ended before. Otherwise it returns a channel that is closed when it makes sense to ask again.
	Poll() (done bool, err error, changed <-chan struct{}) //nolint:revive // the error is an outcome, not a failure of Poll
}
