package txn

import (
	"log/slog"
	"time"

	"moldau/broker/coordinator"
)

// Config holds what an operator sets.
type Config struct {
	// TimeoutMax is transaction.max.timeout.ms.
	TimeoutMax time.Duration
	// IDExpiration is transactional.id.expiration.ms: how long an unused id is remembered.
	IDExpiration time.Duration
	// ParkMax is how long partitions that are to be added wait for the transaction before to be complete.
	ParkMax time.Duration
}

// Outside is what shards ask of the rest of the node. Methods are called by the owner, once what led to the call is
// committed, and must not block.
type Outside interface {
	// WriteMarkers has markers written for a decided transaction and, when all partitions have theirs, Complete called. It
	// is asked again after the shard was loaded anew.
	WriteMarkers(Decision)
	// RotateAndAbort has AbortTimedOut called with a new producer id.
	RotateAndAbort(id string, p coordinator.Producer)
	// TimedOut tells that a transaction is aborted because it lasted too long.
	TimedOut(tx *Transaction)
}

// Decision is the end of a transaction, for the markers.
type Decision struct {
	ID       string
	Producer coordinator.Producer
	// CoordinatorEpoch is the leader epoch of the shard's partition.
	CoordinatorEpoch int32
	Commit           bool
	// Version is the version of the protocol that the transaction follows.
	Version    int16
	Partitions []TopicPartition
}

// Shard is the state of one partition of __transaction_state. It implements coordinator.Shard.
type Shard struct {
	cfg     Config
	outside Outside
	log     *slog.Logger
	ids     map[string]*entry
	due     deadlines
}

// entry is a transactional id with what need not outlive a restart.
type entry struct {
	Transaction
	dueMs   int64    // when Expire has to look at it
	at      int      // its place among the deadlines
	waiting []waiter // partitions that wait to be added, oldest first
	asked   bool     // Outside was asked for a producer id
}

// NewShard returns a shard without transactional ids.
func NewShard(cfg Config, outside Outside, log *slog.Logger) *Shard {
	return &Shard{cfg: cfg, outside: outside, log: log, ids: map[string]*entry{}}
}

// Replay applies a record.
func (s *Shard) Replay(r coordinator.Record) {
	id, err := decodeKey(r.Key)
	if err != nil {
		s.log.Warn("a record of the transaction log is skipped", "err", err)
		return
	}
	if r.Value == nil {
		s.forget(id)
		return
	}
	tx, err := decodeValue(id, r.Value)
	if err != nil {
		s.log.Error("a record of the transaction log is skipped", "transactional_id", id, "err", err)
		return
	}
	e := s.ids[id]
	if e == nil {
		e = &entry{at: -1}
		s.ids[id] = e
	}
	e.Transaction, e.asked = tx, false
	s.schedule(e)
}

// forget drops a transactional id.
func (s *Shard) forget(id string) {
	e := s.ids[id]
	if e == nil {
		return
	}
	s.due.remove(e)
	delete(s.ids, id)
	e.refuseAll(ErrInvalidProducerIDMapping)
}

// ReplayMarker does nothing: this partition has no transactions of its own.
func (s *Shard) ReplayMarker(coordinator.Marker) {}

// Start has the markers written of what was decided before.
func (s *Shard) Start(t *coordinator.Turn) {
	for _, e := range s.ids {
		if e.State.decided() {
			s.writeMarkers(t, &e.Transaction)
		}
	}
}

// Stop answers everybody who waits.
func (s *Shard) Stop(err error) {
	for _, e := range s.ids {
		e.refuseAll(err)
	}
}

// append makes tx the state of its id.
func (s *Shard) append(t *coordinator.Turn, tx *Transaction) error {
	key, value := encodeKey(tx.ID), encodeValue(tx)
	if len(key)+len(value) > t.RecordBytesMax {
		return coordinator.ErrRecordTooLarge
	}
	t.Append(key, value)
	return nil
}

// writeMarkers has the markers written once the decision is committed.
func (s *Shard) writeMarkers(t *coordinator.Turn, tx *Transaction) {
	d := Decision{
		ID: tx.ID, Producer: coordinator.Producer{ID: tx.ProducerID, Epoch: tx.ProducerEpoch}, CoordinatorEpoch: t.Epoch,
		Commit: tx.State == PrepareCommit, Version: tx.ClientVersion, Partitions: tx.Partitions,
	}
	t.After(func(err error) {
		if err == nil {
			s.outside.WriteMarkers(d)
		}
	})
}

// refuse answers with an error once everything that led to it is committed.
func refuse[T any](t *coordinator.Turn, reply *coordinator.Reply[T], why error) {
	t.After(func(err error) {
		if err == nil {
			err = why
		}
		reply.Fail(err)
	})
}

// Len returns the number of transactional ids.
func (s *Shard) Len() int { return len(s.ids) }
