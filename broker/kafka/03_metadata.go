package kafka

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
	"moldau/broker/metadata"
)

// Metadata (key 3), versions 0 to 13.
//
// 1: rack, controller, internal topics; null asks for all topics. 2: cluster id. 4: automatic creation is up to the client.
// 5: offline replicas. 7: leader epochs. 8: authorized operations (KIP-430), of the cluster until version 10. 9: flexible.
// 10: topic ids in answers (KIP-516), 12: in requests. 13: an error of the whole answer (KIP-1102).
//
// Addresses are those of the listener that the client came through.

// metadata describes brokers and topics, and makes topics that are asked for where that is permitted.
func (c *conn) metadata(ctx context.Context, r *request, q *kmsg.MetadataRequest) reply {
	resp := q.ResponseKind().(*kmsg.MetadataResponse)
	all := q.Topics == nil || q.Version == 0 && len(q.Topics) == 0
	created := make(map[string]error)
	if !all && !topicsWellNamed(q) {
		resp.Topics = refuseTopics(q)
	} else if !all {
		created = c.createMissing(ctx, r, q)
	}
	img := c.node.Image()
	c.describeBrokers(img, resp)
	if q.IncludeClusterAuthorizedOperations && q.Version >= 8 && q.Version <= 10 {
		resp.AuthorizedOperations = clusterOperations
	}
	switch {
	case all:
		for t := range img.Topics() {
			resp.Topics = append(resp.Topics, c.describeTopic(img, t, q))
		}
	case resp.Topics == nil:
		for i := range q.Topics {
			resp.Topics = append(resp.Topics, c.describeAsked(img, &q.Topics[i], q, created))
		}
	}
	return answer(resp)
}

// topicsWellNamed tells whether topics are named in the way that the version knows.
func topicsWellNamed(q *kmsg.MetadataRequest) bool {
	if q.Version >= 12 {
		return true
	}
	for i := range q.Topics {
		if q.Topics[i].Topic == nil || q.Topics[i].TopicID != ([16]byte{}) {
			return false
		}
	}
	return true
}

// refuseTopics answers INVALID_REQUEST for every topic.
func refuseTopics(q *kmsg.MetadataRequest) []kmsg.MetadataResponseTopic {
	out := make([]kmsg.MetadataResponseTopic, len(q.Topics))
	for i := range q.Topics {
		out[i] = unknownTopic(&q.Topics[i], kerr.InvalidRequest.Code)
		if out[i].Topic == nil {
			out[i].Topic = new(string) // versions before 12 cannot say null
		}
	}
	return out
}

// createMissing makes the topics that are asked for by name and not there, and returns what became of each.
func (c *conn) createMissing(ctx context.Context, r *request, q *kmsg.MetadataRequest) map[string]error {
	img := c.node.Image()
	outcome := make(map[string]error)
	var names []string
	for i := range q.Topics {
		if name := q.Topics[i].Topic; !byID(&q.Topics[i]) {
			_, exists := img.Topic(*name)
			if _, twice := outcome[*name]; !exists && !twice {
				outcome[*name] = missing(*name)
				names = append(names, *name)
			}
		}
	}
	if len(names) == 0 || q.Version >= 4 && !q.AllowAutoTopicCreation || !c.node.Config().AutoCreateTopics {
		return outcome
	}
	c.outsideSlot(func() {
		for i, err := range c.node.AutoCreateTopics(ctx, r.caller, names) {
			outcome[names[i]] = err
		}
	})
	return outcome
}

// missing is why there is no topic of a name.
func missing(name string) error {
	if !legalTopicName(name) {
		return broker.ErrInvalidTopic
	}
	return broker.ErrUnknownTopicOrPartition
}

// legalTopicName tells whether a topic could have the name; a client that asks for an impossible one should be told so.
func legalTopicName(name string) bool {
	if name == "" || name == "." || name == ".." || len(name) > 249 {
		return false
	}
	for i := range len(name) {
		switch ch := name[i]; {
		case ch >= 'a' && ch <= 'z', ch >= 'A' && ch <= 'Z', ch >= '0' && ch <= '9', ch == '.', ch == '_', ch == '-':
		default:
			return false
		}
	}
	return true
}

// describeBrokers lists the brokers that clients may talk to.
func (c *conn) describeBrokers(img *metadata.Image, resp *kmsg.MetadataResponse) {
	for _, b := range img.Brokers() {
		ep, ok := b.Endpoint(c.listener.name)
		if b.Fenced || !ok {
			continue
		}
		out := kmsg.NewMetadataResponseBroker()
		out.NodeID, out.Host, out.Port, out.Rack = b.ID, ep.Host, ep.Port, optional(b.Rack)
		resp.Brokers = append(resp.Brokers, out)
	}
	if id := string(img.ClusterID()); id != "" {
		resp.ClusterID = &id
	}
	resp.ControllerID = c.node.Config().NodeID // every broker takes administrative requests
}

