package gateway

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/gateway/producer"
	adminv1 "moldau/gen/moldau/admin/v1"
)

// topicIDText returns a topic id as Kafka writes it, empty for none.
func topicIDText(id [16]byte) string {
	if id == [16]byte{} {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// topicOf returns what metadata tells of a topic, without its partitions.
func topicOf(t *kmsg.MetadataResponseTopic) *adminv1.Topic {
	out := &adminv1.Topic{
		Name: *t.Topic, TopicId: topicIDText(t.TopicID), Internal: t.IsInternal,
		PartitionCount: int32(len(t.Partitions)), //nolint:gosec // a topic has few partitions
	}
	if len(t.Partitions) > 0 {
		out.ReplicationFactor = int32(len(t.Partitions[0].Replicas)) //nolint:gosec // few replicas
	}
	return out
}

// createdTopic returns what the broker tells of a topic that it made or would make.
func createdTopic(asked *kmsg.CreateTopicsRequestTopic, t *kmsg.CreateTopicsResponseTopic) *adminv1.Topic {
	out := &adminv1.Topic{
		Name: asked.Topic, TopicId: topicIDText(t.TopicID),
		PartitionCount: max(t.NumPartitions, asked.NumPartitions), ReplicationFactor: int32(max(t.ReplicationFactor, asked.ReplicationFactor)),
	}
	for i := range t.Configs {
		c := &t.Configs[i]
		out.Configs = append(out.Configs, &adminv1.TopicConfig{
			Name: c.Name, Value: c.Value, Source: configSource(kmsg.ConfigSource(c.Source)), Sensitive: c.IsSensitive, ReadOnly: c.ReadOnly,
		})
	}
	sortConfigs(out.Configs)
	return out
}

// topicDetails asks for everything there is to tell of a topic.
func (c *client) topicDetails(ctx context.Context, name string) (*adminv1.Topic, error) {
	req := kmsg.NewPtrMetadataRequest()
	rt := kmsg.NewMetadataRequestTopic()
	rt.Topic = kmsg.StringPtr(name)
	req.Topics = append(req.Topics, rt)
	md, err := req.RequestWith(ctx, c.kafka)
	if err != nil {
		return nil, fmt.Errorf("describe topic %s: %w", name, err)
	}
	if len(md.Topics) != 1 || md.Topics[0].Topic == nil {
		return nil, fmt.Errorf("describe topic %s: got %d answers", name, len(md.Topics))
	}
	mt := &md.Topics[0]
	if err := producer.TopicError(name, mt.ErrorCode); err != nil {
		return nil, err
	}
	t := topicOf(mt)
	for _, p := range mt.Partitions {
		t.Partitions = append(t.Partitions, &adminv1.Partition{
			Partition: p.Partition, Leader: p.Leader, LeaderEpoch: p.LeaderEpoch, Replicas: p.Replicas, Isr: p.ISR,
		})
	}
	slices.SortFunc(t.Partitions, func(a, b *adminv1.Partition) int { return int(a.Partition) - int(b.Partition) })
	if err := c.addOffsets(ctx, t); err != nil {
		return nil, err
	}
	t.Configs, err = c.topicConfigs(ctx, name)
	return t, err
}

// addOffsets adds the offsets of the partitions whose leaders answer.
func (c *client) addOffsets(ctx context.Context, t *adminv1.Topic) error {
	for _, timestamp := range []int64{timestampEarliest, timestampLatest} {
		req := kmsg.NewPtrListOffsetsRequest()
		req.ReplicaID = -1
		rt := kmsg.NewListOffsetsRequestTopic()
		rt.Topic = t.Name
		for _, p := range t.Partitions {
			rp := kmsg.NewListOffsetsRequestTopicPartition()
			rp.Partition, rp.Timestamp = p.Partition, timestamp
			rt.Partitions = append(rt.Partitions, rp)
		}
		req.Topics = append(req.Topics, rt)
		for _, shard := range c.kafka.RequestSharded(ctx, req) {
			if shard.Err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				continue // that leader does not answer: its partitions have no offsets
			}
			setOffsets(t, shard.Resp.(*kmsg.ListOffsetsResponse), timestamp)
		}
	}
	return nil
}

func setOffsets(t *adminv1.Topic, resp *kmsg.ListOffsetsResponse, timestamp int64) {
	for _, rt := range resp.Topics {
		for _, p := range rt.Partitions {
			i, ok := slices.BinarySearchFunc(t.Partitions, p.Partition, func(a *adminv1.Partition, n int32) int { return int(a.Partition) - int(n) })
			if !ok || p.ErrorCode != 0 {
				continue
			}
			offset := p.Offset
			if timestamp == timestampEarliest {
				t.Partitions[i].LogStartOffset = &offset
			} else {
				t.Partitions[i].HighWatermark = &offset
			}
		}
	}
}

// topicConfigs returns the configs of a topic, ordered by name.
func (c *client) topicConfigs(ctx context.Context, name string) ([]*adminv1.TopicConfig, error) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	res := kmsg.NewDescribeConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeTopic, name
	req.Resources = append(req.Resources, res)
	resp, err := req.RequestWith(ctx, c.kafka)
	if err != nil {
		return nil, fmt.Errorf("describe configs of topic %s: %w", name, err)
	}
	var out []*adminv1.TopicConfig
	for i := range resp.Resources {
		r := &resp.Resources[i]
		if err := answered(r.ErrorCode, r.ErrorMessage); err != nil {
			return nil, fmt.Errorf("describe configs of topic %s: %w", name, err)
		}
		for _, cfg := range r.Configs {
			out = append(out, &adminv1.TopicConfig{
				Name: cfg.Name, Value: cfg.Value, Source: configSource(cfg.Source), Sensitive: cfg.IsSensitive, ReadOnly: cfg.ReadOnly,
			})
		}
	}
	sortConfigs(out)
	return out, nil
}

func sortConfigs(configs []*adminv1.TopicConfig) {
	slices.SortFunc(configs, func(a, b *adminv1.TopicConfig) int { return strings.Compare(a.Name, b.Name) })
}

func configSource(s kmsg.ConfigSource) adminv1.ConfigSource {
	switch s {
	case kmsg.ConfigSourceDynamicTopicConfig:
		return adminv1.ConfigSource_CONFIG_SOURCE_TOPIC
	case kmsg.ConfigSourceDynamicBrokerConfig:
		return adminv1.ConfigSource_CONFIG_SOURCE_BROKER
	case kmsg.ConfigSourceDynamicDefaultBrokerConfig:
		return adminv1.ConfigSource_CONFIG_SOURCE_CLUSTER
	case kmsg.ConfigSourceStaticBrokerConfig:
		return adminv1.ConfigSource_CONFIG_SOURCE_STATIC
	case kmsg.ConfigSourceDefaultConfig:
		return adminv1.ConfigSource_CONFIG_SOURCE_DEFAULT
	default: // those of other resources than topics
	}
	return adminv1.ConfigSource_CONFIG_SOURCE_UNSPECIFIED
}
