package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The configs of a topic that holds all that was ever said about a key's last state.
const (
	policyConfig = "cleanup.policy"
	compact      = "compact"
	sizeConfig   = "max.message.bytes"
)

// errUnused says that a topic is not fit, but that nothing was ever written to it: what is wrong can be put right. A client that
// asked the cluster for a topic which was not there yet may have had it made.
var errUnused = errors.New("unfit topic that was never written to")

// absent tells whether an error means that there is no topic, or one that is as good as none.
func absent(err error) bool {
	return errors.Is(err, kerr.UnknownTopicOrPartition) || errors.Is(err, errUnused)
}

// fit refuses a topic that can't hold a catalog. One that was never written to is refused with errUnused if prepare can make it
// fit; all other errors that are about the topic wrap ErrTopic and say how to mend it.
func (a *admin) fit(ctx context.Context, topic string, at place) error {
	if at.partitions != 1 {
		return fmt.Errorf("%w: %s has %d partitions, it must have 1: make it again with 1, compacted, "+
			"or have the registry make it by deleting it while nothing is in it", ErrTopic, topic, at.partitions)
	}
	configs, err := a.configs(ctx, topic, policyConfig)
	if err != nil {
		if ended(err) {
			return err
		}
		return nil // a cluster that does not tell is trusted
	}
	policy, ok := configs[policyConfig]
	if !ok || policy == compact {
		return nil
	}
	end, err := a.offset(ctx, topic, at, latest, false)
	if err != nil {
		return err
	}
	if end == 0 {
		return fmt.Errorf("%w: %s has %s=%s", errUnused, topic, policyConfig, policy)
	}
	return fmt.Errorf("%w: %s has %s=%s, by which the cluster deletes what is old, schemas too; it must be compacted: "+
		"set %s=%s for it, and all that is still there is read", ErrTopic, topic, policyConfig, policy, policyConfig, compact)
}

// prepare makes a topic fit to be written to: it makes it unless there is one, and sets the configs of one that was made by chance
// and never written to.
func (a *admin) prepare(ctx context.Context, topic string, replicas int) error {
	at, err := a.find(ctx, topic)
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		return a.make(ctx, topic, replicas)
	}
	if err != nil {
		return err
	}
	if err := a.fit(ctx, topic, at); !errors.Is(err, errUnused) {
		return nil // the tail says what is wrong with it
	}
	return a.adopt(ctx, topic)
}

// topicConfigs are those of the topics that are made here.
func topicConfigs() map[string]string {
	return map[string]string{policyConfig: compact, sizeConfig: strconv.Itoa(maxRecord)}
}

// adopt sets the configs of a topic.
func (a *admin) adopt(ctx context.Context, topic string) error {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	res := kmsg.NewIncrementalAlterConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	for k, v := range topicConfigs() {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Op, c.Value = k, kmsg.IncrementalAlterConfigOpSet, kmsg.StringPtr(v)
		res.Configs = append(res.Configs, c)
	}
	req.Resources = append(req.Resources, res)
	resp, err := req.RequestWith(ctx, a.client)
	if err != nil {
		return fmt.Errorf("make topic %s compacted: %w", topic, err)
	}
	for i := range resp.Resources {
		if err := kerr.ErrorForCode(resp.Resources[i].ErrorCode); err != nil {
			return fmt.Errorf("make topic %s compacted: %w", topic, withText(err, resp.Resources[i].ErrorMessage))
		}
	}
	return nil
}
