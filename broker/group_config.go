package broker

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"moldau/broker/configdef"
	"moldau/broker/coordinator/group"
	"moldau/broker/coordinator/group/assignor"
	"moldau/broker/metadata"
)

// GroupConfig is the part of Config about consumer groups and committed offsets.
type GroupConfig struct {
	SessionTimeoutMin     time.Duration `kafka:"group.min.session.timeout.ms" doc:"The shortest session timeout that a member of a classic group may ask for."`
	SessionTimeoutMax     time.Duration `kafka:"group.max.session.timeout.ms" doc:"The longest session timeout that a member of a classic group may ask for."`
	MaxSize               int32         `kafka:"group.max.size" doc:"The number of members of a classic group at most."`
	InitialRebalanceDelay time.Duration `kafka:"group.initial.rebalance.delay.ms" doc:"How long the first rebalance of an empty group waits for more members. 0, because waiting costs every start of a lone consumer; Kafka waits 3000."`

	ConsumerSessionTimeout    time.Duration `kafka:"group.consumer.session.timeout.ms" doc:"How long a member of a group of the consumer protocol (KIP-848) may be silent before it is taken for dead."`
	ConsumerSessionTimeoutMin time.Duration `kafka:"group.consumer.min.session.timeout.ms" doc:"The shortest consumer.session.timeout.ms of a group."`
	ConsumerSessionTimeoutMax time.Duration `kafka:"group.consumer.max.session.timeout.ms" doc:"The longest consumer.session.timeout.ms of a group."`
	ConsumerHeartbeat         time.Duration `kafka:"group.consumer.heartbeat.interval.ms" doc:"How often members of groups of the consumer protocol are told to send a heartbeat."`
	ConsumerHeartbeatMin      time.Duration `kafka:"group.consumer.min.heartbeat.interval.ms" doc:"The shortest consumer.heartbeat.interval.ms of a group."`
	ConsumerHeartbeatMax      time.Duration `kafka:"group.consumer.max.heartbeat.interval.ms" doc:"The longest consumer.heartbeat.interval.ms of a group."`
	ConsumerMaxSize           int32         `kafka:"group.consumer.max.size" doc:"The number of members of a group of the consumer protocol at most."`
	ConsumerAssignors         []string      `kafka:"group.consumer.assignors" doc:"The assignors that members of groups of the consumer protocol may ask for, separated by commas: uniform, range. The first is taken where nobody asks."`
	ConsumerMigrationPolicy   string        `kafka:"group.consumer.migration.policy" doc:"Whether groups may change their protocol while they have members: upgrade lets members of the consumer protocol into classic groups, downgrade makes a group a classic one when the last of them leaves, bidirectional does both, disabled neither."`

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
		ConsumerSessionTimeout: 45 * time.Second, ConsumerSessionTimeoutMin: 45 * time.Second, ConsumerSessionTimeoutMax: time.Minute,
		ConsumerHeartbeat: 5 * time.Second, ConsumerHeartbeatMin: 5 * time.Second, ConsumerHeartbeatMax: 15 * time.Second,
		ConsumerMaxSize: math.MaxInt32, ConsumerAssignors: []string{"uniform", "range"}, ConsumerMigrationPolicy: "bidirectional",
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
	c.validateConsumer(want)
	want(c.OffsetMetadataMaxBytes >= 0, "offset.metadata.max.bytes is %d, it must not be negative", c.OffsetMetadataMaxBytes)
	want(c.OffsetsRetentionMinutes >= 1, "offsets.retention.minutes is %d, it must be at least 1", c.OffsetsRetentionMinutes)
	want(c.OffsetsRetentionCheckInterval >= time.Millisecond, "offsets.retention.check.interval.ms is %v, it must be at least 1 ms", c.OffsetsRetentionCheckInterval)
	want(c.OffsetsCommitTimeout >= time.Millisecond, "offsets.commit.timeout.ms is %v, it must be at least 1 ms", c.OffsetsCommitTimeout)
	want(c.OffsetsTopicPartitions >= 1, "offsets.topic.num.partitions is %d, it must be at least 1", c.OffsetsTopicPartitions)
	want(c.OffsetsTopicReplication >= 1, "offsets.topic.replication.factor is %d, it must be at least 1", c.OffsetsTopicReplication)
	want(c.OffsetsTopicSegmentBytes >= 1, "offsets.topic.segment.bytes is %d, it must be at least 1", c.OffsetsTopicSegmentBytes)
}

