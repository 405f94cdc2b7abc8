package producer

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// defaultMaxMessageBytes is Kafka's default of max.message.bytes.
	defaultMaxMessageBytes = 1048588
	// maxBatchBytes bounds the batches that records are gathered in, whatever a topic permits, minBatchBytes whatever it forbids.
	maxBatchBytes = 16 << 20
	minBatchBytes = 512
)

// Topic is what is known of a topic. It is not changed once made.
type Topic struct {
	Name string
	// ID is zero where the cluster has no topic ids.
	ID [16]byte
	// Leaders holds the id of the broker that leads each partition, -1 where there is none.
	Leaders []int32
	// Fetched is when it was asked for.
	Fetched time.Time
	// MaxBatchBytes is how large a batch may be, as far as the principal may know.
	MaxBatchBytes int
	// LogAppendTime tells that the broker replaces the timestamps of records.
	LogAppendTime bool
}

// creationWaits are the pauses between the questions whether a topic is there that the broker was asked to create.
// Brokers create it before they answer or shortly after.
var creationWaits = []time.Duration{0, 20 * time.Millisecond, 80 * time.Millisecond, 200 * time.Millisecond}

// FindTopic asks the broker for a topic and its leaders; with create, the broker may create it. Limits asks for the rest.
func FindTopic(ctx context.Context, cl *kgo.Client, name string, create bool) (*Topic, error) {
	waits := creationWaits
	if !create {
		waits = waits[:1]
	}
	var err error
	for _, wait := range waits {
		if wait > 0 {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		var t *Topic
		if t, err = findOnce(ctx, cl, name, create); err == nil {
			return t, nil
		}
		if k, ok := asKafka(err); !ok || k != kerr.UnknownTopicOrPartition && k != kerr.LeaderNotAvailable {
			return nil, err
		}
	}
	return nil, err
}

func findOnce(ctx context.Context, cl *kgo.Client, name string, create bool) (*Topic, error) {
	req := kmsg.NewPtrMetadataRequest()
	rt := kmsg.NewMetadataRequestTopic()
	rt.Topic = kmsg.StringPtr(name)
	req.Topics = append(req.Topics, rt)
	req.AllowAutoTopicCreation = create
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, err
	}
	if len(resp.Topics) != 1 {
		return nil, fmt.Errorf("asked for one topic, got %d", len(resp.Topics))
	}
	mt := &resp.Topics[0]
	if err := TopicError(name, mt.ErrorCode); err != nil {
		return nil, err
	}
	t := &Topic{Name: name, ID: mt.TopicID, Fetched: time.Now(), Leaders: make([]int32, len(mt.Partitions)), MaxBatchBytes: defaultMaxMessageBytes}
	for i := range t.Leaders {
		t.Leaders[i] = -1
	}
	for _, p := range mt.Partitions {
		if p.Partition < 0 || int(p.Partition) >= len(t.Leaders) {
			return nil, fmt.Errorf("topic %s of %d partitions has a partition %d", name, len(t.Leaders), p.Partition)
		}
		t.Leaders[p.Partition] = p.Leader
	}
	if len(t.Leaders) == 0 {
		return nil, kerr.LeaderNotAvailable
	}
	return t, nil
}

// TopicError turns an error code that metadata gives for a topic into an error with the topic's name.
func TopicError(name string, code int16) error {
	err := kerr.ErrorForCode(code)
	k, ok := asKafka(err)
	switch {
	case !ok:
		return err
	case k == kerr.UnknownTopicOrPartition:
		return &BrokerError{Kafka: k, Text: "there is no topic " + name}
	}
	return fmt.Errorf("look up topic %s: %w", name, err)
}

// Limits fills in the configs of a topic that was just found. A principal that may write but not read configs gets Kafka's defaults.
func (t *Topic) Limits(ctx context.Context, cl *kgo.Client) error {
	req := kmsg.NewPtrDescribeConfigsRequest()
	res := kmsg.NewDescribeConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeTopic, t.Name
	res.ConfigNames = []string{"max.message.bytes", "message.timestamp.type"}
	req.Resources = append(req.Resources, res)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return fmt.Errorf("look up the configs of topic %s: %w", t.Name, err)
	}
	for _, r := range resp.Resources {
		for _, cfg := range r.Configs {
			if cfg.Value == nil {
				continue
			}
			switch cfg.Name {
			case "max.message.bytes":
				if n, err := strconv.ParseInt(*cfg.Value, 10, 32); err == nil {
					t.MaxBatchBytes = int(min(max(n, minBatchBytes), maxBatchBytes))
				}
			case "message.timestamp.type":
				t.LogAppendTime = *cfg.Value == "LogAppendTime"
			}
		}
	}
	return nil
}
