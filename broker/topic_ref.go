package broker

import "moldau/broker/metadata"

// TopicRef names a topic the way a request did: by name (older versions) or by id. Where both are set, they must belong
// together.
type TopicRef struct {
	Name string
	ID   metadata.TopicID
}

// LeaderHint tells who leads a partition, so that a client finds its way without asking for metadata (KIP-951).
// Without knowledge both fields are -1. The endpoint of the leader is in Node.Image.
type LeaderHint struct {
	ID, Epoch int32
}

// noLeader is the hint without knowledge.
var noLeader = LeaderHint{ID: -1, Epoch: -1}

// EpochEnd is the end of a leader epoch in a log: the first offset after its last record.
type EpochEnd struct {
	Epoch     int32
	EndOffset int64
}
