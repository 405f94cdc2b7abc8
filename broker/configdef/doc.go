// Package configdef knows every configuration of topics, brokers, client metrics subscriptions and broker loggers by
// Kafka's names: type, default, permitted values, importance, the broker configs that a topic config falls back to,
// and whether this broker acts on it. It turns texts into the values that the log and the partition work with, checks
// changes the way Apache Kafka 4.4 does and with its error texts, and answers where a value comes from.
//
// Everything here is pure: no I/O, no goroutines, no clock. Tables are built once, on first use, and never change, so
// all functions may be called from any goroutine.
//
// # Who calls it
//
// Package broker calls ParseTopic when topics are made or changed and when the partition manager applies an image, and
// DescribeTopic, DescribeBroker, DescribeClientMetrics and Alter for the admin verbs. docs/configs.md is generated from
// the tables by
//
//	go generate ./broker/configdef
//
// # Where to start reading
//
// key.go is one config. topic_keys.go, broker_keys.go and client_metrics.go are the tables. layers.go explains how
// a topic config finds its value among topic, broker and cluster. topic.go holds the parsed result, alter.go the
// rules of a change, describe.go the answers of DescribeConfigs.
//
// # Invariants
//
//   - The tables of topic and client metrics configs have exactly Kafka 4.4's names, types, defaults and bounds, but for the
//     topic configs marked Own (validation.go)
//     (testdata/kafka-4.4.tsv is a dump of them, and a test compares).
//   - A value that Parse accepts never fails later: ParseTopic on accepted overrides returns no error.
//   - Sensitive values never leave through Describe functions.
package configdef
