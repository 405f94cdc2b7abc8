package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// OffsetForLeaderEpoch (key 23), versions 0 to 4: where a leader epoch ends, so that a client finds out whether records it
// has read were lost (KIP-320).
//
// 1: the epoch that was found. 2: the client's epoch. 3: replica id. 4: flexible.

// offsetForLeaderEpoch finds the ends of leader epochs.
func (c *conn) offsetForLeaderEpoch(_ context.Context, r *request, q *kmsg.OffsetForLeaderEpochRequest) reply {
	forged := q.Version >= 3 && q.ReplicaID >= 0
	ask := broker.OffsetForLeaderEpochRequest{ReplicaID: -1}
	for i := range q.Topics {
		t := &q.Topics[i]
		for j := range t.Partitions {
			p := &t.Partitions[j]
			ask.Partitions = append(ask.Partitions, broker.OffsetForLeaderEpochPartition{
				Topic: broker.TopicRef{Name: t.Topic}, Partition: p.Partition,
				CurrentLeaderEpoch: p.CurrentLeaderEpoch, LeaderEpoch: p.LeaderEpoch,
			})
		}
	}
	var found []broker.LeaderEpochEnd
	if !forged {
		found = c.node.OffsetForLeaderEpoch(r.caller, &ask)
	}

	resp := q.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
	at := 0
	for i := range q.Topics {
		out := kmsg.NewOffsetForLeaderEpochResponseTopic()
		out.Topic = q.Topics[i].Topic
		for j := range q.Topics[i].Partitions {
			po := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			po.Partition, po.LeaderEpoch, po.EndOffset = q.Topics[i].Partitions[j].Partition, -1, -1
			switch {
			case forged:
				po.ErrorCode = code(errForgedReplica)
			case found[at].Err != nil:
				po.ErrorCode = code(found[at].Err)
			default:
				po.LeaderEpoch, po.EndOffset = found[at].Epoch, found[at].EndOffset
			}
			at++
			out.Partitions = append(out.Partitions, po)
		}
		resp.Topics = append(resp.Topics, out)
	}
	return answer(resp)
}