// byID tells whether a topic is asked for by its id: Java's client leaves the name empty then, not null.
func byID(asked *kmsg.MetadataRequestTopic) bool {
	return asked.Topic == nil || asked.TopicID != ([16]byte{})
}

// describeAsked describes a topic that was asked for by name or id.
func (c *conn) describeAsked(img *metadata.Image, asked *kmsg.MetadataRequestTopic, q *kmsg.MetadataRequest, created map[string]error) kmsg.MetadataResponseTopic {
	if byID(asked) {
		if t, ok := img.TopicByID(asked.TopicID); ok && asked.TopicID != ([16]byte{}) {
			return c.describeTopic(img, t, q)
		}
		out := unknownTopic(asked, kerr.UnknownTopicID.Code)
		out.Topic = nil
		return out
	}
	if t, ok := img.Topic(*asked.Topic); ok {
		return c.describeTopic(img, t, q)
	}
	err, known := created[*asked.Topic]
	switch {
	case !known: // it was there a moment ago
		err = broker.ErrUnknownTopicOrPartition
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		err = broker.ErrLeaderNotAvailable // it is being made: ask again
	}
	out := unknownTopic(asked, code(err))
	allowTopic(&out, q) // what the caller may do with a name doesn't depend on whether there is such a topic
	return out
}

// allowTopic says what the caller may do with a topic, where the request asks for it (KIP-430).
func allowTopic(out *kmsg.MetadataResponseTopic, q *kmsg.MetadataRequest) {
	if q.IncludeTopicAuthorizedOperations && q.Version >= 8 {
		out.AuthorizedOperations = topicOperations
	}
}

// unknownTopic is the answer for a topic that cannot be described.
func unknownTopic(asked *kmsg.MetadataRequestTopic, code int16) kmsg.MetadataResponseTopic {
	out := kmsg.NewMetadataResponseTopic()
	out.ErrorCode, out.Topic, out.TopicID = code, asked.Topic, asked.TopicID
	return out
}

// describeTopic describes a topic with all its partitions.
func (c *conn) describeTopic(img *metadata.Image, t *metadata.Topic, q *kmsg.MetadataRequest) kmsg.MetadataResponseTopic {
	out := kmsg.NewMetadataResponseTopic()
	out.Topic, out.TopicID, out.IsInternal = &t.Name, t.ID, t.Internal
	allowTopic(&out, q)
	out.Partitions = make([]kmsg.MetadataResponseTopicPartition, len(t.Partitions))
	for i, p := range t.Partitions {
		out.Partitions[i] = c.describePartition(img, p)
	}
	return out
}

func (c *conn) describePartition(img *metadata.Image, p *metadata.Partition) kmsg.MetadataResponseTopicPartition {
	out := kmsg.NewMetadataResponseTopicPartition()
	out.Partition, out.Leader, out.LeaderEpoch = p.Index, p.Leader, p.LeaderEpoch
	out.Replicas, out.ISR = p.Replicas, p.ISR
	for _, id := range p.Replicas {
		if !c.reachable(img, id) {
			out.OfflineReplicas = append(out.OfflineReplicas, id)
		}
	}
	// A leader that is not among the brokers of the answer would send clients nowhere.
	if !c.reachable(img, p.Leader) {
		out.Leader = metadata.NoLeader
		out.ErrorCode = kerr.LeaderNotAvailable.Code
	}
	return out
}

// reachable tells whether clients of this listener are told about a broker.
func (c *conn) reachable(img *metadata.Image, id int32) bool {
	b, ok := img.Broker(id)
	if !ok || b.Fenced {
		return false
	}
	_, ok = b.Endpoint(c.listener.name)
	return ok
}

// Operations of Kafka's ACLs, as bits of the authorized operations (KIP-430). Without an authorizer everybody may do
// everything that applies to a resource.
const (
	opRead = 1 << (iota + 3)
	opWrite
	opCreate
	opDelete
	opAlter
	opDescribe
	opClusterAction
	opDescribeConfigs
	opAlterConfigs
	opIdempotentWrite

	topicOperations   int32 = opRead | opWrite | opCreate | opDelete | opAlter | opDescribe | opDescribeConfigs | opAlterConfigs
	clusterOperations int32 = opCreate | opAlter | opDescribe | opClusterAction | opDescribeConfigs | opAlterConfigs | opIdempotentWrite
)
