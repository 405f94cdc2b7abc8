package configdef

// wireKeys are the configs of the Kafka edge.
func wireKeys() []Key {
	return append([]Key{
		{
			Name: "connections.max.idle.ms", Type: Long, Default: "600000", Valid: atLeast(1000), Importance: Medium,
			Doc: "How long a connection may be idle before it is closed.",
		},
		{
			Name: "fetch.max.bytes", Type: Int, Default: "57671680", Valid: atLeast(1024), Importance: Medium,
			Doc: "The size of a Fetch response at most, whatever the client asks.",
		},
		{
			Name: "max.connection.creation.rate", Type: Int, Default: "0", Valid: atLeast(0), Importance: Medium,
			Doc: "The number of connections that are accepted in a second at most; others are closed at once. 0 is no limit.",
		},
		{
			Name: "max.connections", Type: Int, Default: "0", Valid: atLeast(0), Importance: Medium,
			Doc: "The number of connections at most. 0 takes 70 % of the limit of open files, 10,000 at most.",
		},
		{
			Name: "max.connections.per.ip", Type: Int, Default: "0", Valid: atLeast(0), Importance: Medium,
			Doc: "The number of connections from one address at most. 0 is no limit.",
		},
		{
			Name: "max.incremental.fetch.session.cache.slots", Type: Int, Default: "1000", Valid: atLeast(0), Importance: Medium,
			Doc: "The number of incremental fetch sessions that are kept.",
		},
		{
			Name: "max.request.partition.size.limit", Type: Int, Default: "2000", Valid: atLeast(1), Importance: Medium,
			Doc: "The number of partitions that one DescribeTopicPartitions answer holds at most.",
		},
		{
			Name: "num.io.threads", Type: Int, Default: "8", Valid: atLeast(1), Importance: High,
			Doc: "How many requests execute at the same time. Requests that only wait do not count.",
		},
		{
			Name: "queued.max.request.bytes", Type: Long, Default: "0", Valid: atLeast(0), Importance: Medium,
			Doc: "The memory that requests being received or executed hold at most, over all connections; beyond it connections are not read. 0 takes a quarter of the memory, 1 GiB at most.",
		},
		{
			Name: "queued.max.requests", Type: Int, Default: "500", Valid: atLeast(1), Importance: High,
			Doc: "How many requests may wait for one of the num.io.threads; beyond it connections are not read.",
		},
		{
			Name: "socket.request.max.bytes", Type: Int, Default: "104857600", Valid: atLeast(1024), Importance: High,
			Doc: "The size of a request at most. Larger ones close the connection.",
		},
		{
			Name: "telemetry.max.bytes", Type: Int, Default: "1048576", Valid: atLeast(1), Importance: Low,
			Doc: "The size of a client's pushed metrics at most, as sent (KIP-714).",
		},
	}, ownWireKeys()...)
}

// ownWireKeys are those that Kafka doesn't have.
func ownWireKeys() []Key {
	return []Key{
		{
			Name: "connection.authentication.timeout.ms", Type: Long, Default: "10000", Valid: atLeast(1000), Importance: Low, Own: true,
			Doc: "How long a peer may take to authenticate, TLS handshake included.",
		},
		{
			Name: "connection.max.read.ahead.bytes", Type: Int, Default: "16777216", Valid: atLeast(1), Importance: Low, Own: true,
			Doc: "The size of the requests of one connection that are executed while the answer to an earlier one waits.",
		},
		{
			Name: "connection.max.read.ahead.requests", Type: Int, Default: "100", Valid: atLeast(1), Importance: Low, Own: true,
			Doc: "How many requests of one connection are executed while the answer to an earlier one waits.",
		},
		{
			Name: "request.control.max.bytes", Type: Int, Default: "16777216", Valid: atLeast(1024), Importance: Low, Own: true,
			Doc: "The size of a request that carries no records at most.",
		},
		{
			Name: "request.receive.grace.ms", Type: Long, Default: "10000", Valid: atLeast(1000), Importance: Low, Own: true,
			Doc: "How long a request may take to arrive before it must progress by 1 KiB/s.",
		},
		{
			Name: "request.unauthenticated.max.bytes", Type: Int, Default: "65536", Valid: atLeast(1024), Importance: Low, Own: true,
			Doc: "The size of a request at most before the peer has authenticated.",
		},
		{
			Name: "response.write.timeout.ms", Type: Long, Default: "30000", Valid: atLeast(1000), Importance: Low, Own: true,
			Doc: "How long the peer may leave a response unread before the connection is closed.",
		},
	}
}
