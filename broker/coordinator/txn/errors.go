package txn

import "errors"

// What producers get instead of an answer.
var (
	// ErrInvalidTimeout says that the transaction timeout is not above zero, or above transaction.max.timeout.ms.
	ErrInvalidTimeout = errors.New("the transaction timeout is larger than transaction.max.timeout.ms permits, or not above zero")
	// ErrInvalidProducerIDMapping says that the transactional id is unknown, or has another producer id.
	ErrInvalidProducerIDMapping = errors.New("the transactional id does not have this producer id")
	// ErrProducerFenced says that there is a newer producer with the transactional id.
	ErrProducerFenced = errors.New("there is a newer producer with the same transactional id")
	// ErrConcurrentTransactions says that the transaction before is not complete yet: try again.
	ErrConcurrentTransactions = errors.New("the transaction before is still being completed")
	// ErrInvalidState says that the transaction is in a state in which this cannot be asked.
	ErrInvalidState = errors.New("the transaction is in a state that does not permit this")
	// ErrNotInTransaction says that a partition was not added to the transaction: it can only be aborted.
	ErrNotInTransaction = errors.New("the partition is not part of the transaction")
	// ErrNotFound says that there is no such transactional id.
	ErrNotFound = errors.New("there is no such transactional id")
	// ErrNeedProducerID says that the operation needs a new producer id: ask again with one. No client sees it.
	ErrNeedProducerID = errors.New("the operation needs a new producer id")
)
