package coordinator

import "time"

// Turn is one operation on a shard: what it may know beside the shard's state, and what it decides. It is good until the
// operation returns.
type Turn struct {
	// Now is the time of the operation.
	Now time.Time
	// Epoch is the leader epoch of the partition.
	Epoch int32
	// RecordBytesMax is how long key and value of a record may be together.
	RecordBytesMax int

	shard   Shard
	entries []entry
	answers []func(error)
}

// entry is what goes into the log: a record, or a marker.
type entry struct {
	Record
	marker *Marker
}

// NewTurn returns a turn outside of a runtime, for tests of shards.
func NewTurn(s Shard, now time.Time) *Turn {
	return &Turn{Now: now, RecordBytesMax: 1 << 20, shard: s}
}

// Append replays a record into the shard and lets it be appended to the log. A nil value is a tombstone. The bytes must not
// be changed afterwards.
func (t *Turn) Append(key, value []byte) { t.AppendAs(NoProducer, key, value) }

// AppendAs does the same as part of a producer's transaction.
func (t *Turn) AppendAs(p Producer, key, value []byte) {
	r := Record{Key: key, Value: value, Producer: p}
	t.entries = append(t.entries, entry{Record: r})
	t.shard.Replay(r)
}

// End replays a marker into the shard and lets it be appended to the log.
func (t *Turn) End(m Marker) {
	t.entries = append(t.entries, entry{marker: &m})
	t.shard.ReplayMarker(m)
}

// After has f called exactly once: with nil when everything that the shard has replayed is committed, or with one of this
// package's errors. It is called by the owner, or before the operation's caller returns, and must not block.
func (t *Turn) After(f func(err error)) { t.answers = append(t.answers, f) }

// Records returns the records of the turn so far.
func (t *Turn) Records() []Record {
	var out []Record
	for _, e := range t.entries {
		if e.marker == nil {
			out = append(out, e.Record)
		}
	}
	return out
}

// Settle ends a turn of NewTurn: it gives all answers.
func (t *Turn) Settle(err error) {
	answers := t.answers
	t.answers = nil
	for _, f := range answers {
		f(err)
	}
}
