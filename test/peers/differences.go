package peers

import (
	"fmt"
	"strings"
)

// Difference is one way in which our answers are allowed to differ from those
// of Apache Kafka, and why.
type Difference struct {
	// Label and Path are regular expressions: of the request's label in the
	// scenarios, such as "Produce too large v9", and of the field's path.
	Label, Path string
	// Why is a sentence for people.
	Why string
}

// DifferencesDocument is docs/kafka-differences.md.
func DifferencesDocument() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<!-- Made by `+"`go generate ./test/peers`"+` from test/peers/differences.go. Do not edit. -->

# Where answers differ from Apache Kafka %s

The scenarios of test/peers send the same requests, in every version, to Apache Kafka and to Moldau and compare the
answers field by field (`+"`make peers`"+`). This is every difference that they find; one that is not listed here fails the run,
and so does a listed one that no longer occurs. Topic ids, addresses, producer ids and times of the clock are left out.

| request | field | why |
|---|---|---|
`, KafkaVersion)
	for _, d := range Differences {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", cell(d.Label), cell(d.Path), d.Why)
	}
	return b.String()
}

func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

// Differences is every place where our answer is not Apache Kafka's, with the
// reason. Each must occur in a run of TestSameAnswers.
var Differences = []Difference{
	{
		`^CreateTopics|^DescribeConfigs`, `Configs\[min\.insync\.replicas\]\.Source`,
		"Kafka writes min.insync.replicas as a dynamic default of the cluster when it formats a directory with eligible leader replicas on; here it stays the default that it is.",
	},
	{
		`^CreateTopics|^DescribeConfigs topic`, `Configs\[(schema\.validation|(confluent|redpanda)\.(key|value))\.|Configs\.len$`,
		"A topic has the configs of validation beside Kafka's, under our names and under those of Confluent and Redpanda: see docs/validation.md. No other name may be there or lack.",
	},
	{
		`^CreateTopics collision`, `Topics\[a_b`,
		"Two names that differ in `.` and `_` only collide in metrics. Kafka refuses the second unless both are in one request; here it is refused there, too.",
	},
	{
		`^Produce|^DescribeProducers|^DescribeConfigs unknown topic|^CreatePartitions unknown|^AlterPartitionReassignments cancel`, `ErrorMessage$`,
		"Where Kafka leaves the message of an error empty, or names the topic in it, the answer here says what was wrong and with which value.",
	},
	{
		`^Produce (idempotent (older )?)?duplicate`, `LogAppendTime$`,
		"Kafka answers a duplicate with the time of its original even where the topic keeps the producer's time; the protocol has -1 for such topics, and so have we.",
	},
	{
		`^Fetch (unknown|from the old id)`, `AbortedTransactions`,
		"With an error the list of aborted transactions is null here and empty in Kafka; it means nothing in either form.",
	},
	{
		`^DescribeConfigs`, `ConfigSynonyms`,
		"The synonyms of a topic configuration include the broker's older unit variants (log.retention.hours), as the documentation of Kafka has them.",
	},
	{
		`^TxnOffsetCommit unknown id`, `ErrorCode$`,
		"Kafka asks the transaction coordinator about the first commit of a transaction only, so that a later one passes under whatever transactional id; here every commit is held against its transaction.",
	},
	{
		`^ConsumerGroupHeartbeat (ahead|static (unreleased|fenced|leaves fenced))`, `ErrorMessage$`,
		"Kafka's message names member ids and epochs, ours says what the error means.",
	},
	{
		`^JoinGroup static downgrades`, `^Generation$`,
		"A static member that was away comes back with the classic protocol, to a group that is to be assigned anew: Kafka tells it generation 0, which its next request finds wrong. Here it is assigned first.",
	},
	{
		`^DescribeGroups static downgraded`, `\.(State|Protocol|ProtocolMetadata|MemberAssignment)$`,
		"As above: here the group is stable with what was assigned, in Kafka it begins a rebalance.",
	},
	{
		`^ElectLeaders none`, `^(Replica)?Topics|\.len$`,
		"Every partition is asked for; the two brokers hold different topics at that moment.",
	},
}

//go:generate go test -run ^TestDifferencesDocument$ -args -write
