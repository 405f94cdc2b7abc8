//go:build peers

package peers

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// The topics of TestSameSurvivors: one keeps tombstones and markers for a day, the other no longer than it must.
const (
	keptTopic = "compact-kept"
	goneTopic = "compact-gone"
)

// TestSameSurvivors gives the same records to Apache Kafka's cleaner and to ours, until both have the same left: offsets, keys,
// tombstones and markers. Kafka's own tool then reads our segments and finds the same.
func TestSameSurvivors(t *testing.T) {
	kafka := StartKafka(t, KafkaOptions{Properties: map[string]string{"log.cleaner.backoff.ms": "100"}})
	ours := StartMoldau(t, BuildMoldau(t), "--set", "log.cleaner.backoff.ms=100")
	addrs := []string{kafka.Addr, ours.Kafka()}
	ends := map[string]int64{}
	for _, addr := range addrs {
		createCompacted(t, addr)
		for _, topic := range []string{keptTopic, goneTopic} {
			ends[topic] = feed(t, addr, topic)
		}
	}
	left := map[string][]string{}
	for _, topic := range []string{keptTopic, goneTopic} {
		left[topic] = awaitSame(t, addrs, topic, ends[topic])
		t.Logf("%s: of %d offsets remain:\n%s", topic, ends[topic], strings.Join(left[topic], "\n"))
		judgeSurvivors(t, topic, left[topic])
	}
	stop(t, ours) // the cleaner exchanges segments as long as it runs
	for topic := range left {
		dumpAgrees(t, ours, topic, offsetsOf(t, left[topic]), ends[topic])
	}
}

// stop ends a process in order.
func stop(t *testing.T, m *Moldau) {
	t.Helper()
	if err := syscall.Kill(m.Pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); syscall.Kill(m.Pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("moldau does not end")
		}
	}
}

func createCompacted(t *testing.T, addr string) {
	t.Helper()
	cl := compactClient(t, addr)
	for topic, retention := range map[string]string{keptTopic: "86400000", goneTopic: "0"} {
		config := map[string]*string{}
		for k, v := range map[string]string{
			"cleanup.policy": "compact", "segment.bytes": "1048576", "min.cleanable.dirty.ratio": "0.0001", "delete.retention.ms": retention,
		} {
			config[k] = &v
		}
		if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), 1, 1, config, topic); err != nil {
			t.Fatal(err)
		}
	}
}

