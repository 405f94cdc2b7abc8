// Package peers starts the systems Moldau is compared with, so that a test
// can send the same bytes to both and compare the answers.
//
// Kafka is Apache Kafka taken from Maven Central: [StartKafka] resolves the
// class path once per machine (Maven's own cache does the rest), formats a
// KRaft data directory in the test's temporary folder, starts one node that is
// broker and controller on free loopback ports, and stops it by its process
// id when the test ends. [Tools] runs Kafka's command line tools against any
// bootstrap address, ours included.
//
// Everything here needs java and mvn on the path. Where they are missing the
// calling test is skipped with that reason, except under CI=true, where a
// missing peer is a failure.
package peers
