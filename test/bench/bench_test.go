//go:build bench

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sys/unix"

	"moldau/test/peers"
)

// broker is one contestant.
type broker struct {
	name string
	addr string
	pid  int
}

func contestants(t *testing.T) []broker {
	t.Helper()
	kafka := peers.StartKafka(t, peers.KafkaOptions{HeapMB: 1024})
	bin := peers.BuildMoldau(t)
	relaxed := peers.StartMoldau(t, bin, "--set", "durability=relaxed")
	strict := peers.StartMoldau(t, bin)
	return []broker{
		{"Apache Kafka " + peers.KafkaVersion, kafka.Addr, kafka.Pid},
		{"Moldau relaxed", relaxed.Kafka(), relaxed.Pid},
		{"Moldau strict", strict.Kafka(), strict.Pid},
	}
}

func setting(name string, def int) int {
	if v, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return v
	}
	return def
}

// workload runs one client against a broker and answers how many records it
// moved. prepare makes what the run needs outside of the measured time.
type workload struct {
	name    string
	relaxed float64 // the aim of relaxed durability, in records/s × Kafka
	prepare func(t *testing.T, b broker, topic string)
	run     func(t *testing.T, b broker, topic string) int
}

// TestBesideKafka prints how many records a second each broker takes and gives,
// and what a record costs it.
func TestBesideKafka(t *testing.T) {
	records, rounds := setting("BENCH_RECORDS", defaultRecords), setting("BENCH_ROUNDS", defaultRounds)
	tools := peers.NewTools(t)
	brokers := contestants(t)
	for _, w := range workloads(tools, records) {
		samples := map[string][]Sample{}
		for round := range rounds + 1 { // the first round warms the JVM up and is not counted
			for _, b := range brokers {
				s := measure(t, w, b, fmt.Sprintf("%s-%d", strings.NewReplacer(" ", "-", ",", "").Replace(w.name), round))
				if round > 0 {
					samples[b.name] = append(samples[b.name], s)
				}
			}
		}
		printWorkload(t, w, brokers, samples)
	}
}

func measure(t *testing.T, w workload, b broker, topic string) Sample {
	t.Helper()
	createTopic(t, b.addr, topic)
	w.prepare(t, b, topic)
	s := sampled(t, b, func() int { return w.run(t, b, topic) })
	deleteTopic(t, b.addr, topic)
	return s
}

// sampled measures what run moves. What earlier runs left in the page cache is written to the disk first: a broker that asks for its own
// data to be durable would otherwise write, and be charged for, what another one left behind.
func sampled(t *testing.T, b broker, run func() int) Sample {
	t.Helper()
	unix.Sync()
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

func printWorkload(t *testing.T, w workload, brokers []broker, samples map[string][]Sample) {
	t.Helper()
	base := samples[brokers[0].name]
	rate, cpu := Summarize(base, Sample.Rate).Median, Summarize(base, Sample.PerRecord).Median
	table(t, w.name, "broker", "records/s", "× Kafka", "broker CPU, µs/record", "× Kafka")
	var ofRate, ofCPU []float64
	for _, b := range brokers {
		r, c := Summarize(samples[b.name], Sample.Rate), Summarize(samples[b.name], Sample.PerRecord)
		ofRate, ofCPU = append(ofRate, r.Median/rate), append(ofCPU, c.Median/cpu)
		line(t, b.name, r.String(), number(r.Median/rate), c.String(), number(c.Median/cpu))
	}
	aim(t, "records/s and CPU a record, × Kafka", atLeast("relaxed records/s", ofRate[1], w.relaxed), atLeast("strict records/s", ofRate[2], 0.7),
		atMost("relaxed CPU", ofCPU[1], 0.5), atMost("strict CPU", ofCPU[2], 0.7))
}

func workloads(tools peers.Tools, records int) []workload {
	none := func(*testing.T, broker, string) {}
	fill := func(t *testing.T, b broker, topic string) { replayFrames(t, b.addr, topic, 4*records) }
	return []workload{
		{"Java producer, 100 B", 1, none, func(t *testing.T, b broker, topic string) int {
			return perfProduce(t, tools, b, topic, records, 100)
		}},
		{"Java producer, 1 KiB", 1, none, func(t *testing.T, b broker, topic string) int {
			return perfProduce(t, tools, b, topic, records/2, 1024)
		}},
		{"kcat consumer, 100 B", 1, fill, func(t *testing.T, b broker, topic string) int {
			return kcatConsume(t, b, topic, replayed(4*records))
		}},
		{"prebuilt frames, 100 B", 2, none, func(t *testing.T, b broker, topic string) int {
			return replayFrames(t, b.addr, topic, 2*records)
		}},
	}
}

func perfProduce(t *testing.T, tools peers.Tools, b broker, topic string, records, size int, more ...string) int {
	t.Helper()
	args := append([]string{"--topic", topic, "--num-records", strconv.Itoa(records), "--record-size", strconv.Itoa(size), "--throughput", "-1"}, more...)
	_, errs, err := tools.RunLoad(peers.ProducerPerformance, append(args, "--producer-props", "bootstrap.servers="+b.addr, "acks=all", "linger.ms=5")...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", b.name, err, errs)
	}
	return records
}

// kcatConsume reads the topic from its start to its end with librdkafka,
// without a group.
func kcatConsume(t *testing.T, b broker, topic string, records int) int {
	t.Helper()
	out, err := exec.Command("kcat", "-C", "-b", b.addr, "-t", topic, "-o", "beginning", "-e", "-q", "-f", "").CombinedOutput()
	if err != nil {
		t.Fatalf("%s: kcat: %v\n%s", b.name, err, out)
	}
	return records
}

func admin(t *testing.T, addr string) (*kadm.Client, func()) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	return kadm.NewClient(cl), cl.Close
}

func createTopic(t *testing.T, addr, topic string) {
	t.Helper()
	createTopicOf(t, addr, topic, 6)
}

func createTopicOf(t *testing.T, addr, topic string, partitions int) {
	t.Helper()
	adm, done := admin(t, addr)
	defer done()
	if _, err := adm.CreateTopic(t.Context(), int32(partitions), 1, nil, topic); err != nil {
		t.Fatal(err)
	}
	// Kafka answers before its partitions serve.
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		ends, err := adm.ListEndOffsets(t.Context(), topic)
		if err == nil && ends.Error() == nil && len(ends[topic]) == partitions {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not serve: %v", topic, err)
		}
	}
}

func deleteTopic(t *testing.T, addr, topic string) {
	t.Helper()
	adm, done := admin(t, addr)
	defer done()
	if _, err := adm.DeleteTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
}
