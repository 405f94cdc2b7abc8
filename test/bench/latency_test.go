//go:build bench

package bench

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"testing"

	"moldau/test/peers"
)

// latency is what one run of `moldau bench e2e` measured, in ms from when a
// record was due to when a consumer had it.
type latency struct {
	Sent     int `json:"sent"`
	Received int `json:"received"`
	EndToEnd struct {
		P50 float64 `json:"p50_ms"`
		P99 float64 `json:"p99_ms"`
		Max float64 `json:"max_ms"`
	} `json:"end_to_end_latency"`
}

// TestLatency writes at fixed rates and prints the time from produce to
// consume: open loop, 100 B, one partition, the same client for each broker.
func TestLatency(t *testing.T) {
	rounds, seconds := setting("BENCH_ROUNDS", defaultRounds), setting("BENCH_SECONDS", defaultSeconds)
	brokers := contestants(t)
	bin := peers.BuildMoldau(t)
	rates := []int{1_000, 10_000}
	if testing.Short() {
		rates = rates[:1]
	}
	for _, rate := range rates {
		runs := map[string][]latency{}
		for round := range rounds + 1 { // the first round warms up and is not counted
			for _, b := range brokers {
				l := endToEnd(t, bin, b, fmt.Sprintf("latency-%d-%d", rate, round), rate, rate*seconds)
				if round > 0 {
					runs[b.name] = append(runs[b.name], l)
				}
			}
		}
		printLatency(t, rate, brokers, runs)
	}
}

func endToEnd(t *testing.T, bin string, b broker, topic string, rate, records int) latency {
	t.Helper()
	out, err := exec.Command(bin, "bench", "e2e", topic, "-b", b.addr, "-o", "json", "--partitions", "1",
		"--throughput", strconv.Itoa(rate), "--num-records", strconv.Itoa(records)).Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", b.name, err, out)
	}
	var l latency
	if err := json.Unmarshal(out, &l); err != nil {
		t.Fatalf("%s: %v in %s", b.name, err, out)
	}
	if l.Received != records {
		t.Fatalf("%s: %d of %d records came", b.name, l.Received, records)
	}
	deleteTopic(t, b.addr, topic)
	return l
}

func printLatency(t *testing.T, rate int, brokers []broker, runs map[string][]latency) {
	t.Helper()
	spread := func(b broker, figure func(latency) float64) Spread {
		var v []float64
		for _, l := range runs[b.name] {
			v = append(v, figure(l))
		}
		return SpreadOf(v)
	}
	p50 := func(l latency) float64 { return l.EndToEnd.P50 }
	p99 := func(l latency) float64 { return l.EndToEnd.P99 }
	kafka, relaxed, strict := brokers[0], brokers[1], brokers[2]
	table(t, fmt.Sprintf("produce to consume, %d records/s, ms", rate), "broker", "p50", "× Kafka", "p99", "× Kafka", "most")
	for _, b := range brokers {
		line(t, b.name, spread(b, p50).String(), number(spread(b, p50).Median/spread(kafka, p50).Median), spread(b, p99).String(),
			number(spread(b, p99).Median/spread(kafka, p99).Median), spread(b, func(l latency) float64 { return l.EndToEnd.Max }).String())
	}
	aim(t, "ms", atMost("relaxed p50", spread(relaxed, p50).Median, 0.5), atMost("relaxed p99", spread(relaxed, p99).Median, 2),
		atMost("relaxed p99 × Kafka", spread(relaxed, p99).Median/spread(kafka, p99).Median, 0.5), atMost("strict p50", spread(strict, p50).Median, 0.8))
}
