package configdef

// groupKeys are the configs of consumer groups and of the offsets that they commit.
func groupKeys() []Key {
	return []Key{
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
