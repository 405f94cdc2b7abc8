package broker

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"moldau/broker/coordinator/group"
	"moldau/broker/metadata"
)

// GroupConfig is the part of Config about consumer groups and committed offsets.
type GroupConfig struct {
	SessionTimeoutMin     time.Duration `kafka:"group.min.session.timeout.ms" doc:"The shortest session timeout that a member of a classic group may ask for."`
	SessionTimeoutMax     time.Duration `kafka:"group.max.session.timeout.ms" doc:"The longest session timeout that a member of a classic group may ask for."`
	MaxSize               int32         `kafka:"group.max.size" doc:"The number of members of a classic group at most."`
	InitialRebalanceDelay time.Duration `kafka:"group.initial.rebalance.delay.ms" doc:"How long the first rebalance of an empty group waits for more members. 0, because waiting costs every start of a lone consumer; Kafka waits 3000."`

	OffsetMetadataMaxBytes        int32         `kafka:"offset.metadata.max.bytes" doc:"The length of the metadata that may be committed with an offset."`
	OffsetsRetentionMinutes       int32         `kafka:"offsets.retention.minutes" doc:"How long offsets are kept after the group became empty; those of groups that only commit, and of topics that a group no longer subscribes to, after the last commit."`
	OffsetsRetentionCheckInterval time.Duration `kafka:"offsets.retention.check.interval.ms" doc:"How often expired offsets are searched for."`
	OffsetsCommitTimeout          time.Duration `kafka:"offsets.commit.timeout.ms" doc:"How long a change of a group or an offset may take to be committed before its client is told to try again."`
	OffsetsTopicPartitions        int32         `kafka:"offsets.topic.num.partitions" doc:"The number of partitions of __consumer_offsets, when it is made."`
	OffsetsTopicReplication       int16         `kafka:"offsets.topic.replication.factor" doc:"The number of replicas of __consumer_offsets, when it is made; as many as there are brokers at most."`
	OffsetsTopicSegmentBytes      int32         `kafka:"offsets.topic.segment.bytes" doc:"The size of a segment of __consumer_offsets, when it is made."`
}

// defaultGroupConfig returns Kafka's defaults, but for the initial rebalance delay.
func defaultGroupConfig() GroupConfig {
	return GroupConfig{
		SessionTimeoutMin: 6 * time.Second, SessionTimeoutMax: 30 * time.Minute, MaxSize: math.MaxInt32,
		OffsetMetadataMaxBytes: 4096, OffsetsRetentionMinutes: 7 * 24 * 60, OffsetsRetentionCheckInterval: 10 * time.Minute,
		OffsetsCommitTimeout: 5 * time.Second, OffsetsTopicPartitions: 50, OffsetsTopicReplication: 3,
		OffsetsTopicSegmentBytes: 100 << 20,
	}
}

// validate reports what is wrong with c.
func (c *GroupConfig) validate(want func(ok bool, format string, args ...any)) {
	want(c.SessionTimeoutMin >= time.Millisecond, "group.min.session.timeout.ms is %v, it must be at least 1 ms", c.SessionTimeoutMin)
	want(c.SessionTimeoutMax >= c.SessionTimeoutMin, "group.max.session.timeout.ms is %v, less than group.min.session.timeout.ms", c.SessionTimeoutMax)
	want(c.MaxSize >= 1, "group.max.size is %d, it must be at least 1", c.MaxSize)
	want(c.InitialRebalanceDelay >= 0, "group.initial.rebalance.delay.ms is %v, it must not be negative", c.InitialRebalanceDelay)
	want(c.OffsetMetadataMaxBytes >= 0, "offset.metadata.max.bytes is %d, it must not be negative", c.OffsetMetadataMaxBytes)
	want(c.OffsetsRetentionMinutes >= 1, "offsets.retention.minutes is %d, it must be at least 1", c.OffsetsRetentionMinutes)
	want(c.OffsetsRetentionCheckInterval >= time.Millisecond, "offsets.retention.check.interval.ms is %v, it must be at least 1 ms", c.OffsetsRetentionCheckInterval)
	want(c.OffsetsCommitTimeout >= time.Millisecond, "offsets.commit.timeout.ms is %v, it must be at least 1 ms", c.OffsetsCommitTimeout)
	want(c.OffsetsTopicPartitions >= 1, "offsets.topic.num.partitions is %d, it must be at least 1", c.OffsetsTopicPartitions)
	want(c.OffsetsTopicReplication >= 1, "offsets.topic.replication.factor is %d, it must be at least 1", c.OffsetsTopicReplication)
	want(c.OffsetsTopicSegmentBytes >= 1, "offsets.topic.segment.bytes is %d, it must be at least 1", c.OffsetsTopicSegmentBytes)
}

// core returns the configuration as the groups themselves need it.
func (c *GroupConfig) core() group.Config {
	return group.Config{
		SessionTimeoutMin: c.SessionTimeoutMin, SessionTimeoutMax: c.SessionTimeoutMax, MaxSize: int(c.MaxSize),
		InitialRebalanceDelay: c.InitialRebalanceDelay, OffsetMetadataMaxBytes: int(c.OffsetMetadataMaxBytes),
		OffsetsRetention:              time.Duration(c.OffsetsRetentionMinutes) * time.Minute,
		OffsetsRetentionCheckInterval: c.OffsetsRetentionCheckInterval,
		NewID:                         newUUID,
	}
}

// newUUID returns a random uuid in its usual form.
func newUUID() string {
	id := metadata.NewTopicID()
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// topicConfig returns the overrides of __consumer_offsets.
func (c *GroupConfig) topicConfig() map[string]string {
	return map[string]string{
		"cleanup.policy":   "compact",
		"compression.type": "producer",
		"segment.bytes":    strconv.Itoa(int(c.OffsetsTopicSegmentBytes)),
	}
}
