// Package librdkafka runs the numbered tests of the client librdkafka, in C and C++, against ours. Their source is not part of this
// repository: it comes with a package on npm, which the test fetches and builds once, in a folder below the temporary one.
//
// Each test is a process of its own, against one broker with four partitions for a topic that is made by the way, as the suite wants it.
// Kafka's script for topics, which some of them call, is one that starts the same tool.
//
// The file differences.txt lists the tests that must fail, with the reason. All others must pass, or be skipped by the suite itself,
// which counts them apart. A listed test that passes fails the run too, so that the list stays true.
//
// The test carries the build tag librdkafka; `make librdkafka` runs it, in about half an hour. It needs npm, a C compiler, make, java
// and mvn.
package librdkafka
