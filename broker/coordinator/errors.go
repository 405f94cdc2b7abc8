package coordinator

import "errors"

// What callers of a coordinator get instead of an answer. All but ErrRecordTooLarge invite to try again.
var (
	// ErrNotCoordinator says that this node does not lead the partition (any more): NOT_COORDINATOR.
	ErrNotCoordinator = errors.New("this node is not the coordinator")
	// ErrLoading says that the partition is being read: COORDINATOR_LOAD_IN_PROGRESS.
	ErrLoading = errors.New("the coordinator is loading its state")
	// ErrNotAvailable says that the records of the answer could not be appended: COORDINATOR_NOT_AVAILABLE.
	ErrNotAvailable = errors.New("the coordinator cannot write its state")
	// ErrTimedOut says that the records were appended but not committed in time; they may be later.
	ErrTimedOut = errors.New("the coordinator's records were not committed in time")
	// ErrRecordTooLarge says that a record would be larger than the topic permits.
	ErrRecordTooLarge = errors.New("the coordinator's record is too large")
)
