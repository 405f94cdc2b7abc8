//go:build bench

package bench

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestConnections offers the same load of one-record requests over 64 and over
// 5,000 connections, and prints the processor time per request and the memory
// per connection.
func TestConnections(t *testing.T) {
	rate, seconds, rounds := setting("BENCH_RATE", 3_000), setting("BENCH_SECONDS", defaultSeconds), setting("BENCH_ROUNDS", defaultRounds)
	brokers := contestants(t)
	counts := []int{64, 5_000}
	samples, memory := map[string][]Sample{}, map[string]int{}
	for round := range rounds + 1 {
		for _, b := range brokers {
			topic := fmt.Sprintf("connections-%d", round)
			createTopic(t, b.addr, topic)
			for _, n := range counts {
				key := fmt.Sprintf("%s %d", b.name, n)
				conns, each := connect(t, b, n)
				s := sampled(t, b, func() int { return offer(t, conns, topic, rate, seconds) })
				for _, c := range conns {
					_ = c.Close()
				}
				memory[key] = max(memory[key], each) // later rounds find memory that earlier ones have freed
				if round > 0 {
					samples[key] = append(samples[key], s)
				}
			}
			deleteTopic(t, b.addr, topic)
		}
	}
	printConnections(t, rate, brokers, counts, samples, memory)
}

func printConnections(t *testing.T, rate int, brokers []broker, counts []int, samples map[string][]Sample, memory map[string]int) {
	t.Helper()
	cpu := func(b broker, n int) Spread {
		return Summarize(samples[fmt.Sprintf("%s %d", b.name, n)], Sample.PerRecord)
	}
	table(t, fmt.Sprintf("%d requests/s of one record", rate), "broker", "connections", "requests/s", "broker CPU, µs/request", "× its 64", "× Kafka", "KiB a connection")
	for _, b := range brokers {
		for _, n := range counts {
			key, c := fmt.Sprintf("%s %d", b.name, n), cpu(b, n)
			line(t, b.name, fmt.Sprint(n), Summarize(samples[key], Sample.Rate).String(), c.String(), number(c.Median/cpu(b, counts[0]).Median),
				number(c.Median/cpu(brokers[0], n).Median), fmt.Sprint(memory[key]>>10))
		}
	}
	var outcomes []string
	for _, b := range brokers[1:] {
		outcomes = append(outcomes, atMost(b.name+" CPU × its 64", cpu(b, counts[1]).Median/cpu(b, counts[0]).Median, 1.6),
			atMost(b.name+" KiB", float64(memory[fmt.Sprintf("%s %d", b.name, counts[1])]>>10), 32))
	}
	aim(t, "5,000 connections", outcomes...)
}

// connect opens connections and lets each ask once; it answers how many bytes
// of resident memory each costs the broker.
func connect(t *testing.T, b broker, n int) ([]net.Conn, int) {
	t.Helper()
	before := resident(t, b.pid)
	conns := make([]net.Conn, n)
	for i := range conns {
		c, err := net.Dial("tcp", b.addr)
		if err != nil {
			t.Fatalf("%s: connection %d: %v", b.name, i, err)
		}
		conns[i] = c
		if err := ask(c); err != nil {
			t.Fatalf("%s: connection %d: %v", b.name, i, err)
		}
	}
	return conns, max(0, resident(t, b.pid)-before) / n
}

// ask sends an ApiVersions request of version 0 and reads its answer.
func ask(c net.Conn) error {
	if _, err := c.Write([]byte{0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff}); err != nil {
		return err
	}
	_, err := answer(c)
	return err
}

// answer reads one frame and returns its size.
func answer(c net.Conn) (int, error) {
	var size [4]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return 0, err
	}
	n := int(binary.BigEndian.Uint32(size[:]))
	_, err := io.CopyN(io.Discard, c, int64(n))
	return n, err
}

// offer sends requests at a fixed rate in turn over the connections and waits
// for every answer.
func offer(t *testing.T, conns []net.Conn, topic string, rate, seconds int) int {
	t.Helper()
	total := rate * seconds
	var requests [6][]byte
	for p := range requests {
		requests[p] = produceRequest(topic, p, 1, recordBatch(1))
	}
	var wg sync.WaitGroup
	for i, c := range conns {
		answers := total / len(conns)
		if i < total%len(conns) {
			answers++
		}
		wg.Go(func() {
			for range answers {
				if _, err := answer(c); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	begin := time.Now()
	for i := range total {
		if wait := time.Duration(i)*time.Second/time.Duration(rate) - time.Since(begin); wait > time.Millisecond {
			time.Sleep(wait)
		}
		if _, err := conns[i%len(conns)].Write(requests[i%len(requests)]); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	return total
}

// resident is the anonymous resident memory of a process in bytes.
func resident(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("no RssAnon")
	return 0
}
