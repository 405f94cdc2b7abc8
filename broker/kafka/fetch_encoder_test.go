package kafka

import (
	"bytes"
	"io"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
	"moldau/internal/vfs"
)

// memoryRecords are records that lie nowhere but in memory.
type memoryRecords []byte

func (m memoryRecords) Len() int { return len(m) }

func (m memoryRecords) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, m[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m memoryRecords) File() (vfs.File, int64, int) { return nil, 0, 0 }

// flat is a response as the peer would see it.
func flat(t *testing.T, o *response) []byte {
	t.Helper()
	var out []byte
	done := 0
	for _, s := range o.segments {
		out = append(out, o.bytes[done:s.at]...)
		done = s.at
		var err error
		if out, err = appendRecords(out, s.records, 0, s.records.Len()); err != nil {
			t.Fatal(err)
		}
	}
	return append(out, o.bytes[done:]...)
}

// fetchSample is one partition of an answer, for both encoders.
type fetchSample struct {
	topic   string
	id      [16]byte
	index   int32
	got     broker.FetchedPartition
	records []byte
}

func sampleFetch() []fetchSample {
	ok := broker.FetchedPartition{
		HighWatermark: 100, LastStableOffset: 90, LogStartOffset: 3, PreferredReadReplica: -1,
		Diverging: broker.EpochEnd{Epoch: -1, EndOffset: -1}, Leader: noLeader,
	}
	moved := ok
	moved.Err, moved.Leader = broker.ErrNotLeader, broker.LeaderHint{ID: 7, Epoch: 12}
	moved.HighWatermark, moved.LastStableOffset, moved.LogStartOffset = -1, -1, -1
	diverged := ok
	diverged.Diverging = broker.EpochEnd{Epoch: 4, EndOffset: 77}
	both := diverged
	both.Err, both.Leader = broker.ErrFencedLeaderEpoch, broker.LeaderHint{ID: 7, Epoch: 13}
	preferred := ok
	preferred.PreferredReadReplica = 2
	return []fetchSample{
		{"a", [16]byte{1}, 0, ok, bytes.Repeat([]byte("batch"), 100)},
		{"a", [16]byte{1}, 1, moved, nil},
		{"a", [16]byte{1}, 2, diverged, []byte{}},
		{"another-topic", [16]byte{2, 15: 3}, 5, both, []byte{1}},
		{"another-topic", [16]byte{2, 15: 3}, 6, preferred, bytes.Repeat([]byte{9}, 200)},
	}
}

func kmsgFetch(version int16, samples []fetchSample, readCommitted bool, leaders []kmsg.FetchResponseBroker) []byte {
	resp := kmsg.NewPtrFetchResponse()
	resp.Version, resp.SessionID, resp.Brokers = version, 4711, leaders
	for _, s := range samples {
		if n := len(resp.Topics); n == 0 || resp.Topics[n-1].Topic != s.topic {
			topic := kmsg.NewFetchResponseTopic()
			topic.Topic, topic.TopicID = s.topic, s.id
			resp.Topics = append(resp.Topics, topic)
		}
		p := kmsg.NewFetchResponseTopicPartition()
		p.Partition, p.ErrorCode = s.index, code(s.got.Err)
		p.HighWatermark, p.LastStableOffset, p.LogStartOffset = s.got.HighWatermark, s.got.LastStableOffset, s.got.LogStartOffset
		p.PreferredReadReplica = s.got.PreferredReadReplica
		p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset = s.got.Diverging.Epoch, s.got.Diverging.EndOffset
		if version >= firstFetchHint {
			p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = s.got.Leader.ID, s.got.Leader.Epoch
		}
		if readCommitted {
			p.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{}
		}
		p.RecordBatches = append([]byte{}, s.records...)
		last := &resp.Topics[len(resp.Topics)-1]
		last.Partitions = append(last.Partitions, p)
	}
	return resp.AppendTo(nil)
}

func TestFetchEncoderEqualsKmsg(t *testing.T) {
	rack := "r1"
	leaders := []kmsg.FetchResponseBroker{{NodeID: 7, Host: "seven.example", Port: 9092}, {NodeID: 8, Host: "eight", Port: 9093, Rack: &rack}}
	samples := sampleFetch()
	for version := int16(4); version <= 18; version++ {
		for _, readCommitted := range []bool{false, true} {
			for _, tell := range [][]kmsg.FetchResponseBroker{nil, leaders} {
				var o response
				o.begin(1, version >= 12)
				header := len(o.bytes)
				enc := fetchEncoder{out: &o, version: version, compact: version >= 12, readCommitted: readCommitted}
				enc.begin(0, 4711, 2)
				for i, s := range samples {
					if i == 0 || i == 3 {
						enc.topic(s.topic, s.id, []int{3, 2}[i/3])
					}
					enc.partition(s.index, &s.got, memoryRecords(s.records))
					if i == 2 || i == 4 {
						enc.endTopic()
					}
				}
				enc.end(tell)
				o.end()
				ours := flat(t, &o)
				want := kmsgFetch(version, samples, readCommitted, tell)
				if !bytes.Equal(ours[header:], want) {
					t.Errorf("version %d, read committed %v, %d leaders:\n%x\nkmsg has\n%x", version, readCommitted, len(tell), ours[header:], want)
				}
				if size := int(uint32(ours[0])<<24 | uint32(ours[1])<<16 | uint32(ours[2])<<8 | uint32(ours[3])); size != len(ours)-4 {
					t.Errorf("version %d: declared size %d of %d bytes", version, size, len(ours)-4)
				}
			}
		}
	}
}

func TestResponseDropTakesBackOneAnswer(t *testing.T) {
	var o response
	o.begin(1, false)
	o.bytes = append(o.bytes, "first"...)
	o.addRecords(memoryRecords("abc"))
	o.end()
	before, size := flat(t, &o), o.size()
	o.begin(2, true)
	o.addRecords(memoryRecords("xyz"))
	o.bytes = append(o.bytes, "second"...)
	o.drop()
	if got := flat(t, &o); !bytes.Equal(got, before) || o.size() != size {
		t.Errorf("%q (%d) became %q (%d)", before, size, got, o.size())
	}
}
