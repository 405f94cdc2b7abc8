package kafka

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// BenchmarkRequests measures the cost of a request that does nothing, over loopback, both ends in this process.
func BenchmarkRequests(b *testing.B) {
	for _, conns := range []int{1, 8, 64, 1000} {
		b.Run(fmt.Sprint(conns, " connections"), func(b *testing.B) {
			h := newHarness(b, nil, echo)
			defer h.close()
			frame := frameOf(16, 0, 1, "bench", bytes.Repeat([]byte("x"), 100))
			var dialled []net.Conn
			for range conns {
				dialled = append(dialled, h.dialTCP().Conn)
			}
			pingPong(b, dialled, frame)
			for _, nc := range dialled {
				_ = nc.Close()
			}
		})
	}
}

// BenchmarkProduce measures Produce requests of one small batch, from the socket to the page cache and back.
func BenchmarkProduce(b *testing.B) {
	for _, acks := range []int16{1, -1} {
		for _, size := range []int{100, 16 << 10} {
			b.Run(fmt.Sprintf("acks %d, %d bytes", acks, size), func(b *testing.B) {
				d := open(b, func(c *broker.Config, _ *Config) { c.Durability = broker.Relaxed })
				w := d.wire()
				w.createTopic("bench")
				records := newBatch(b, func(*batchOptions) {}, string(make([]byte, size)))
				frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("bench")).AppendRequest(nil, produceOne(11, acks, "bench", [16]byte{}, 0, records), 1)
				b.SetBytes(int64(len(frame)))
				pingPong(b, []net.Conn{w.peer.Conn}, frame)
			})
		}
	}
}

// BenchmarkFetch measures Fetch requests, from the socket to the page cache and back.
func BenchmarkFetch(b *testing.B) {
	for _, size := range []int{100, 16 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%d bytes", size), func(b *testing.B) {
			d := open(b, func(c *broker.Config, _ *Config) { c.Durability = broker.Relaxed })
			w := d.wire()
			id := w.createTopic("bench")
			records := newBatch(b, func(*batchOptions) {}, string(make([]byte, size-100)))
			ask[*kmsg.ProduceResponse](w, produceOne(11, -1, "bench", id, 0, records))
			frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("bench")).AppendRequest(nil, fetchOne(16, "bench", id, 0), 1)
			b.SetBytes(int64(size))
			pingPong(b, []net.Conn{w.peer.Conn}, frame)
		})
	}
}

// pingPong sends a frame and reads the answer, b.N times over all connections.
func pingPong(b *testing.B, conns []net.Conn, frame []byte) {
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	each := b.N/len(conns) + 1
	for _, nc := range conns {
		wg.Go(func() {
			in := make([]byte, 2<<20)
			for range each {
				if _, err := nc.Write(frame); err != nil {
					b.Error(err)
					return
				}
				if _, err := io.ReadFull(nc, in[:4]); err != nil {
					b.Error(err)
					return
				}
				if _, err := io.ReadFull(nc, in[:binary.BigEndian.Uint32(in)]); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
}
