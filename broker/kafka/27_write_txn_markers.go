package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// WriteTxnMarkers (key 27), versions 1 and 2: markers from a transaction coordinator, or from an operator who ends a hanging
// transaction (KIP-664). Version 0 is gone from Kafka 4.
//
// 1: flexible. 2: the version of the transaction.

// writeTxnMarkers writes markers and answers once they are committed.
func (c *conn) writeTxnMarkers(ctx context.Context, r *request, q *kmsg.WriteTxnMarkersRequest) reply {
	resp := q.ResponseKind().(*kmsg.WriteTxnMarkersResponse)
	c.whileWaiting(controlPlane, func() {
		for i := range q.Markers {
			resp.Markers = append(resp.Markers, c.writeTxnMarker(ctx, r, &q.Markers[i]))
		}
	})
	return answer(resp)
}

func (c *conn) writeTxnMarker(ctx context.Context, r *request, q *kmsg.WriteTxnMarkersRequestMarker) kmsg.WriteTxnMarkersResponseMarker {
	m := &broker.TxnMarker{
		Producer: broker.Producer{ID: q.ProducerID, Epoch: q.ProducerEpoch}, Commit: q.Committed, CoordinatorEpoch: q.CoordinatorEpoch,
		Version: int16(q.TransactionVersion),
	}
	for i := range q.Topics {
		for _, p := range q.Topics[i].Partitions {
			m.Partitions = append(m.Partitions, broker.TxnPartition{Topic: q.Topics[i].Topic, Partition: p})
		}
	}
	errs := c.node.WriteTxnMarkers(ctx, r.caller, m)
	out := kmsg.NewWriteTxnMarkersResponseMarker()
	out.ProducerID = q.ProducerID
	for i := range q.Topics {
		topic := kmsg.NewWriteTxnMarkersResponseMarkerTopic()
		topic.Topic = q.Topics[i].Topic
		for _, index := range q.Topics[i].Partitions {
			p := kmsg.NewWriteTxnMarkersResponseMarkerTopicPartition()
			p.Partition, p.ErrorCode, errs = index, code(errs[0]), errs[1:]
			topic.Partitions = append(topic.Partitions, p)
		}
		out.Topics = append(out.Topics, topic)
	}
	return out
}
