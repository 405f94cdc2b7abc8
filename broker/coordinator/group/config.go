package group

import (
	"strings"
	"time"

	"moldau/broker/coordinator/group/assignor"
)

// Config is how groups behave. The keys of the broker's configuration have the same names in Kafka.
type Config struct {
	SessionTimeoutMin, SessionTimeoutMax time.Duration // group.min.session.timeout.ms, group.max.session.timeout.ms
	MaxSize                              int           // group.max.size
	InitialRebalanceDelay                time.Duration // group.initial.rebalance.delay.ms
	OffsetMetadataMaxBytes               int           // offset.metadata.max.bytes
	OffsetsRetention                     time.Duration // offsets.retention.minutes
	OffsetsRetentionCheckInterval        time.Duration // offsets.retention.check.interval.ms

	ConsumerMaxSize int                 // group.consumer.max.size
	Migration       Migration           // group.consumer.migration.policy
	Assignors       []assignor.Assignor // group.consumer.assignors, the default one first
	// ConsumerTimes returns the session timeout and the heartbeat interval of a group of the consumer protocol.
	ConsumerTimes func(group string) (session, interval time.Duration)
	// Topics returns the topics there are.
	Topics func() Topics

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

// assignor returns an assignor by its name, or nil.
func (c *Config) assignor(name string) assignor.Assignor {
	for _, a := range c.Assignors {
		if a.Name() == name {
			return a
		}
	}
	return nil
}

// assignorNames returns the names of all assignors.
func (c *Config) assignorNames() string {
	names := make([]string, len(c.Assignors))
	for i, a := range c.Assignors {
		names[i] = a.Name()
	}
	return strings.Join(names, ", ")
}

func (c *Config) consumerSession(group string) time.Duration {
	session, _ := c.ConsumerTimes(group)
	return session
}

func (c *Config) consumerInterval(group string) time.Duration {
	_, interval := c.ConsumerTimes(group)
	return interval
}