// validateConsumer reports what is wrong with the configs of groups of the consumer protocol.
func (c *GroupConfig) validateConsumer(want func(ok bool, format string, args ...any)) {
	want(c.ConsumerHeartbeatMin >= time.Millisecond, "group.consumer.min.heartbeat.interval.ms is %v, it must be at least 1 ms", c.ConsumerHeartbeatMin)
	want(c.ConsumerHeartbeat >= c.ConsumerHeartbeatMin, "group.consumer.heartbeat.interval.ms is %v, less than group.consumer.min.heartbeat.interval.ms", c.ConsumerHeartbeat)
	want(c.ConsumerHeartbeat <= c.ConsumerHeartbeatMax, "group.consumer.heartbeat.interval.ms is %v, more than group.consumer.max.heartbeat.interval.ms", c.ConsumerHeartbeat)
	want(c.ConsumerSessionTimeoutMin >= time.Millisecond, "group.consumer.min.session.timeout.ms is %v, it must be at least 1 ms", c.ConsumerSessionTimeoutMin)
	want(c.ConsumerSessionTimeout >= c.ConsumerSessionTimeoutMin, "group.consumer.session.timeout.ms is %v, less than group.consumer.min.session.timeout.ms", c.ConsumerSessionTimeout)
	want(c.ConsumerSessionTimeout <= c.ConsumerSessionTimeoutMax, "group.consumer.session.timeout.ms is %v, more than group.consumer.max.session.timeout.ms", c.ConsumerSessionTimeout)
	want(c.ConsumerSessionTimeout > c.ConsumerHeartbeat, "group.consumer.session.timeout.ms is %v, it must be more than group.consumer.heartbeat.interval.ms", c.ConsumerSessionTimeout)
	want(c.ConsumerMaxSize >= 1, "group.consumer.max.size is %d, it must be at least 1", c.ConsumerMaxSize)
	assignors, err := c.assignors()
	want(err == nil && len(assignors) > 0, "group.consumer.assignors is %v, it must name uniform or range", c.ConsumerAssignors)
	_, err = group.ParseMigration(strings.ToLower(c.ConsumerMigrationPolicy))
	want(err == nil, "group.consumer.migration.policy: %v", err)
}

// assignors returns the assignors that members may ask for.
func (c *GroupConfig) assignors() ([]assignor.Assignor, error) {
	var out []assignor.Assignor
	for _, name := range c.ConsumerAssignors {
		i := slices.IndexFunc(assignor.All(), func(a assignor.Assignor) bool { return a.Name() == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no assignor %q", name)
		}
		out = append(out, assignor.All()[i])
	}
	return out, nil
}

// limits returns the times of groups of the consumer protocol, with the bounds for those of single groups.
func (c *GroupConfig) limits() configdef.GroupLimits {
	return configdef.GroupLimits{
		Session: c.ConsumerSessionTimeout, SessionMin: c.ConsumerSessionTimeoutMin, SessionMax: c.ConsumerSessionTimeoutMax,
		Heartbeat: c.ConsumerHeartbeat, HeartbeatMin: c.ConsumerHeartbeatMin, HeartbeatMax: c.ConsumerHeartbeatMax,
	}
}

// core returns the configuration as the groups themselves need it. The config must be valid.
func (c *GroupConfig) core(image func() *metadata.Image) (group.Config, error) {
	migration, err := group.ParseMigration(strings.ToLower(c.ConsumerMigrationPolicy))
	if err != nil {
		return group.Config{}, fmt.Errorf("group.consumer.migration.policy: %w", err)
	}
	assignors, err := c.assignors()
	if err != nil {
		return group.Config{}, fmt.Errorf("group.consumer.assignors: %w", err)
	}
	limits := c.limits()
	return group.Config{
		SessionTimeoutMin: c.SessionTimeoutMin, SessionTimeoutMax: c.SessionTimeoutMax, MaxSize: int(c.MaxSize),
		InitialRebalanceDelay: c.InitialRebalanceDelay, OffsetMetadataMaxBytes: int(c.OffsetMetadataMaxBytes),
		OffsetsRetention:              time.Duration(c.OffsetsRetentionMinutes) * time.Minute,
		OffsetsRetentionCheckInterval: c.OffsetsRetentionCheckInterval,
		NewID:                         newUUID,
		ConsumerMaxSize:               int(c.ConsumerMaxSize), Migration: migration, Assignors: assignors,
		ConsumerTimes: func(id string) (session, interval time.Duration) {
			return limits.GroupTimes(image().Config(metadata.GroupResource, id))
		},
		Topics: func() group.Topics { return groupTopics{image()} },
	}, nil
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
