package group

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker/coordinator"
)

// FuzzReplay: whatever a log holds, it is replayed without a panic, and the state can be used.
func FuzzReplay(f *testing.F) {
	g := newGroup(NewShard(Config{}), "g")
	g.protocolType, g.protocol, g.leader = consumerType, "range", "m"
	g.add(&member{id: "m", instanceID: "i", protocols: []Protocol{{Name: "range", Metadata: metadataOf("t")}}})
	f.Add(g.key(), g.encode(time.UnixMilli(1), func(*member) []byte { return []byte("x") }), int64(-1))
	f.Add(g.key(), []byte(nil), int64(-1))
	o := Offset{Offset: 5, LeaderEpoch: 1, Metadata: "note", committed: time.UnixMilli(1)}
	f.Add(offsetKey("g", topicPartition{"t", 1}), o.encode(), int64(7))
	k := kmsg.NewOffsetCommitKey()
	k.Version = 9
	f.Add(k.AppendTo(nil), []byte{0, 1}, int64(-1))
	f.Fuzz(func(t *testing.T, key, value []byte, producer int64) {
		s := NewShard(Config{SessionTimeoutMax: time.Hour, MaxSize: 10, OffsetsRetention: time.Hour, OffsetsRetentionCheckInterval: time.Minute})
		r := coordinator.Record{Key: key, Value: value, Producer: coordinator.NoProducer}
		if producer >= 0 {
			r.Producer = coordinator.Producer{ID: producer}
		}
		s.Replay(r)
		s.Replay(r)
		s.ReplayMarker(coordinator.Marker{Producer: r.Producer, Commit: true})
		now := time.UnixMilli(1_700_000_000_000)
		turn := coordinator.NewTurn(s, now)
		s.Start(turn)
		s.Expire(turn)
		for _, l := range s.List() {
			if _, err := s.Describe(l.ID); err != nil {
				t.Errorf("group %q is listed: %v", l.ID, err)
			}
			s.FetchOffsets(&FetchRequest{Group: l.ID, All: true})
		}
		s.Count()
		turn.Now = now.Add(48 * time.Hour)
		s.Expire(turn)
		turn.Settle(nil)
		s.Stop(coordinator.ErrNotCoordinator)
	})
}
