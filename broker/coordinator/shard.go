package coordinator

import "time"

// Shard is the state of one partition. It is pure: no locks, no I/O, no clock. All methods are called by the owner.
type Shard interface {
	// Replay applies one record: the only way to change durable state. It is called for every record of the log while
	// loading, and by Turn.Append from then on. The bytes are valid during the call only. Records it cannot read are for
	// it to skip and to report: the log may come from a newer version.
	Replay(r Record)
	// ReplayMarker ends the transaction of a producer.
	ReplayMarker(m Marker)
	// Start is called once, when the log has been replayed to its end.
	Start(t *Turn)
	// NextDeadline returns when Expire wants to be called; the zero time is never.
	NextDeadline() time.Time
	// Expire does what is due at t.Now.
	Expire(t *Turn)
	// Stop answers everybody who waits in the shard with err. Nothing is called afterwards.
	Stop(err error)
}

// Record is a record of the partition. A nil Value is a tombstone.
type Record struct {
	Key, Value []byte
	// Producer is who wrote the record within a transaction; NoProducer outside of one.
	Producer Producer
}

// Producer is a producer id with its epoch.
type Producer struct {
	ID    int64
	Epoch int16
}

// NoProducer stands for the coordinator itself.
var NoProducer = Producer{ID: -1, Epoch: -1}

// Marker is a control record that ends the transaction of a producer in the partition.
type Marker struct {
	Producer
	// CoordinatorEpoch is the leader epoch of the transaction coordinator that sent it.
	CoordinatorEpoch int32
	Commit           bool
}
