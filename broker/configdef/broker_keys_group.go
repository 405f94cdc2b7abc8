package configdef

// groupKeys are the configs of consumer groups and of the offsets that they commit.
func groupKeys() []Key {
	return []Key{
		{
			Name: "group.consumer.assignors", Type: List, Default: "uniform,range", Valid: listOf{"uniform", "range"}, Importance: Medium,
			Doc: "The assignors that members of groups of the consumer protocol may ask for; the first is taken where nobody asks.",
		},
		{
			Name: "group.consumer.heartbeat.interval.ms", Type: Int, Default: "5000", Valid: atLeast(1), Importance: Medium,
			Doc: "How often members of groups of the consumer protocol are told to send a heartbeat.",
		},
		{
			Name: "group.consumer.max.heartbeat.interval.ms", Type: Int, Default: "15000", Valid: atLeast(1), Importance: Medium,
			Doc: "The longest consumer.heartbeat.interval.ms of a group.",
		},
		{
			Name: "group.consumer.max.session.timeout.ms", Type: Int, Default: "60000", Valid: atLeast(1), Importance: Medium,
			Doc: "The longest consumer.session.timeout.ms of a group.",
		},
		{
			Name: "group.consumer.max.size", Type: Int, Default: "2147483647", Valid: atLeast(1), Importance: Medium,
			Doc: "The number of members of a group of the consumer protocol at most.",
		},
		{
			Name: "group.consumer.migration.policy", Type: String, Default: "bidirectional", Valid: oneOfFold{"DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL"}, Importance: Medium,
			Doc: "Whether groups may change their protocol while they have members: upgrade lets members of the consumer protocol into classic groups, downgrade makes a group a classic one when the last of them leaves.",
		},
		{
			Name: "group.consumer.min.heartbeat.interval.ms", Type: Int, Default: "5000", Valid: atLeast(1), Importance: Medium,
			Doc: "The shortest consumer.heartbeat.interval.ms of a group.",
		},
		{
			Name: "group.consumer.min.session.timeout.ms", Type: Int, Default: "45000", Valid: atLeast(1), Importance: Medium,
			Doc: "The shortest consumer.session.timeout.ms of a group.",
		},
		{
			Name: "group.consumer.session.timeout.ms", Type: Int, Default: "45000", Valid: atLeast(1), Importance: Medium,
			Doc: "How long a member of a group of the consumer protocol may be silent before it is taken for dead.",
		},
		{
			Name: "group.initial.rebalance.delay.ms", Type: Int, Default: "0", Valid: atLeast(0), Importance: Medium,
			Doc: "How long the first rebalance of an empty group waits for more members. Kafka's default is 3000; here it is 0, because the wait delays every start of a lone consumer, and members that come later cost one more rebalance.",
		},
		{
			Name: "group.max.session.timeout.ms", Type: Int, Default: "1800000", Importance: Medium,
			Doc: "The longest session timeout that a member of a classic group may ask for.",
		},
		{
			Name: "group.max.size", Type: Int, Default: "2147483647", Valid: atLeast(1), Importance: Medium,
			Doc: "The number of members of a classic group at most.",
		},
		{
			Name: "group.min.session.timeout.ms", Type: Int, Default: "6000", Importance: Medium,
			Doc: "The shortest session timeout that a member of a classic group may ask for.",
		},
		{
			Name: "offset.metadata.max.bytes", Type: Int, Default: "4096", Importance: High,
			Doc: "The length of the metadata that may be committed with an offset.",
		},
		{
			Name: "offsets.commit.timeout.ms", Type: Int, Default: "5000", Valid: atLeast(1), Importance: High,
			Doc: "How long a change of a group or an offset may take to be committed before its client is told to try again.",
		},
		{
			Name: "offsets.retention.check.interval.ms", Type: Long, Default: "600000", Valid: atLeast(1), Importance: High,
			Doc: "How often expired offsets are searched for.",
		},
		{
			Name: "offsets.retention.minutes", Type: Int, Default: "10080", Valid: atLeast(1), Importance: High,
			Doc: "How long offsets are kept after their group became empty; those of groups that only commit, and of topics that a group no longer subscribes to, after the last commit.",
		},
		{
			Name: "offsets.topic.num.partitions", Type: Int, Default: "50", Valid: atLeast(1), Importance: High,
			Doc: "The number of partitions of __consumer_offsets, when it is made.",
		},
		{
			Name: "offsets.topic.replication.factor", Type: Short, Default: "3", Valid: atLeast(1), Importance: High,
			Doc: "The number of replicas of __consumer_offsets, when it is made; as many as there are brokers at most.",
		},
		{
			Name: "offsets.topic.segment.bytes", Type: Int, Default: "104857600", Valid: atLeast(1), Importance: High,
			Doc: "The size of a segment of __consumer_offsets, when it is made.",
		},
	}
}
