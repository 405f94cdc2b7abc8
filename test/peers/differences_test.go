//go:build peers

package peers

// differences is every place where our answer is not Apache Kafka's, with the
// reason. Each must occur in a run of TestSameAnswers.
var differences = []difference{}