func compactClient(t *testing.T, addr string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(addr), kgo.ManualFlushing(), kgo.ProducerBatchCompression(kgo.NoCompression()),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// pair is a record: without a value it is a tombstone.
type pair struct{ key, value string }

// produceBatch writes one batch.
func produceBatch(t *testing.T, cl *kgo.Client, topic string, pairs ...pair) {
	t.Helper()
	for _, p := range pairs {
		r := &kgo.Record{Topic: topic, Key: []byte(p.key)}
		if p.value != "" {
			r.Value = []byte(p.value)
		}
		cl.Produce(t.Context(), r, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	if err := cl.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// roll writes a batch that leaves no room in its segment.
func roll(t *testing.T, cl *kgo.Client, topic string) {
	t.Helper()
	produceBatch(t, cl, topic, pair{"roll", strings.Repeat("x", 900<<10)})
}

// feed writes the records and returns where the log ends.
func feed(t *testing.T, addr, topic string) int64 {
	t.Helper()
	cl := compactClient(t, addr)
	produceBatch(t, cl, topic, pair{"a", "1"}, pair{"b", "1"}, pair{"c", "1"}, pair{"once", "1"})
	roll(t, cl, topic)
	produceBatch(t, cl, topic, pair{"a", "2"}, pair{"b", ""}, pair{"never", ""})
	inTransaction(t, addr, topic, "commits", kgo.TryCommit, pair{"c", "2"}, pair{"d", "1"})
	inTransaction(t, addr, topic, "aborts", kgo.TryAbort, pair{"a", "aborted"}, pair{"e", "aborted"})
	roll(t, cl, topic)
	inTransaction(t, addr, topic, "outdated", kgo.TryCommit, pair{"f", "1"}, pair{"g", "1"})
	roll(t, cl, topic)
	produceBatch(t, cl, topic, pair{"f", "2"}, pair{"g", "2"}, pair{"c", "3"}, pair{"c", "4"})
	produceBatch(t, cl, topic, pair{"h", "1"}, pair{"h", ""}, pair{"h", "2"})
	roll(t, cl, topic)
	return endOf(t, cl, topic)
}

func inTransaction(t *testing.T, addr, topic, id string, end kgo.TransactionEndTry, pairs ...pair) {
	t.Helper()
	cl := compactClient(t, addr, kgo.TransactionalID(topic+"-"+id))
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	produceBatch(t, cl, topic, pairs...)
	if err := cl.EndTransaction(t.Context(), end); err != nil {
		t.Fatal(err)
	}
	awaitMarker(t, cl, topic)
}

// awaitMarker waits until the transaction is over in the log: the next batch comes behind its marker.
func awaitMarker(t *testing.T, cl *kgo.Client, topic string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		stable, err := kadm.NewClient(cl).ListCommittedOffsets(ctx, topic)
		if err != nil {
			t.Fatal(err)
		}
		if at, _ := stable.Lookup(topic, 0); at.Err == nil && at.Offset == endOf(t, cl, topic) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal("the transaction stays open")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func endOf(t *testing.T, cl *kgo.Client, topic string) int64 {
	t.Helper()
	ends, err := kadm.NewClient(cl).ListEndOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	end, _ := ends.Lookup(topic, 0)
	return end.Offset
}

// awaitSame waits until nothing more is to be cleaned and both have the same left below an offset. Each turn fills a segment, so
// that there is something to clean.
func awaitSame(t *testing.T, addrs []string, topic string, below int64) []string {
	t.Helper()
	var left [2][]string
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Second) {
		for i, addr := range addrs {
			roll(t, compactClient(t, addr), topic)
			left[i] = survivors(t, addr, topic, below)
		}
		if slices.Equal(left[0], left[1]) && clean(left[0]) && (topic == keptTopic || !slices.ContainsFunc(left[0], isTombstone)) {
			return left[0]
		}
	}
	t.Fatalf("Apache Kafka keeps\n%s\nand we keep\n%s", strings.Join(left[0], "\n"), strings.Join(left[1], "\n"))
	return nil
}

// clean tells whether every key is there once.
func clean(left []string) bool {
	keys := map[string]bool{}
	for _, line := range left {
		f := strings.Fields(line)
		if f[1] != "marker" && keys[f[1]] {
			return false
		}
		keys[f[1]] = true
	}
	return !keys["roll"]
}

func isTombstone(line string) bool { return strings.HasSuffix(line, " tombstone") }

// survivors reads what a topic has below an offset: a line for each record and marker.
func survivors(t *testing.T, addr, topic string, below int64) []string {
	t.Helper()
	cl := compactClient(t, addr, kgo.KeepControlRecords(), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var out []string
	for {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		for _, r := range fetches.Records() {
			if r.Offset >= below { // those of awaitSame: there is always one
				return out
			}
			out = append(out, fmt.Sprintf("%d %s", r.Offset, survivor(r)))
		}
	}
}

func survivor(r *kgo.Record) string {
	switch {
	case r.Attrs.IsControl() && bytes.Equal(r.Key, []byte{0, 0, 0, 1}):
		return "marker commit"
	case r.Attrs.IsControl():
		return "marker abort"
	case r.Value == nil:
		return string(r.Key) + " tombstone"
	}
	return string(r.Key) + " " + string(r.Value[:min(9, len(r.Value))])
}

// judgeSurvivors says what must be left, whoever cleaned.
func judgeSurvivors(t *testing.T, topic string, left []string) {
	t.Helper()
	var got []string
	for _, line := range left {
		_, what, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(what, "marker") {
			got = append(got, what)
		}
	}
	want := []string{"a 2", "once 1", "d 1", "f 2", "g 2", "c 4", "h 2"}
	if topic == keptTopic {
		want = append(want, "b tombstone", "never tombstone")
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
}

func offsetsOf(t *testing.T, left []string) []int64 {
	t.Helper()
	var out []int64
	for _, line := range left {
		at, _, _ := strings.Cut(line, " ")
		n, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

// dumpAgrees has Kafka's tool read our segments.
func dumpAgrees(t *testing.T, ours *Moldau, topic string, want []int64, below int64) {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(ours.Dir, "*", topic+"-0", "*.log"))
	if err != nil || len(segments) == 0 {
		t.Fatalf("segments %v: %v", segments, err)
	}
	out, errs, err := NewTools(t).Run(DumpLogSegments, "", "--files", strings.Join(segments, ","), "--deep-iteration", "--print-data-log")
	if err != nil || strings.Contains(out, "isvalid: false") {
		t.Fatalf("%v\n%s\n%s", err, out, errs)
	}
	var got []int64
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(line, "| offset: "); ok {
			at, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if at < below {
				got = append(got, at)
			}
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("DumpLogSegments finds the offsets %v, readers find %v", got, want)
	}
}
