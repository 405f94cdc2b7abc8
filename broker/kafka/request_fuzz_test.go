package kafka

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// FuzzRequest sends any body under any key and version to a real node. It must answer or close, and serve the next peer.
func FuzzRequest(f *testing.F) {
	for _, a := range apiTable() {
		for version := a.min; version <= a.max; version++ {
			q := a.key.Request()
			q.SetVersion(version)
			if d, ok := q.(interface{ Default() }); ok {
				d.Default()
			}
			f.Add(a.key.Int16(), version, q.AppendTo(nil))
		}
	}
	f.Add(int16(0), int16(9), sampleProduce(9).AppendTo(nil))
	f.Add(int16(1), int16(13), fetchOne(13, "t", [16]byte{1}, 0).AppendTo(nil))
	d := open(f, func(c *broker.Config, _ *Config) { c.Durability, c.MaxPartitions = broker.Relaxed, 200 })
	f.Fuzz(func(t *testing.T, key, version int16, body []byte) {
		if key == 1 && len(body) > 8 {
			binary.BigEndian.PutUint32(body, 0) // do not wait: one of these is the time in any version
			binary.BigEndian.PutUint32(body[4:], 0)
		}
		nc, err := net.Dial("tcp", d.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		if err := nc.SetDeadline(time.Now().Add(short)); err != nil {
			t.Fatal(err)
		}
		if a := d.srv.api(key); a != nil && version >= a.flexibleFrom {
			body = append([]byte{0}, body...)
		}
		sent := frameOf(key, version, 1, "fuzz", body)
		// What follows tells us that an acks=0 request was executed.
		sent = append(sent, frameOf(18, 0, 2, "fuzz", nil)...)
		if _, err := nc.Write(sent); err != nil {
			return
		}
		var size [4]byte
		var failure net.Error
		if _, err := io.ReadFull(nc, size[:]); err == nil {
			if n := binary.BigEndian.Uint32(size[:]); n > 64<<20 {
				t.Errorf("an answer of %d bytes", n)
			}
		} else if errors.As(err, &failure) && failure.Timeout() {
			t.Errorf("%s version %d of %x was neither answered nor refused", kmsg.NameForKey(key), version, body)
		}
		if n := d.srv.metrics.panics.n.Load(); n > 0 {
			t.Fatalf("%d panics", n)
		}
	})
}
