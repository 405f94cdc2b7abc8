package broker

import (
	"strconv"
	"time"

	"moldau/broker/coordinator/txn"
)

// TransactionConfig is the part of Config about transactions.
type TransactionConfig struct {
	TimeoutMax      time.Duration `kafka:"transaction.max.timeout.ms" doc:"The longest time that a producer may ask for its transactions; one that lasts longer than its producer asked for is aborted."`
	IDExpiration    time.Duration `kafka:"transactional.id.expiration.ms" doc:"How long a transactional id is remembered that nobody uses."`
	LogPartitions   int32         `kafka:"transaction.state.log.num.partitions" doc:"The number of partitions of __transaction_state, when it is made."`
	LogReplication  int16         `kafka:"transaction.state.log.replication.factor" doc:"The number of replicas of __transaction_state, when it is made; as many as there are brokers at most."`
	LogMinISR       int32         `kafka:"transaction.state.log.min.isr" doc:"The min.insync.replicas of __transaction_state, when it is made."`
	LogSegmentBytes int32         `kafka:"transaction.state.log.segment.bytes" doc:"The size of a segment of __transaction_state, when it is made."`
}

// defaultTransactionConfig returns Kafka's defaults.
func defaultTransactionConfig() TransactionConfig {
	return TransactionConfig{
		TimeoutMax: 15 * time.Minute, IDExpiration: 7 * 24 * time.Hour, LogPartitions: 50, LogReplication: 3, LogMinISR: 2,
		LogSegmentBytes: 100 << 20,
	}
}

// validate reports what is wrong with c.
func (c *TransactionConfig) validate(want func(ok bool, format string, args ...any)) {
	want(c.TimeoutMax >= time.Millisecond, "transaction.max.timeout.ms is %v, it must be at least 1 ms", c.TimeoutMax)
	want(c.IDExpiration >= time.Millisecond, "transactional.id.expiration.ms is %v, it must be at least 1 ms", c.IDExpiration)
	want(c.LogPartitions >= 1, "transaction.state.log.num.partitions is %d, it must be at least 1", c.LogPartitions)
	want(c.LogReplication >= 1, "transaction.state.log.replication.factor is %d, it must be at least 1", c.LogReplication)
	want(c.LogMinISR >= 1, "transaction.state.log.min.isr is %d, it must be at least 1", c.LogMinISR)
	want(c.LogSegmentBytes >= 1024, "transaction.state.log.segment.bytes is %d, it must be at least 1024", c.LogSegmentBytes)
}

// parkMax is how long partitions wait to be added while the transaction before is completed, which takes a few flushes.
const parkMax = 100 * time.Millisecond

// core returns the configuration as the coordinator itself needs it.
func (c *TransactionConfig) core() txn.Config {
	return txn.Config{TimeoutMax: c.TimeoutMax, IDExpiration: c.IDExpiration, ParkMax: parkMax}
}

// topicConfig returns the overrides of __transaction_state.
func (c *TransactionConfig) topicConfig() map[string]string {
	return map[string]string{
		"cleanup.policy":                 "compact",
		"compression.type":               "uncompressed",
		"min.insync.replicas":            strconv.Itoa(int(c.LogMinISR)),
		"segment.bytes":                  strconv.Itoa(int(c.LogSegmentBytes)),
		"unclean.leader.election.enable": "false",
	}
}
