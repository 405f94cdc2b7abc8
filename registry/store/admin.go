package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// admin asks the cluster about topics.
type admin struct{ client *kgo.Client }

// place is where a topic of one partition is.
type place struct {
	id         [16]byte
	leader     int32
	partitions int
}

// Special times of ListOffsets.
const (
	latest   = -1
	earliest = -2
)

func (a *admin) metadata(ctx context.Context, topics ...string) (*kmsg.MetadataResponse, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // none, which is not the same as nil: all
	for _, t := range topics {
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = kmsg.StringPtr(t)
		req.Topics = append(req.Topics, rt)
	}
	resp, err := req.RequestWith(ctx, a.client)
	if err != nil {
		return nil, fmt.Errorf("ask for metadata: %w", err)
	}
	return resp, nil
}

func (a *admin) clusterID(ctx context.Context) (string, error) {
	resp, err := a.metadata(ctx)
	if err != nil || resp.ClusterID == nil {
		return "", err
	}
	return *resp.ClusterID, nil
}

// find looks a topic up. The error is kerr.UnknownTopicOrPartition when there is none.
func (a *admin) find(ctx context.Context, topic string) (place, error) {
	resp, err := a.metadata(ctx, topic)
	if err != nil {
		return place{}, err
	}
	if len(resp.Topics) != 1 {
		return place{}, fmt.Errorf("look up topic %s: the answer has %d topics", topic, len(resp.Topics))
	}
	t := &resp.Topics[0]
	if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
		return place{}, fmt.Errorf("look up topic %s: %w", topic, err)
	}
	p := place{id: t.TopicID, leader: -1, partitions: len(t.Partitions)}
	for i := range t.Partitions {
		if t.Partitions[i].Partition == 0 {
			p.leader = t.Partitions[i].Leader
		}
	}
	if p.leader < 0 {
		return place{}, fmt.Errorf("look up topic %s: %w", topic, kerr.LeaderNotAvailable)
	}
	return p, nil
}

// offset asks for the first or last offset of partition 0: with committed the one up to which read_committed reads.
func (a *admin) offset(ctx context.Context, topic string, at place, which int64, committed bool) (int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	if committed {
		req.IsolationLevel = 1
	}
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewListOffsetsRequestTopicPartition()
	rp.Timestamp = which
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(ctx, a.client.Broker(int(at.leader)))
	if err != nil {
		return 0, fmt.Errorf("list offsets of topic %s: %w", topic, err)
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return 0, fmt.Errorf("list offsets of topic %s: the answer is of another partition", topic)
	}
	p := &resp.Topics[0].Partitions[0]
	if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
		return 0, fmt.Errorf("list offsets of topic %s: %w", topic, err)
	}
	return p.Offset, nil
}

// make makes a compacted topic of one partition. It does no harm when there is one.
func (a *admin) make(ctx context.Context, topic string, replicas int) error {
	resp, err := a.metadata(ctx)
	if err != nil {
		return err
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = 10_000
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic = topic
	rt.NumPartitions = 1
	rt.ReplicationFactor = int16(max(min(replicas, len(resp.Brokers), 1<<10), 1)) //nolint:gosec // bounded here
	for k, v := range topicConfigs() {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = k, kmsg.StringPtr(v)
		rt.Configs = append(rt.Configs, c)
	}
	req.Topics = append(req.Topics, rt)
	made, err := req.RequestWith(ctx, a.client)
	if err != nil {
		return fmt.Errorf("make topic %s: %w", topic, err)
	}
	for i := range made.Topics {
		t := &made.Topics[i]
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			return fmt.Errorf("make topic %s: %w", topic, withText(err, t.ErrorMessage))
		}
	}
	return nil
}

func withText(err error, text *string) error {
	if text == nil || *text == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, *text)
}

// configs reads some configs of a topic. What the cluster does not tell is missing.
func (a *admin) configs(ctx context.Context, topic string, names ...string) (map[string]string, error) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	res := kmsg.NewDescribeConfigsRequestResource()
	res.ResourceType = kmsg.ConfigResourceTypeTopic
	res.ResourceName = topic
	res.ConfigNames = names
	req.Resources = append(req.Resources, res)
	resp, err := req.RequestWith(ctx, a.client)
	if err != nil {
		return nil, fmt.Errorf("read the configs of topic %s: %w", topic, err)
	}
	out := map[string]string{}
	for i := range resp.Resources {
		if err := kerr.ErrorForCode(resp.Resources[i].ErrorCode); err != nil {
			return nil, fmt.Errorf("read the configs of topic %s: %w", topic, withText(err, resp.Resources[i].ErrorMessage))
		}
		for _, c := range resp.Resources[i].Configs {
			if c.Value != nil {
				out[c.Name] = *c.Value
			}
		}
	}
	return out, nil
}
