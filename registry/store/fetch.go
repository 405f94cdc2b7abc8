package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker/record"
)

const (
	// fetchBytes is how much one fetch brings. A batch that is larger comes all the same, alone.
	fetchBytes = 8 << 20
	// fetchWait is how long a fetch waits at the broker for something to come.
	fetchWait = 5 * time.Second
	// maxDecompressed is the size that one batch may have when it is expanded.
	maxDecompressed = 64 << 20
)

// fetched is what a fetch brought.
type fetched struct {
	records []*kgo.Record
	next    int64 // the offset to go on at, behind records that are not for consumers too
	end     bool  // that is where the committed part of the topic ends: no transaction is cut there
}

// fetch reads partition 0 of a topic from an offset on, as far as it is committed. It waits at the broker for a while
// when there is nothing.
func (a *admin) fetch(ctx context.Context, topic string, at place, offset int64, wait time.Duration) (fetched, error) {
	req := kmsg.NewPtrFetchRequest()
	req.ReplicaID = -1
	req.MaxWaitMillis = int32(wait.Milliseconds()) //nolint:gosec // a few seconds
	req.MinBytes = 1
	req.MaxBytes = fetchBytes
	req.IsolationLevel = 1
	req.SessionEpoch = -1
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic, rt.TopicID = topic, at.id
	rp := kmsg.NewFetchRequestTopicPartition()
	rp.FetchOffset = offset
	rp.PartitionMaxBytes = fetchBytes
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(ctx, a.client.Broker(int(at.leader)))
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if err != nil {
		return fetched{}, fmt.Errorf("fetch topic %s at offset %d: %w", topic, offset, err)
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return fetched{}, fmt.Errorf("fetch topic %s at offset %d: the answer is of another partition", topic, offset)
	}
	p := &resp.Topics[0].Partitions[0]
	if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
		return fetched{}, fmt.Errorf("fetch topic %s at offset %d: %w", topic, offset, err)
	}
	fp, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
		Offset: offset, Topic: topic, IsolationLevel: kgo.ReadCommitted(),
	}, p, newDecompressor(), nil)
	if fp.Err != nil && next == offset {
		return fetched{}, fmt.Errorf("fetch topic %s at offset %d: %w", topic, offset, fp.Err)
	}
	return fetched{fp.Records, next, fp.LastStableOffset >= 0 && next >= fp.LastStableOffset}, nil
}

// decompressor expands fetched batches within limits: what others wrote may be made to fill memory.
type decompressor struct{ d *record.Decompressor }

func newDecompressor() decompressor {
	return decompressor{record.NewDecompressor(record.Limits{MaxBytes: maxDecompressed})}
}

// Decompress implements kgo.Decompressor. Its codec numbers are those of the record batch, as ours are.
func (d decompressor) Decompress(src []byte, codec kgo.CompressionCodecType) ([]byte, error) {
	if codec == kgo.CodecNone {
		return src, nil
	}
	return d.d.Decompress(nil, src, record.Codec(codec))
}

// moved tells whether an error means that the topic is no longer where it was.
func moved(err error) bool {
	for _, k := range []*kerr.Error{
		kerr.NotLeaderForPartition, kerr.LeaderNotAvailable, kerr.UnknownTopicOrPartition, kerr.UnknownTopicID,
		kerr.InconsistentTopicID, kerr.ReplicaNotAvailable, kerr.FencedLeaderEpoch, kerr.UnknownLeaderEpoch,
		kerr.KafkaStorageError, kerr.OffsetNotAvailable,
	} {
		if errors.Is(err, k) {
			return true
		}
	}
	return false
}
