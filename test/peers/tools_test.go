//go:build peers

package peers

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moldau/test/input"
)

// TestKafkaTools runs the command line tools of Apache Kafka against Moldau,
// on the real input.
func TestKafkaTools(t *testing.T) {
	tools := NewTools(t)
	ours := StartMoldau(t, BuildMoldau(t))
	file := input.AccessLog(t)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Count(content, []byte("\n"))
	run := func(t *testing.T, class, stdin string, args ...string) string {
		t.Helper()
		out, errs, err := tools.Run(class, stdin, append([]string{"--bootstrap-server", ours.Kafka()}, args...)...)
		if err != nil {
			t.Fatalf("%s %v: %v\n%s%s", class, args, err, out, errs)
		}
		return out
	}
	want := func(t *testing.T, out string, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if !strings.Contains(out, p) {
				t.Errorf("no %q in:\n%s", p, out)
			}
		}
	}
	// The steps build on each other, so the first failure ends the test.
	step := func(name string, f func(t *testing.T)) {
		if !t.Run(name, f) {
			t.FailNow()
		}
	}

	step("kafka-topics", func(t *testing.T) {
		run(t, TopicCommand, "", "--create", "--topic", "access", "--partitions", "1", "--config", "retention.ms=3600000")
		want(t, run(t, TopicCommand, "", "--list"), "access")
		want(t, run(t, TopicCommand, "", "--describe", "--topic", "access"), "PartitionCount: 1", "retention.ms=3600000", "Leader: 1")
		run(t, TopicCommand, "", "--alter", "--topic", "access", "--partitions", "2")
		want(t, run(t, TopicCommand, "", "--describe", "--topic", "access"), "PartitionCount: 2")
	})
	step("kafka-configs", func(t *testing.T) {
		run(t, ConfigCommand, "", "--alter", "--entity-type", "topics", "--entity-name", "access", "--add-config", "max.message.bytes=2000000")
		want(t, run(t, ConfigCommand, "", "--describe", "--entity-type", "topics", "--entity-name", "access"),
			"max.message.bytes=2000000", "retention.ms=3600000")
		run(t, ConfigCommand, "", "--alter", "--entity-type", "topics", "--entity-name", "access", "--delete-config", "retention.ms")
		if out := run(t, ConfigCommand, "", "--describe", "--entity-type", "topics", "--entity-name", "access"); strings.Contains(out, "retention.ms=3600000") {
			t.Errorf("retention.ms is still set:\n%s", out)
		}
	})
	step("kafka-console-producer", func(t *testing.T) {
		run(t, ConsoleProducer, string(content), "--topic", "access")
	})
	step("kafka-get-offsets", func(t *testing.T) {
		total := 0
		for line := range strings.Lines(run(t, GetOffsetShell, "", "--topic", "access")) {
			var partition, end int
			if _, err := fmt.Sscanf(strings.TrimSpace(line), "access:%d:%d", &partition, &end); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			total += end
		}
		if total != lines {
			t.Errorf("%d records, produced %d", total, lines)
		}
	})
	step("kafka-console-consumer", func(t *testing.T) {
		var got []string
		for p := range 2 {
			out := run(t, ConsoleConsumer, "", "--topic", "access", "--partition", fmt.Sprint(p), "--offset", "earliest", "--timeout-ms", "5000")
			got = append(got, strings.Split(strings.TrimSuffix(out, "\n"), "\n")...)
		}
		sameLines(t, got, strings.Split(strings.TrimSuffix(string(content), "\n"), "\n"))
	})
	step("kafka-producer-perf-test", func(t *testing.T) {
		want(t, run(t, ProducerPerformance, "", "--topic", "perf", "--num-records", "50000", "--record-size", "100", "--throughput", "-1"),
			"50000 records sent")
	})
	step("kafka-consumer-perf-test", func(t *testing.T) {
		out := run(t, ConsumerPerformance, "", "--topic", "perf", "--num-records", "50000", "--timeout", "30000", "--hide-header")
		fields := strings.Split(strings.TrimSpace(out), ", ")
		if len(fields) < 6 || fields[4] != "50000" {
			t.Errorf("consumed %q, want 50000 records in the fifth field", out)
		}
	})
	step("kafka-dump-log", func(t *testing.T) {
		segments, err := filepath.Glob(filepath.Join(ours.Dir, "*", "access-*", "*.log"))
		if err != nil || len(segments) == 0 {
			t.Fatalf("no segments of access under %s: %v", ours.Dir, err)
		}
		records := 0
		for _, s := range segments {
			out, errs, err := tools.Run(DumpLogSegments, "", "--files", s, "--print-data-log", "--deep-iteration")
			if err != nil {
				t.Fatalf("%v\n%s", err, errs)
			}
			if strings.Contains(out, "isvalid: false") {
				t.Errorf("%s: an invalid batch", s)
			}
			records += strings.Count(out, "| offset: ")
		}
		if records != lines {
			t.Errorf("DumpLogSegments found %d records, produced %d", records, lines)
		}
	})
}

func sameLines(t *testing.T, got, want []string) {
	t.Helper()
	count := map[string]int{}
	for _, l := range want {
		count[l]++
	}
	for _, l := range got {
		count[l]--
	}
	if len(got) != len(want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
	for l, n := range count {
		if n != 0 {
			t.Fatalf("%d too few (negative: too many) of the line %q", n, l)
		}
	}
}
