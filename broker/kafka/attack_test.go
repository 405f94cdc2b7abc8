package kafka

import (
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestAttack lets many hostile peers loose on a node at the same time, while a good client goes on. Memory must stay
// bounded, and the good client must be served.
func TestAttack(t *testing.T) {
	if testing.Short() {
		t.Skip("opens thousands of connections")
	}
	d := open(t)
	good := d.wire()
	id := good.createTopic("good")
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)

	var peak atomic.Uint64
	done := make(chan struct{})
	measured := make(chan struct{})
	go func() {
		defer close(measured)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapInuse+m.StackInuse))
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()

	var peers []net.Conn
	attack := func(first []byte) net.Conn {
		ours, theirs := net.Pipe()
		d.srv.accepted(theirs, listener{"PLAINTEXT", "PLAINTEXT"})
		peers = append(peers, ours)
		if len(first) > 0 {
			if _, err := ours.Write(first); err != nil {
				t.Fatal(err)
			}
		}
		return ours
	}
	for range 5000 {
		attack(nil)
	}
	for range 1000 {
		attack([]byte{0, 0, 1})
	}
	huge := frameOf(0, 9, 1, "attack", make([]byte, 5000))
	binary.BigEndian.PutUint32(huge, 100<<20)
	for range 200 {
		attack(huge)
	}
	for _, key := range []kmsg.Key{kmsg.Metadata, kmsg.ListOffsets, kmsg.OffsetForLeaderEpoch, kmsg.DescribeProducers, kmsg.Fetch} {
		version := d.srv.api(key.Int16()).min
		body := make([]byte, 8<<20)
		for i := range 8 { // wherever the array begins, it has a million elements
			binary.BigEndian.PutUint32(body[4*i:], 1_000_000)
		}
		nc := attack(nil)
		go func() {
			if _, err := nc.Write(frameOf(key.Int16(), version, 1, "attack", body)); err == nil {
				_, _ = io.Copy(io.Discard, nc)
			}
		}()
	}

	slowest := time.Duration(0)
	for range 200 {
		began := time.Now()
		resp := ask[*kmsg.ProduceResponse](good, produceOne(13, 1, "", id, 0, batch(t, "good")))
		if code := resp.Topics[0].Partitions[0].ErrorCode; code != 0 {
			t.Fatalf("the good client gets error %d", code)
		}
		slowest = max(slowest, time.Since(began))
	}
	close(done)
	<-measured
	for _, nc := range peers {
		_ = nc.Close()
	}
	used := peak.Load() - min(peak.Load(), before.HeapInuse+before.StackInuse)
	t.Logf("at most %d MiB more than before, the good client's slowest request took %v", used>>20, slowest)
	if used > 512<<20 {
		t.Errorf("the attack made the broker hold %d MiB", used>>20)
	}
	if slowest > 5*time.Second { // a loaded machine is slow too; that it hangs is what we look for
		t.Errorf("a request of the good client took %v", slowest)
	}
}
