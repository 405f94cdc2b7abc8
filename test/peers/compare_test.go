//go:build peers

package peers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// scenario is a list of requests that both brokers get in the same order.
type scenario struct {
	name string
	run  func(s *session)
}

// TestSameAnswers sends every scenario to Apache Kafka and to Moldau and
// compares the answers field by field. A difference that is not listed fails,
// and so does a listed one that no longer occurs.
func TestSameAnswers(t *testing.T) {
	// Assignments come with the heartbeat that asks for them, not a second later.
	kafka := StartKafka(t, KafkaOptions{Properties: map[string]string{
		"group.consumer.assignment.interval.ms": "0", "group.consumer.assignor.offload.enable": "false",
	}})
	ours := StartMoldau(t, BuildMoldau(t))
	used := make([]bool, len(Differences))
	for _, sc := range slices.Concat(scenarios, groupScenarios, txnScenarios, consumerGroupScenarios) {
		t.Run(sc.name, func(t *testing.T) {
			clock := time.Now().UnixMilli()
			theirs, mine := newSession(t, kafka.Addr, clock), newSession(t, ours.Kafka(), clock)
			sc.run(theirs)
			sc.run(mine)
			compare(t, theirs.log, mine.log, used)
		})
	}
	if t.Failed() {
		return
	}
	for i, u := range used {
		if !u {
			t.Errorf("the listed difference %q at %q no longer occurs", Differences[i].Path, Differences[i].Label)
		}
	}
}

func compare(t *testing.T, theirs, mine []exchange, used []bool) {
	t.Helper()
	if len(theirs) != len(mine) {
		t.Fatalf("%d answers from Kafka, %d from Moldau", len(theirs), len(mine))
	}
	for i := range theirs {
		var bad []string
		for _, d := range Diff(theirs[i].fields, mine[i].fields) {
			if n := explained(theirs[i].label, d); n >= 0 {
				used[n] = true
				continue
			}
			bad = append(bad, d)
		}
		if len(bad) > 0 {
			t.Errorf("%s (Kafka | Moldau):\n  %s", theirs[i].label, strings.Join(bad, "\n  "))
		}
	}
}

func explained(label, diff string) int {
	path, _, _ := strings.Cut(diff, ": ")
	for i, d := range Differences {
		if regexp.MustCompile(d.Label).MatchString(label) && regexp.MustCompile(d.Path).MatchString(path) {
			return i
		}
	}
	return -1
}

// versions calls f for every version in [from, to].
func versions(from, to int16, f func(v int16)) {
	for v := from; v <= to; v++ {
		f(v)
	}
}

func name(base string, v int16) string { return fmt.Sprintf("%s-%d", base, v) }
