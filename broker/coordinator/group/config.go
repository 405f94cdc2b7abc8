package group

import "time"

// Config is how groups behave. The keys of the broker's configuration have the same names in Kafka.
type Config struct {
	SessionTimeoutMin, SessionTimeoutMax time.Duration // group.min.session.timeout.ms, group.max.session.timeout.ms
	MaxSize                              int           // group.max.size
	InitialRebalanceDelay                time.Duration // group.initial.rebalance.delay.ms
	OffsetMetadataMaxBytes               int           // offset.metadata.max.bytes
	OffsetsRetention                     time.Duration // offsets.retention.minutes
	OffsetsRetentionCheckInterval        time.Duration // offsets.retention.check.interval.ms
	// NewID returns what makes a member id unique.
	NewID func() string
	// Skipped is told of records that cannot be read; nil is nobody.
	Skipped func(key []byte, err error)
}

const (
	// newMemberJoinTimeout is how long a new member may wait for a rebalance to end. Its client may be gone without anybody
	// noticing, and may have left many of its kind behind.
	newMemberJoinTimeout = 5 * time.Minute
	// maxPendingMembers bounds the members of a group that have been given an id and have not joined with it.
	maxPendingMembers = 10_000
)
