package configdef

// transactionKeys are the configs of transactions.
func transactionKeys() []Key {
	return []Key{
		{
			Name: "transaction.max.timeout.ms", Type: Int, Default: "900000", Valid: atLeast(1), Importance: High,
			Doc: "The longest time that a producer may ask for its transactions; one that lasts longer than its producer asked for is aborted.",
		},
		{
			Name: "transaction.state.log.min.isr", Type: Int, Default: "2", Valid: atLeast(1), Importance: High,
			Doc: "The min.insync.replicas of __transaction_state, when it is made.",
		},
		{
			Name: "transaction.state.log.num.partitions", Type: Int, Default: "50", Valid: atLeast(1), Importance: High,
			Doc: "The number of partitions of __transaction_state, when it is made.",
		},
		{
			Name: "transaction.state.log.replication.factor", Type: Short, Default: "3", Valid: atLeast(1), Importance: High,
			Doc: "The number of replicas of __transaction_state, when it is made; as many as there are brokers at most.",
		},
		{
			Name: "transaction.state.log.segment.bytes", Type: Int, Default: "104857600", Valid: atLeast(1), Importance: High,
			Doc: "The size of a segment of __transaction_state, when it is made.",
		},
		{
			Name: "transactional.id.expiration.ms", Type: Int, Default: "604800000", Valid: atLeast(1), Importance: High,
			Doc: "How long a transactional id is remembered that nobody uses.",
		},
	}
}
