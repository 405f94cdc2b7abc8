package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// OffsetFetch (key 9), versions 1 to 10. Version 0 read ZooKeeper.
//
// 2: all topics, an error of the whole answer. 5: leader epochs (KIP-320). 6: flexible. 7: stable offsets (KIP-447).
// 8: several groups (KIP-709). 9: member ids and epochs (KIP-848). 10: topic ids (KIP-848).

// offsetFetch returns committed offsets.
func (c *conn) offsetFetch(_ context.Context, r *request, q *kmsg.OffsetFetchRequest) reply {
	if q.Version < 8 {
		return c.offsetFetchOne(r, q)
	}
	found := make([]*broker.CoordinatorReply[[]broker.FetchedOffsets], len(q.Groups))
	pending := make([]broker.Pending, len(q.Groups))
	for i := range q.Groups {
		g := &q.Groups[i]
		ask := &broker.OffsetFetchRequest{Group: g.Group, All: g.Topics == nil, RequireStable: q.RequireStable, MemberEpoch: -1}
		if q.Version >= 9 {
			ask.MemberID, ask.MemberEpoch = g.MemberID, g.MemberEpoch
		}
		for j := range g.Topics {
			name, _ := c.fetchedTopic(q.Version, &g.Topics[j])
			ask.Topics = append(ask.Topics, broker.OffsetFetchTopic{Topic: name, Partitions: g.Topics[j].Partitions})
		}
		found[i] = c.node.OffsetFetch(r.caller, ask)
		pending[i] = found[i]
	}
	return await(func() kmsg.Response {
		resp := q.ResponseKind().(*kmsg.OffsetFetchResponse)
		for i := range q.Groups {
			out := kmsg.NewOffsetFetchResponseGroup()
			out.Group = q.Groups[i].Group
			topics, err := result(found[i])
			if out.ErrorCode = code(err); err == nil {
				out.Topics = c.fetchedTopics(q, &q.Groups[i], topics)
			}
			resp.Groups = append(resp.Groups, out)
		}
		return resp
	}, pending...)
}

// fetchedTopic returns the name of a topic that is asked for; ok is false if no topic has the id.
func (c *conn) fetchedTopic(version int16, t *kmsg.OffsetFetchRequestGroupTopic) (name string, ok bool) {
	if version < 10 {
		return t.Topic, true
	}
	found, ok := c.node.Image().TopicByID(t.TopicID)
	if !ok {
		return "", false
	}
	return found.Name, true
}

// fetchedTopics makes the answer for one group.
func (c *conn) fetchedTopics(q *kmsg.OffsetFetchRequest, g *kmsg.OffsetFetchRequestGroup, topics []broker.FetchedOffsets) []kmsg.OffsetFetchResponseGroupTopic {
	out := make([]kmsg.OffsetFetchResponseGroupTopic, 0, len(topics))
	for i := range topics {
		t := &topics[i]
		o := kmsg.NewOffsetFetchResponseGroupTopic()
		o.Topic = t.Topic
		unknown := false
		switch {
		case q.Version < 10:
		case g.Topics != nil:
			_, ok := c.fetchedTopic(q.Version, &g.Topics[i])
			o.TopicID, unknown = g.Topics[i].TopicID, !ok
		default:
			found, ok := c.node.Image().Topic(t.Topic)
			if !ok {
				continue // deleted since; nobody could name it
			}
			o.TopicID = found.ID
		}
		for j := range t.Partitions {
			p := &t.Partitions[j]
			po := kmsg.NewOffsetFetchResponseGroupTopicPartition()
			po.Partition, po.Offset, po.LeaderEpoch, po.Metadata, po.ErrorCode = p.Partition, p.Offset.Offset, p.LeaderEpoch, &p.Metadata, code(p.Err)
			if unknown {
				po.ErrorCode = code(broker.ErrUnknownTopicID)
			}
			o.Partitions = append(o.Partitions, po)
		}
		out = append(out, o)
	}
	return out
}

// offsetFetchOne answers the versions that ask for one group.
func (c *conn) offsetFetchOne(r *request, q *kmsg.OffsetFetchRequest) reply {
	ask := &broker.OffsetFetchRequest{Group: q.Group, All: q.Topics == nil && q.Version >= 2, RequireStable: q.RequireStable, MemberEpoch: -1}
	for i := range q.Topics {
		ask.Topics = append(ask.Topics, broker.OffsetFetchTopic{Topic: q.Topics[i].Topic, Partitions: q.Topics[i].Partitions})
	}
	got := c.node.OffsetFetch(r.caller, ask)
	return await(func() kmsg.Response {
		resp := q.ResponseKind().(*kmsg.OffsetFetchResponse)
		topics, err := result(got)
		if resp.ErrorCode = code(err); err != nil {
			resp.Topics = refusedOffsets(q, err)
			return resp
		}
		for i := range topics {
			out := kmsg.NewOffsetFetchResponseTopic()
			out.Topic = topics[i].Topic
			for j := range topics[i].Partitions {
				p := &topics[i].Partitions[j]
				po := kmsg.NewOffsetFetchResponseTopicPartition()
				po.Partition, po.Offset, po.LeaderEpoch, po.Metadata, po.ErrorCode = p.Partition, p.Offset.Offset, p.LeaderEpoch, &p.Metadata, code(p.Err)
				out.Partitions = append(out.Partitions, po)
			}
			resp.Topics = append(resp.Topics, out)
		}
		return resp
	}, got)
}

// refusedOffsets repeats an error of the whole answer for every partition, where the version has no other place for it.
func refusedOffsets(q *kmsg.OffsetFetchRequest, err error) []kmsg.OffsetFetchResponseTopic {
	if q.Version >= 2 {
		return nil
	}
	var out []kmsg.OffsetFetchResponseTopic
	for i := range q.Topics {
		t := kmsg.NewOffsetFetchResponseTopic()
		t.Topic = q.Topics[i].Topic
		for _, p := range q.Topics[i].Partitions {
			po := kmsg.NewOffsetFetchResponseTopicPartition()
			empty := ""
			po.Partition, po.Offset, po.Metadata, po.ErrorCode = p, -1, &empty, code(err)
			t.Partitions = append(t.Partitions, po)
		}
		out = append(out, t)
	}
	return out
}
