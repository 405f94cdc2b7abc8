//go:build bench

package bench

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
)

// Partitions that TestPartitions spreads the same rate over, and how many of
// them share a request.
var spreads = []int{6, 1_000, 10_000}

const spreadTogether = 6

// TestPartitions moves the same records through 6, 1,000 and 10,000 partitions
// and prints each broker's rate and processor time beside its own with 6. The
// requests are the same for each: six batches of 25 records, of which only the
// partitions' numbers change, so that neither the batches nor the client's work
// differ. Topics are made before, and written to once before anything counts.
// Apache Kafka gets no 10,000: making them takes it minutes.
func TestPartitions(t *testing.T) {
	records, rounds := setting("BENCH_RECORDS", defaultRecords), setting("BENCH_ROUNDS", defaultRounds)
	brokers := contestants(t)
	has := func(b broker, n int) bool { return n <= 1_000 || b.name != brokers[0].name }
	topic := func(n int) string { return fmt.Sprintf("partitions-%d", n) }
	for _, b := range brokers {
		for _, n := range spreads {
			if has(b, n) {
				createTopicOf(t, b.addr, topic(n), n)
			}
		}
	}
	samples := map[string][]Sample{}
	for round := range rounds + 1 {
		for _, b := range brokers {
			for _, n := range spreads {
				if !has(b, n) {
					continue
				}
				s := sampled(t, b, func() int { return replayPartitions(t, b.addr, topic(n), n, records) })
				if round > 0 {
					samples[spreadKey(b, n)] = append(samples[spreadKey(b, n)], s)
				}
			}
		}
	}
	printPartitions(t, brokers, samples)
}

func spreadKey(b broker, n int) string { return fmt.Sprintf("%s %d", b.name, n) }

func printPartitions(t *testing.T, brokers []broker, samples map[string][]Sample) {
	t.Helper()
	rate := func(b broker, n int) Spread { return Summarize(samples[spreadKey(b, n)], Sample.Rate) }
	cpu := func(b broker, n int) Spread { return Summarize(samples[spreadKey(b, n)], Sample.PerRecord) }
	table(t, fmt.Sprintf("partitions, prebuilt requests of %d records of 100 B, %d in a batch", replayRecords, replayRecords/spreadTogether),
		"broker", "partitions", "records/s", "× its 6", "× Kafka", "broker CPU, µs/record", "× its 6", "× Kafka")
	for _, b := range brokers {
		for _, n := range spreads {
			if len(samples[spreadKey(b, n)]) == 0 {
				continue
			}
			r, c, ofRate, ofCPU := rate(b, n), cpu(b, n), "", ""
			if kafka := brokers[0]; len(samples[spreadKey(kafka, n)]) > 0 {
				ofRate, ofCPU = number(r.Median/rate(kafka, n).Median), number(c.Median/cpu(kafka, n).Median)
			}
			line(t, b.name, fmt.Sprint(n), r.String(), number(r.Median/rate(b, spreads[0]).Median), ofRate,
				c.String(), number(c.Median/cpu(b, spreads[0]).Median), ofCPU)
		}
	}
	outcomes := func(share func(b broker, n int) float64) []string {
		relaxed, strict := brokers[1], brokers[2]
		return []string{
			atLeast("relaxed 1,000", share(relaxed, 1_000), 0.9), atLeast("relaxed 10,000", share(relaxed, 10_000), 0.6),
			atLeast("strict 1,000", share(strict, 1_000), 0.7), atLeast("strict 10,000", share(strict, 10_000), 0.3),
		}
	}
	aim(t, "records/s, × its 6 partitions", outcomes(func(b broker, n int) float64 { return rate(b, n).Median / rate(b, spreads[0]).Median })...)
	aim(t, "the same by records a core-second, which a busy machine falsifies less",
		outcomes(func(b broker, n int) float64 { return cpu(b, spreads[0]).Median / cpu(b, n).Median })...)
}

// replayPartitions sends requests for some partitions each, until every
// partition had its turn, and again. The connections begin at different ones.
func replayPartitions(t *testing.T, addr, topic string, partitions, records int) int {
	t.Helper()
	batch := recordBatch(replayRecords / spreadTogether)
	var frames [replayConns]partitionsFrame
	for i := range frames {
		frames[i] = newPartitionsFrame(t, topic, spreadTogether, batch)
	}
	turns := (partitions + spreadTogether - 1) / spreadTogether
	return replayAll(t, addr, records, func(conn, turn int) []byte {
		first := (conn*turns/replayConns + turn) % turns * spreadTogether
		return frames[conn].from(min(first, partitions-spreadTogether)) // the last ones may overlap
	})
}

// partitionsFrame is a request for partitions in a row, of which the first can
// be changed in place.
type partitionsFrame struct {
	frame   []byte
	numbers []int // where the partitions' numbers stand
}

func newPartitionsFrame(t *testing.T, topic string, n int, batch []byte) partitionsFrame {
	t.Helper()
	const mark = 0x5eed_c000 // no batch holds it
	f := partitionsFrame{frame: produceRequest(topic, mark, n, batch)}
	for i := range n {
		number := binary.BigEndian.AppendUint32(nil, mark+uint32(i))
		if bytes.Count(f.frame, number) != 1 {
			t.Fatalf("%x stands %d times in the request", number, bytes.Count(f.frame, number))
		}
		f.numbers = append(f.numbers, bytes.Index(f.frame, number))
	}
	return f
}

// from returns the request for the partitions from first on, until the next
// call.
func (f *partitionsFrame) from(first int) []byte {
	for i, at := range f.numbers {
		binary.BigEndian.PutUint32(f.frame[at:], uint32(first+i))
	}
	return f.frame
}
