//go:build bench

package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestPartitions moves the same records through 6, 1,000 and 10,000 partitions
// in prebuilt requests of 150 records for six partitions, and prints each
// broker's rate and processor time beside its own with 6. Apache Kafka gets no
// 10,000: making them takes it minutes.
func TestPartitions(t *testing.T) {
	records, rounds := setting("BENCH_RECORDS", 2_000_000), setting("BENCH_ROUNDS", 5)
	brokers := contestants(t)
	counts := []int{6, 1_000, 10_000}
	samples := map[string][]Sample{}
	for round := range rounds + 1 {
		for _, b := range brokers {
			for _, n := range counts {
				if n > 1_000 && b.name == brokers[0].name {
					continue
				}
				topic := fmt.Sprintf("partitions-%d-%d", n, round)
				createTopicOf(t, b.addr, topic, n)
				s := sampled(t, b, func() int { return replayPartitions(t, b.addr, topic, n, records) })
				deleteTopic(t, b.addr, topic)
				if round > 0 {
					key := fmt.Sprintf("%s %d", b.name, n)
					samples[key] = append(samples[key], s)
				}
			}
		}
	}
	fmt.Printf("\n### partitions, prebuilt requests of 150 records of 100 B\n\n| broker | partitions | records/s | × its 6 | broker CPU, µs/record | × its 6 |\n|---|---|---|---|---|---|\n")
	for _, b := range brokers {
		base := samples[fmt.Sprintf("%s %d", b.name, counts[0])]
		rate, cpu := Summarize(base, Sample.Rate).Median, Summarize(base, Sample.PerRecord).Median
		for _, n := range counts {
			s := samples[fmt.Sprintf("%s %d", b.name, n)]
			if len(s) == 0 {
				continue
			}
			r, c := Summarize(s, Sample.Rate), Summarize(s, Sample.PerRecord)
			fmt.Printf("| %s | %d | %s | %.2f | %s | %.2f |\n", b.name, n, r, r.Median/rate, c, c.Median/cpu)
		}
	}
}

// sampled measures what run moves.
func sampled(t *testing.T, b broker, run func() int) Sample {
	t.Helper()
	before, err := CPU(b.pid)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	n := run()
	wall := time.Since(begin)
	after, err := CPU(b.pid)
	if err != nil {
		t.Fatal(err)
	}
	return Sample{Records: n, Wall: wall, Broker: after - before}
}

// replayPartitions sends requests for six partitions each, until every
// partition had its turn, and again.
func replayPartitions(t *testing.T, addr, topic string, partitions, records int) int {
	t.Helper()
	const together = 6
	batch := recordBatch(replayRecords / together)
	var requests [][]byte
	for first := 0; first < partitions; first += together {
		requests = append(requests, produceRequest(topic, min(first, partitions-together), together, batch)) // the last six may overlap
	}
	return replayAll(t, addr, records, func(conn, turn int) []byte {
		return requests[(conn*len(requests)/replayConns+turn)%len(requests)]
	})
}

// produceRequest is one frame with the same batch for n partitions.
func produceRequest(topic string, first, n int, batch []byte) []byte {
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = 9, -1, 30_000
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic = topic
	for i := range n {
		rp := kmsg.NewProduceRequestTopicPartition()
		rp.Partition, rp.Records = int32(first+i), batch
		rt.Partitions = append(rt.Partitions, rp)
	}
	req.Topics = append(req.Topics, rt)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("replay")).AppendRequest(nil, req, 1)
}
