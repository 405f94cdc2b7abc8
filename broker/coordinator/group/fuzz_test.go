package group

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker/coordinator"
	"moldau/broker/coordinator/group/assignor"
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
	p := profile{instanceID: "i", topics: []string{"t"}, regex: "a.*", classic: &classicProfile{protocols: []Protocol{{Name: "range", Metadata: metadataOf("t")}}}}
	f.Add(consumerKey(consumerMemberKey, "g", "m"), p.encode(), int64(-1))
	has := standing{epoch: 2, state: MemberUnrevoked, assigned: held{{1}: {0: 1}}, revoking: held{{1}: {1: 2}}}
	f.Add(consumerKey(consumerCurrentKey, "g", "m"), has.encode(), int64(-1))
	f.Add(consumerKey(consumerTargetKey, "g", "m"), encodeTarget(Partitions{{1}: {0, 1}}), int64(-1))
	f.Add(consumerKey(consumerGroupKey, "g"), []byte{0, 0, 0, 0, 0, 1, 0}, int64(-1))
	f.Add(consumerKey(consumerTargetEpochKey, "g"), []byte{0, 0, 0, 0, 0, 1, 0}, int64(-1))
	f.Add(consumerKey(consumerRegexKey, "g", "a.*"), []byte{0, 0, 2, 2, 'a', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, int64(-1))
	k := kmsg.NewOffsetCommitKey()
	k.Version = 9
	f.Add(k.AppendTo(nil), []byte{0, 1}, int64(-1))
	f.Fuzz(func(t *testing.T, key, value []byte, producer int64) {
		s := NewShard(Config{
			ConsumerMaxSize: 10, Assignors: assignor.All(), Migration: Migration{Upgrade: true, Downgrade: true},
			ConsumerTimes:     func(string) (time.Duration, time.Duration) { return time.Minute, time.Second },
			Topics:            func() Topics { return fakeTopics{topics: []Topic{{ID: TopicID{1}, Name: "t", Partitions: 3}}} },
			SessionTimeoutMax: time.Hour, MaxSize: 10, OffsetsRetention: time.Hour, OffsetsRetentionCheckInterval: time.Minute,
		})
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
			_, err := s.Describe(l.ID)
			if l.Type == Consumer {
				_, err = s.DescribeConsumer(l.ID)
			}
			if err != nil {
				t.Errorf("group %q is listed: %v", l.ID, err)
			}
			if _, err := s.FetchOffsets(&FetchRequest{Group: l.ID, All: true, MemberEpoch: -1}); err != nil {
				t.Errorf("offsets of group %q: %v", l.ID, err)
			}
		}
		s.Count()
		turn.Now = now.Add(48 * time.Hour)
		s.Expire(turn)
		turn.Settle(nil)
		s.Stop(coordinator.ErrNotCoordinator)
	})
}
