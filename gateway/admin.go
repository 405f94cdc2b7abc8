package gateway

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	adminv1 "moldau/gen/moldau/admin/v1"
)

const (
	defaultPage = 1_000
	maxPage     = 10_000
	// adminTimeout is how long the broker may take to carry out a change.
	adminTimeoutMillis = 30_000
)

// topicService serves moldau.admin.v1.TopicService. Its methods are the administrative verbs: the HTTP door calls them
// through LocalConn.
type topicService struct {
	adminv1.UnimplementedTopicServiceServer
	g *Gateway
}

// with runs a verb with the client of the caller.
func (s *topicService) with(ctx context.Context, verb func(c *client) error) error {
	c, err := s.g.clients.acquire(s.g.principal(ctx))
	if err != nil {
		return err
	}
	defer c.release()
	return verb(c)
}

// ListTopics implements the service. The page token is the last name of the page before.
func (s *topicService) ListTopics(ctx context.Context, q *adminv1.ListTopicsRequest) (*adminv1.ListTopicsResponse, error) {
	size := int(q.GetPageSize())
	if size < 0 || size > maxPage {
		return nil, invalid("page_size", "must be from 0 to %d", maxPage)
	}
	if size == 0 {
		size = defaultPage
	}
	resp := new(adminv1.ListTopicsResponse)
	err := s.with(ctx, func(c *client) error {
		req := kmsg.NewPtrMetadataRequest()
		req.Topics = nil // all
		md, err := req.RequestWith(ctx, c.kafka)
		if err != nil {
			return fmt.Errorf("list topics: %w", err)
		}
		for i := range md.Topics {
			t := &md.Topics[i]
			if t.Topic != nil && t.ErrorCode == 0 && *t.Topic > q.GetPageToken() && strings.HasPrefix(*t.Topic, q.GetPrefix()) &&
				(!t.IsInternal || q.GetIncludeInternal()) {
				resp.Topics = append(resp.Topics, topicOf(t))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(resp.Topics, func(a, b *adminv1.Topic) int { return strings.Compare(a.Name, b.Name) })
	if len(resp.Topics) > size {
		resp.Topics = resp.Topics[:size]
		resp.NextPageToken = resp.Topics[size-1].Name
	}
	return resp, nil
}

// GetTopic implements the service.
func (s *topicService) GetTopic(ctx context.Context, q *adminv1.GetTopicRequest) (*adminv1.GetTopicResponse, error) {
	t, err := s.get(ctx, q.GetTopic())
	if err != nil {
		return nil, err
	}
	return &adminv1.GetTopicResponse{Topic: t}, nil
}

func (s *topicService) get(ctx context.Context, name string) (t *adminv1.Topic, err error) {
	if err := checkTopic(name); err != nil {
		return nil, err
	}
	err = s.with(ctx, func(c *client) error {
		t, err = c.topicDetails(ctx, name)
		return err
	})
	return t, err
}

// CreateTopic implements the service.
func (s *topicService) CreateTopic(ctx context.Context, q *adminv1.CreateTopicRequest) (*adminv1.CreateTopicResponse, error) {
	if err := checkTopic(q.GetName()); err != nil {
		return nil, err
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = adminTimeoutMillis
	req.ValidateOnly = q.GetValidateOnly()
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = q.GetName(), -1, -1
	if q.PartitionCount != nil {
		if rt.NumPartitions = *q.PartitionCount; rt.NumPartitions < 1 {
			return nil, invalid("partition_count", "must be positive")
		}
	}
	if q.ReplicationFactor != nil {
		if n := *q.ReplicationFactor; n < 1 || n > 1<<15-1 {
			return nil, invalid("replication_factor", "must be from 1 to %d", 1<<15-1)
		}
		rt.ReplicationFactor = int16(*q.ReplicationFactor) //nolint:gosec // checked above
	}
	for name, value := range q.GetConfigs() {
		cfg := kmsg.NewCreateTopicsRequestTopicConfig()
		cfg.Name, cfg.Value = name, kmsg.StringPtr(value)
		rt.Configs = append(rt.Configs, cfg)
	}
	req.Topics = append(req.Topics, rt)
	var t *adminv1.Topic
	err := s.with(ctx, func(c *client) error {
		resp, err := req.RequestWith(ctx, c.kafka)
		if err != nil {
			return fmt.Errorf("create topic %s: %w", rt.Topic, err)
		}
		if len(resp.Topics) != 1 {
			return fmt.Errorf("create topic %s: got %d answers", rt.Topic, len(resp.Topics))
		}
		if err := answered(resp.Topics[0].ErrorCode, resp.Topics[0].ErrorMessage); err != nil {
			return err
		}
		c.topics.drop(rt.Topic)
		t = createdTopic(&rt, &resp.Topics[0])
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &adminv1.CreateTopicResponse{Topic: t}, nil
}

// UpdateTopic implements the service.
func (s *topicService) UpdateTopic(ctx context.Context, q *adminv1.UpdateTopicRequest) (*adminv1.UpdateTopicResponse, error) {
	if err := checkTopic(q.GetTopic()); err != nil {
		return nil, err
	}
	req, err := alterConfigs(q)
	if err != nil {
		return nil, err
	}
	err = s.with(ctx, func(c *client) error {
		resp, err := req.RequestWith(ctx, c.kafka)
		if err != nil {
			return fmt.Errorf("change configs of topic %s: %w", q.GetTopic(), err)
		}
		for i := range resp.Resources {
			if err := answered(resp.Resources[i].ErrorCode, resp.Resources[i].ErrorMessage); err != nil {
				return err
			}
		}
		c.topics.drop(q.GetTopic())
		return nil
	})
	if err != nil {
		return nil, err
	}
	t, err := s.get(ctx, q.GetTopic())
	if err != nil {
		return nil, err
	}
	return &adminv1.UpdateTopicResponse{Topic: t}, nil
}

// alterConfigs makes the request of a change. Configs are ordered, so that equal requests have equal answers.
func alterConfigs(q *adminv1.UpdateTopicRequest) (*kmsg.IncrementalAlterConfigsRequest, error) {
	if len(q.GetSet()) == 0 && len(q.GetDelete()) == 0 {
		return nil, invalid("set", "there is nothing to set and nothing to delete")
	}
	res := kmsg.NewIncrementalAlterConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeTopic, q.GetTopic()
	for name, value := range q.GetSet() {
		cfg := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		cfg.Name, cfg.Op, cfg.Value = name, kmsg.IncrementalAlterConfigOpSet, kmsg.StringPtr(value)
		res.Configs = append(res.Configs, cfg)
	}
	for i, name := range q.GetDelete() {
		if _, both := q.GetSet()[name]; both || slices.Contains(q.GetDelete()[:i], name) {
			return nil, invalid(fmt.Sprintf("delete[%d]", i), "%s is named more than once", name)
		}
		cfg := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		cfg.Name, cfg.Op = name, kmsg.IncrementalAlterConfigOpDelete
		res.Configs = append(res.Configs, cfg)
	}
	slices.SortFunc(res.Configs, func(a, b kmsg.IncrementalAlterConfigsRequestResourceConfig) int {
		return strings.Compare(a.Name, b.Name)
	})
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.ValidateOnly = q.GetValidateOnly()
	req.Resources = append(req.Resources, res)
	return req, nil
}

// DeleteTopic implements the service.
func (s *topicService) DeleteTopic(ctx context.Context, q *adminv1.DeleteTopicRequest) (*adminv1.DeleteTopicResponse, error) {
	if err := checkTopic(q.GetTopic()); err != nil {
		return nil, err
	}
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = adminTimeoutMillis
	req.TopicNames = []string{q.GetTopic()} // up to version 5
	rt := kmsg.NewDeleteTopicsRequestTopic()
	rt.Topic = kmsg.StringPtr(q.GetTopic())
	req.Topics = append(req.Topics, rt)
	err := s.with(ctx, func(c *client) error {
		resp, err := req.RequestWith(ctx, c.kafka)
		if err != nil {
			return fmt.Errorf("delete topic %s: %w", q.GetTopic(), err)
		}
		for i := range resp.Topics {
			if err := answered(resp.Topics[i].ErrorCode, resp.Topics[i].ErrorMessage); err != nil {
				return err
			}
		}
		c.topics.drop(q.GetTopic())
		return nil
	})
	if err != nil {
		return nil, err
	}
	return new(adminv1.DeleteTopicResponse), nil
}

// AddPartitions implements the service.
func (s *topicService) AddPartitions(ctx context.Context, q *adminv1.AddPartitionsRequest) (*adminv1.AddPartitionsResponse, error) {
	if err := checkTopic(q.GetTopic()); err != nil {
		return nil, err
	}
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.TimeoutMillis = adminTimeoutMillis
	req.ValidateOnly = q.GetValidateOnly()
	rt := kmsg.NewCreatePartitionsRequestTopic()
	rt.Topic, rt.Count = q.GetTopic(), q.GetPartitionCount()
	req.Topics = append(req.Topics, rt)
	err := s.with(ctx, func(c *client) error {
		resp, err := req.RequestWith(ctx, c.kafka)
		if err != nil {
			return fmt.Errorf("add partitions to topic %s: %w", rt.Topic, err)
		}
		for i := range resp.Topics {
			if err := answered(resp.Topics[i].ErrorCode, resp.Topics[i].ErrorMessage); err != nil {
				return err
			}
		}
		c.topics.drop(rt.Topic)
		return nil
	})
	if err != nil {
		return nil, err
	}
	t, err := s.get(ctx, q.GetTopic())
	if err != nil {
		return nil, err
	}
	return &adminv1.AddPartitionsResponse{Topic: t}, nil
}

// DeleteRecords implements the service. Each partition is a step of its own: where one fails, others may be done.
func (s *topicService) DeleteRecords(ctx context.Context, q *adminv1.DeleteRecordsRequest) (*adminv1.DeleteRecordsResponse, error) {
	if err := checkTopic(q.GetTopic()); err != nil {
		return nil, err
	}
	if len(q.GetPartitions()) == 0 {
		return nil, invalid("partitions", "there must be at least one")
	}
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.TimeoutMillis = adminTimeoutMillis
	rt := kmsg.NewDeleteRecordsRequestTopic()
	rt.Topic = q.GetTopic()
	seen := make(map[int32]bool)
	for i, p := range q.GetPartitions() {
		if p.GetPartition() < 0 || seen[p.GetPartition()] {
			return nil, invalid(fmt.Sprintf("partitions[%d].partition", i), "is negative, or there twice")
		}
		if p.GetBeforeOffset() < -1 {
			return nil, invalid(fmt.Sprintf("partitions[%d].before_offset", i), "must be an offset, or -1 for all")
		}
		seen[p.GetPartition()] = true
		rp := kmsg.NewDeleteRecordsRequestTopicPartition()
		rp.Partition, rp.Offset = p.GetPartition(), p.GetBeforeOffset()
		rt.Partitions = append(rt.Partitions, rp)
	}
	req.Topics = append(req.Topics, rt)
	out := new(adminv1.DeleteRecordsResponse)
	err := s.with(ctx, func(c *client) error {
		resp, err := req.RequestWith(ctx, c.kafka)
		if err != nil {
			return fmt.Errorf("delete records of topic %s: %w", rt.Topic, err)
		}
		return deletedRecords(out, resp)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// deletedRecords fills out with the answers of all partitions.
func deletedRecords(out *adminv1.DeleteRecordsResponse, resp *kmsg.DeleteRecordsResponse) error {
	for _, rt := range resp.Topics {
		for _, p := range rt.Partitions {
			if err := answered(p.ErrorCode, nil); err != nil {
				return fmt.Errorf("delete records of partition %d (others may be done): %w", p.Partition, err)
			}
			out.Partitions = append(out.Partitions, &adminv1.DeletedRecords{
				Partition: p.Partition, LogStartOffset: p.LowWatermark,
			})
		}
	}
	slices.SortFunc(out.Partitions, func(a, b *adminv1.DeletedRecords) int { return int(a.Partition) - int(b.Partition) })
	return nil
}
