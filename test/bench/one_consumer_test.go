//go:build bench

package bench

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/test/peers"
)

// What TestOneConsumer compares: one consumer of one partition, and one of ten.
const (
	fewPartitions, manyPartitions = 1, 10
	// liveRequests is how many batches of replayRecords/spreadTogether records
	// are written a second while the consumer reads.
	liveRequests = 1_000
)

// TestOneConsumer prints what it costs the broker that one consumer, a member
// of a group that commits, has ten partitions instead of one. The batches, and
// how many records there are, are the same. It reads what is being written at
// a fixed rate, and then, in another group, everything from the start.
func TestOneConsumer(t *testing.T) {
	if testing.Short() {
		t.Skip("-short runs the rows that matter most")
	}
	// The difference looked for is small, and so are the times: many short rounds tell more than a few long ones.
	rounds, seconds := setting("BENCH_ROUNDS", 15), setting("BENCH_SECONDS", 2)
	bin := peers.BuildMoldau(t)
	table(t, fmt.Sprintf("one consumer, %d requests/s of %d records of 100 B, broker CPU, µs/record", liveRequests, replayRecords/spreadTogether),
		"durability", "what", "1 partition", "10 partitions", "×")
	var outcomes []string
	for _, durability := range []string{"relaxed", "strict"} {
		m := peers.StartMoldau(t, bin, "--set", "durability="+durability)
		b := broker{"Moldau " + durability, m.Kafka(), m.Pid}
		live, backlog := map[int][]Sample{}, map[int][]Sample{}
		for round := range rounds + 1 { // the first round warms up and is not counted
			turns := []int{fewPartitions, manyPartitions}
			if round%2 == 1 {
				slices.Reverse(turns)
			}
			for _, n := range turns {
				l, all := oneConsumer(t, b, fmt.Sprintf("one-consumer-%d-%d", n, round), n, seconds)
				if round > 0 {
					live[n], backlog[n] = append(live[n], l), append(backlog[n], all)
				}
			}
		}
		for _, r := range []struct {
			name    string
			samples map[int][]Sample
		}{{"as it is written", live}, {"from the start", backlog}} {
			few, many := r.samples[fewPartitions], r.samples[manyPartitions]
			ratios := make([]float64, len(few)) // by round: what else the host does in one of them, it does to both
			for i := range few {
				ratios[i] = many[i].PerRecord() / few[i].PerRecord()
			}
			ratio := SpreadOf(ratios)
			line(t, durability, r.name, Summarize(few, Sample.PerRecord).String(), Summarize(many, Sample.PerRecord).String(), ratio.String())
			outcomes = append(outcomes, atMost(durability+" "+r.name, ratio.Median, 1.1))
		}
	}
	aim(t, "× 1 partition", outcomes...)
}

// oneConsumer measures one topic of n partitions, which it makes and deletes.
func oneConsumer(t *testing.T, b broker, topic string, n, seconds int) (live, backlog Sample) {
	t.Helper()
	createTopicOf(t, b.addr, topic, n)
	const perRequest = replayRecords / spreadTogether
	requests := liveRequests * seconds
	frame := newPartitionsFrame(t, topic, 1, recordBatch(perRequest))
	live = sampled(t, b, func() int {
		done := make(chan int, 1)
		go func() { done <- readAsMember(t, b.addr, topic, "live-"+topic, requests*perRequest) }()
		begin := time.Now()
		if err := replay(b.addr, requests, 5, func(turn int) []byte {
			time.Sleep(time.Until(begin.Add(time.Duration(turn) * time.Second / liveRequests)))
			return frame.from(turn % n)
		}); err != nil {
			t.Error(err)
		}
		return <-done
	})
	const again = 8 // the time of reading once is short beside the clock's tick
	backlog = sampled(t, b, func() int {
		read := 0
		for i := range again {
			read += readAsMember(t, b.addr, topic, fmt.Sprint("backlog-", i, topic), requests*perRequest)
		}
		return read
	})
	deleteTopic(t, b.addr, topic)
	return live, backlog
}

// readAsMember reads n records as the only member of a group, and commits.
func readAsMember(t *testing.T, addr, topic, group string, n int) int {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.AutoCommitInterval(time.Second))
	if err != nil {
		t.Error(err)
		return 0
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	read := 0
	for read < n {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Errorf("%d of %d records: %v", read, n, err)
			return read
		}
		read += fetches.NumRecords()
	}
	return read
}
