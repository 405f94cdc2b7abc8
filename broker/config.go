package broker

import (
	"fmt"
	"slices"
	"strconv"

	"moldau/broker/configdef"
	"moldau/broker/controller"
	"moldau/broker/metadata"
)

// ResourceType says what a configuration belongs to. The numbers are the protocol's.
type ResourceType int8

// The resource types that have a configuration here.
const (
	TopicResource         ResourceType = 2
	BrokerResource        ResourceType = 4
	BrokerLoggerResource  ResourceType = 8
	ClientMetricsResource ResourceType = 16
	GroupResource         ResourceType = 32
)

// ConfigResource names a configuration. A broker is named by its id; the empty name is the default of all brokers.
type ConfigResource struct {
	Type ResourceType
	Name string
}

// ConfigQuery asks for the configuration of a resource.
type ConfigQuery struct {
	ConfigResource
	// Keys are the names that are asked for; empty asks for all. Names that aren't there are left out of the answer.
	Keys []string
}

// DescribedConfig answers one ConfigQuery.
type DescribedConfig struct {
	ConfigResource
	Err error
	// Entries are sorted by name.
	Entries []configdef.Entry
}

// DescribeConfigs answers every query, in its order.
func (n *Node) DescribeConfigs(_ *Caller, queries []ConfigQuery) []DescribedConfig {
	img := n.Image()
	answers := make([]DescribedConfig, len(queries))
	described := 0
	for i, q := range queries {
		answers[i].ConfigResource = q.ConfigResource
		if described > maxDescribedConfigs {
			answers[i].Err = answerTooLarge()
			continue
		}
		entries, err := n.describeConfig(img, q.ConfigResource)
		answers[i].Entries, answers[i].Err = only(entries, q.Keys), err
		described += len(answers[i].Entries)
	}
	return answers
}

// maxDescribedConfigs bounds the configs of one answer: a small request can ask for a very large one. It is enough for
// all configs of 6,000 topics.
const maxDescribedConfigs = 250_000

func answerTooLarge() error {
	return refuse(ErrPolicyViolation, "The answer would be too large; ask for fewer resources at a time.")
}

// only keeps the entries with one of the names; no names keep all.
func only(entries []configdef.Entry, names []string) []configdef.Entry {
	if len(names) == 0 {
		return entries
	}
	return slices.DeleteFunc(entries, func(e configdef.Entry) bool { return !slices.Contains(names, e.Name) })
}

func (n *Node) describeConfig(img *metadata.Image, r ConfigResource) ([]configdef.Entry, error) {
	switch r.Type {
	case TopicResource:
		if err := controller.ValidateTopicName(r.Name); err != nil {
			return nil, controllerError(err)
		}
		t, ok := img.Topic(r.Name)
		if !ok {
			return nil, unknownTopic()
		}
		return configdef.DescribeTopic(t.Config, n.configLayers(img)), nil
	case BrokerResource:
		if r.Name == "" {
			return configdef.DescribeClusterDefault(img.Config(metadata.BrokerResource, "")), nil
		}
		if err := n.isSelf(r.Name, " or empty string,"); err != nil {
			return nil, err
		}
		return configdef.DescribeBroker(n.configLayers(img)), nil
	case BrokerLoggerResource:
		if r.Name == "" {
			return nil, refuse(ErrInvalidRequest, "Broker id must not be empty")
		}
		if err := n.isSelf(r.Name, ""); err != nil {
			return nil, err
		}
		return n.admin.loggers.describe(), nil
	case ClientMetricsResource:
		if r.Name == "" {
			return nil, refuse(ErrInvalidRequest, "Client metrics subscription name must not be empty")
		}
		return configdef.DescribeClientMetrics(img.Config(metadata.ClientMetricsResource, r.Name)), nil
	case GroupResource:
		if r.Name == "" {
			return nil, refuse(ErrInvalidRequest, "Group name must not be empty")
		}
		limits := n.cfg.Groups.limits()
		return configdef.DescribeGroup(img.Config(metadata.GroupResource, r.Name), &limits), nil
	}
	return nil, unknownResource(r.Type)
}

// isSelf refuses names that aren't this broker's id. Kafka's clients send such requests to the broker that they are about.
func (n *Node) isSelf(name, or string) error {
	id, err := strconv.ParseInt(name, 10, 32)
	if err != nil {
		return refuse(ErrInvalidRequest, "Broker id must be an integer, but it is: %s", name)
	}
	if int32(id) != n.cfg.NodeID {
		return refuse(ErrInvalidRequest, "Unexpected broker id, expected %d%s but received %d", n.cfg.NodeID, or, id)
	}
	return nil
}

// configLayers returns what was set for this broker, as the image knows it.
func (n *Node) configLayers(img *metadata.Image) configdef.Layers {
	return configdef.Layers{
		Broker:  img.Config(metadata.BrokerResource, strconv.Itoa(int(n.cfg.NodeID))),
		Cluster: img.Config(metadata.BrokerResource, ""),
		Static:  n.admin.static,
	}
}

func unknownResource(t ResourceType) error {
	return refuse(ErrInvalidRequest, "Unknown resource type %d", t)
}

func unknownTopic() error {
	return refuse(ErrUnknownTopicOrPartition, "This server does not host this topic-partition.")
}

// listable are the resource types that ListConfigResources knows, in the order of its answer.
var listable = []ResourceType{GroupResource, ClientMetricsResource, BrokerLoggerResource, BrokerResource, TopicResource}

// ListConfigResources returns all resources of these types that have a configuration; no types stand for all.
func (n *Node) ListConfigResources(_ *Caller, types []ResourceType) ([]ConfigResource, error) {
	for _, t := range types {
		if !slices.Contains(listable, t) {
			return nil, fmt.Errorf("%w: resource type %d", ErrUnsupportedVersion, t)
		}
	}
	img := n.Image()
	var found []ConfigResource
	for _, t := range listable {
		if len(types) > 0 && !slices.Contains(types, t) {
			continue
		}
		switch t {
		case TopicResource:
			for topic := range img.Topics() {
				found = append(found, ConfigResource{t, topic.Name})
			}
		case GroupResource:
			for name := range img.Resources(metadata.GroupResource) {
				found = append(found, ConfigResource{t, name})
			}
		case ClientMetricsResource:
			for name := range img.Resources(metadata.ClientMetricsResource) {
				found = append(found, ConfigResource{t, name})
			}
		default:
			for _, b := range img.Brokers() {
				found = append(found, ConfigResource{t, strconv.Itoa(int(b.ID))})
			}
		}
	}
	return found, nil
}
