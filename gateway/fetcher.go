package gateway

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/gateway/producer"
)

// fetcher keeps the fetches of one reader that are under way, at most one per leader. The reader's goroutine uses it;
// each fetch runs in a goroutine that ends with its answer or with stop.
type fetcher struct {
	results  chan fetched
	underWay map[int32]struct{} // leaders
	pending  int                // len(underWay)
	ctx      context.Context
	cancel   context.CancelFunc
	wg       sync.WaitGroup
}

// fetched is the answer of one leader.
type fetched struct {
	leader     int32
	partitions []int32 // what was asked for, in the order to serve
	resp       *kmsg.FetchResponse
	err        error
}

func newFetcher() *fetcher {
	ctx, cancel := context.WithCancel(context.Background())
	return &fetcher{results: make(chan fetched, 1), underWay: make(map[int32]struct{}), ctx: ctx, cancel: cancel}
}

// start asks every leader that isn't asked yet and returns how many are asked now.
func (f *fetcher) start(r *Reader, kafka *kgo.Client, limit int, wait time.Duration) int {
	byLeader := make(map[int32][]int32, 1)
	n := len(r.pos.offsets)
	for i := range n {
		p := r.pos.partition((int(r.pos.first) + i) % n)
		if int(p) < len(r.topic.Leaders) && r.topic.Leaders[p] >= 0 {
			leader := r.topic.Leaders[p]
			byLeader[leader] = append(byLeader[leader], p)
		}
	}
	for leader, partitions := range byLeader {
		if _, busy := f.underWay[leader]; busy {
			continue
		}
		f.underWay[leader] = struct{}{}
		f.pending++
		req := r.request(partitions, limit, wait)
		f.wg.Go(func() {
			resp, err := req.RequestWith(f.ctx, kafka.Broker(int(leader)))
			select {
			case f.results <- fetched{leader, partitions, resp, err}:
			case <-f.ctx.Done():
			}
		})
	}
	return f.pending
}

func (f *fetcher) received(leader int32) {
	delete(f.underWay, leader)
	f.pending--
}

// stop ends what is under way and tells whether there was anything.
func (f *fetcher) stop() (busy bool) {
	f.cancel()
	f.wg.Wait()
	return f.pending > 0
}

// request makes a fetch of some partitions of one leader.
func (r *Reader) request(partitions []int32, limit int, wait time.Duration) *kmsg.FetchRequest {
	want := min(max((limit-len(r.out))*(r.size+r.size/4), minFetchBytes), pieceBytes)
	if limit-len(r.out) > pieceBytes/r.size {
		want = pieceBytes // and no overflow above
	}
	req := kmsg.NewPtrFetchRequest()
	req.ReplicaID = -1
	req.MaxWaitMillis = int32(wait.Milliseconds()) //nolint:gosec // bounded by gateway.max.wait.ms
	req.MinBytes = 1
	req.MaxBytes = int32(want) //nolint:gosec // at most pieceBytes
	req.SessionEpoch = -1
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic, rt.TopicID = r.topic.Name, r.topic.ID
	rt.Partitions = make([]kmsg.FetchRequestTopicPartition, len(partitions))
	for i, p := range partitions {
		rp := kmsg.NewFetchRequestTopicPartition()
		rp.Partition = p
		rp.FetchOffset = r.pos.offsets[r.pos.index(p)]
		rp.PartitionMaxBytes = int32(want) //nolint:gosec // at most pieceBytes
		rt.Partitions[i] = rp
	}
	req.Topics = append(req.Topics, rt)
	return req
}

// take moves records of an answer into out and the position behind them.
func (r *Reader) take(ctx context.Context, res fetched, limit int) (progress bool, err error) {
	if res.err != nil {
		return false, fmt.Errorf("fetch from topic %s: %w", r.topic.Name, res.err)
	}
	if err := kerr.ErrorForCode(res.resp.ErrorCode); err != nil {
		return false, fmt.Errorf("fetch from topic %s: %w", r.topic.Name, err)
	}
	answers := make(map[int32]*kmsg.FetchResponseTopicPartition, len(res.partitions))
	for i := range res.resp.Topics {
		for j := range res.resp.Topics[i].Partitions {
			p := &res.resp.Topics[i].Partitions[j]
			answers[p.Partition] = p
		}
	}
	for _, p := range res.partitions {
		if len(r.out) >= limit {
			break
		}
		a := answers[p]
		if a == nil {
			continue
		}
		moved, takeErr := r.takePartition(ctx, a, limit)
		if moved {
			progress = true
			if r.pos.scope == allPartitions {
				r.pos.first = p + 1 // the next answer begins with the partition behind it
			}
		}
		if takeErr != nil && err == nil {
			err = takeErr
		}
	}
	return progress, err
}

func (r *Reader) takePartition(ctx context.Context, a *kmsg.FetchResponseTopicPartition, limit int) (moved bool, err error) {
	at := &r.pos.offsets[r.pos.index(a.Partition)]
	if a.ErrorCode == kerr.OffsetOutOfRange.Code {
		return r.outOfRange(ctx, a.Partition, at)
	}
	if err := kerr.ErrorForCode(a.ErrorCode); err != nil {
		return false, fmt.Errorf("fetch from topic %s, partition %d: %w", r.topic.Name, a.Partition, err)
	}
	if len(a.RecordBatches) == 0 {
		return false, nil
	}
	fp, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
		Offset: *at, Topic: r.topic.Name, Partition: a.Partition,
	}, a, r.g.decompressor, nil)
	records := fp.Records
	if len(records) > 0 {
		r.size = max(len(a.RecordBatches)/len(records), 1)
	}
	if room := limit - len(r.out); len(records) > room {
		records = records[:room]
		next = records[room-1].Offset + 1
	}
	r.out = append(r.out, records...)
	moved = next > *at
	if moved {
		*at = next
		return true, nil
	}
	if fp.Err == nil { // bytes that are no whole batch: the leader sends it whole when the partition comes first
		return false, nil
	}
	return false, &producer.BrokerError{
		Kafka: kerr.CorruptMessage,
		Text:  fmt.Sprintf("topic %s, partition %d, offset %d can't be read: %v", r.topic.Name, a.Partition, *at, fp.Err),
	}
}

// outOfRange handles a position that is not in the log. A read from the earliest record moves to what is earliest now;
// any other is told, since records that were expected are not there.
func (r *Reader) outOfRange(ctx context.Context, partition int32, at *int64) (moved bool, err error) {
	start := &cursor{scope: partition, offsets: make([]int64, 1)}
	if err := r.client.listOffsets(ctx, r.topic, start, timestampEarliest); err != nil {
		return false, err
	}
	if r.opened && start.offsets[0] > *at {
		*at = start.offsets[0]
		return true, nil
	}
	end := &cursor{scope: partition, offsets: make([]int64, 1)}
	if err := r.client.listOffsets(ctx, r.topic, end, timestampLatest); err != nil {
		return false, err
	}
	return false, &OffsetError{
		Partition: partition, Offset: *at, LogStartOffset: start.offsets[0], LogHighWatermark: end.offsets[0],
	}
}
