//go:build bench

package bench

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"moldau/test/peers"
)

// TestHostile prints the latency of a good client at 1,000 records/s and the
// broker's memory, alone and while hostile peers are at work: 5,000
// connections that say nothing, 1,000 that say a byte a second, 200 that
// announce 100 MiB, and some that ask for arrays of a million elements again
// and again.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("-short runs the rows that matter most")
	}
	seconds := setting("BENCH_SECONDS", defaultSeconds)
	bin := peers.BuildMoldau(t)
	table(t, "a good client among hostile peers, 1,000 records/s, ms", "durability", "peers", "p50", "p99", "most", "anonymous RSS, MiB")
	var outcomes []string
	for _, durability := range []string{"relaxed", "strict"} {
		m := peers.StartMoldau(t, bin, "--set", "durability="+durability)
		b := broker{durability, m.Kafka(), m.Pid}
		report := func(peers string) {
			l := endToEnd(t, bin, b, "good", 1_000, 1_000*seconds)
			rss := resident(t, m.Pid) >> 20
			line(t, durability, peers, number(l.EndToEnd.P50), number(l.EndToEnd.P99), number(l.EndToEnd.Max), fmt.Sprint(rss))
			if rss > 512 {
				t.Errorf("the broker holds %d MiB", rss)
			}
			outcomes = append(outcomes, atMost(durability+", peers "+peers, l.EndToEnd.P99, 20))
		}
		report("none")
		stop := attack(t, b.addr)
		report("hostile")
		stop()
	}
	aim(t, "p99 in ms", outcomes...)
}

// attack opens the hostile connections and keeps them busy until stop.
func attack(t *testing.T, addr string) (stop func()) {
	t.Helper()
	var conns []net.Conn
	open := func(first []byte) net.Conn {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		if len(first) > 0 {
			_, _ = c.Write(first) // the broker may have closed it
		}
		return c
	}
	for range 5_000 {
		open(nil)
	}
	huge := binary.BigEndian.AppendUint32(nil, 100<<20)
	for range 200 {
		open(append(huge[:4:4], make([]byte, 5_000)...))
	}
	done := make(chan struct{})
	slow := make([]net.Conn, 1_000)
	for i := range slow {
		slow[i] = open([]byte{0})
	}
	go func() {
		for tick := time.NewTicker(time.Second); ; {
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
				for _, c := range slow {
					_, _ = c.Write([]byte{0}) // as above
				}
			}
		}
	}()
	for _, key := range []int16{1, 2, 3, 23, 61} { // Fetch, ListOffsets, Metadata, OffsetForLeaderEpoch, DescribeProducers
		go insist(addr, key, done)
	}
	return func() {
		close(done)
		for _, c := range conns {
			_ = c.Close()
		}
	}
}

// insist sends a request of 1 MiB that is arrays of a million elements
// wherever one may begin, and again whenever the broker has hung up.
func insist(addr string, key int16, done <-chan struct{}) {
	body := make([]byte, 1<<20)
	for i := range 8 {
		binary.BigEndian.PutUint32(body[4*i:], 1_000_000)
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(body)+10))
	frame = binary.BigEndian.AppendUint16(frame, uint16(key))
	frame = append(frame, 0, 4, 0, 0, 0, 1, 0xff, 0xff) // version 4, no client id
	frame = append(frame, body...)
	for {
		select {
		case <-done:
			return
		case <-time.After(10 * time.Millisecond):
		}
		c, err := net.Dial("tcp", addr)
		if err != nil {
			continue
		}
		if _, err := c.Write(frame); err == nil {
			_ = c.SetReadDeadline(time.Now().Add(time.Second))
			_, _ = io.Copy(io.Discard, c)
		}
		_ = c.Close()
	}
}
