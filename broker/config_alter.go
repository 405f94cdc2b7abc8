package broker

import (
	"context"
	"strconv"

	"moldau/broker/configdef"
	"moldau/broker/controller"
	"moldau/broker/metadata"
)

// ConfigAlteration asks for changes of one configuration.
type ConfigAlteration struct {
	ConfigResource
	Changes []configdef.Change
	// Replace says that Changes are all settings that the resource shall have, the meaning of AlterConfigs.
	Replace bool
}

// AlteredConfig answers one ConfigAlteration.
type AlteredConfig struct {
	ConfigResource
	Err error
}

// AlterConfigs changes configurations, or with validateOnly only says whether it would. Every alteration is answered, in
// the order of the request; resources that occur twice are refused. Changes are in force when it returns. When ctx ends,
// the rest is answered with ErrTimedOut.
func (n *Node) AlterConfigs(ctx context.Context, _ *Caller, alterations []ConfigAlteration, validateOnly bool) []AlteredConfig {
	times := make(map[ConfigResource]int, len(alterations))
	for _, a := range alterations {
		times[a.ConfigResource]++
	}
	answers := make([]AlteredConfig, len(alterations))
	for i, a := range alterations {
		var err error
		switch {
		case times[a.ConfigResource] > 1:
			err = refuse(ErrInvalidRequest, "Each resource must appear at most once.")
		case ctx.Err() != nil:
			err = ErrTimedOut
		default:
			err = n.alterConfig(ctx, a, validateOnly)
		}
		answers[i] = AlteredConfig{ConfigResource: a.ConfigResource, Err: err}
	}
	return answers
}

func (n *Node) alterConfig(ctx context.Context, a ConfigAlteration, validateOnly bool) error {
	if a.Type == BrokerLoggerResource && a.Replace {
		return unknownResource(a.Type) // only IncrementalAlterConfigs knows loggers
	}
	if err := configdef.CheckChanges(a.Changes); err != nil {
		return configError(err)
	}
	switch a.Type {
	case TopicResource:
		return n.alterTopic(ctx, a, validateOnly)
	case BrokerResource:
		return n.alterBroker(ctx, a, validateOnly)
	case BrokerLoggerResource:
		return n.alterLoggers(a, validateOnly)
	case ClientMetricsResource:
		return n.alterClientMetrics(ctx, a, validateOnly)
	case GroupResource:
		return n.alterGroup(ctx, a, validateOnly)
	}
	return unknownResource(a.Type)
}

func (n *Node) alterTopic(ctx context.Context, a ConfigAlteration, validateOnly bool) error {
	if a.Name == "" {
		return refuse(ErrInvalidRequest, "Default topic resources are not allowed.")
	}
	if err := controller.ValidateTopicName(a.Name); err != nil {
		return controllerError(err)
	}
	if _, ok := n.Image().Topic(a.Name); !ok {
		return refuse(ErrUnknownTopicOrPartition, "The topic '%s' does not exist.", a.Name)
	}
	return n.alterStored(ctx, a, validateOnly, func(current map[string]string, changes []configdef.Change) (map[string]string, error) {
		return configdef.AlterTopic(current, changes, n.configLayers(n.Image()).InForce())
	})
}

func (n *Node) alterBroker(ctx context.Context, a ConfigAlteration, validateOnly bool) error {
	if a.Name != "" {
		id, err := nodeID(a.Name)
		if err != nil {
			return err
		}
		if id != n.cfg.NodeID {
			return refuse(ErrInvalidRequest, "Unexpected broker id, expected %d, but received %s", n.cfg.NodeID, a.Name)
		}
		a.Name = strconv.Itoa(int(id)) // one spelling
	}
	return n.alterStored(ctx, a, validateOnly, func(current map[string]string, changes []configdef.Change) (map[string]string, error) {
		next, err := configdef.AlterBroker(current, changes)
		if err != nil {
			return nil, err
		}
		layers := n.configLayers(n.Image())
		if layers.Broker = next; a.Name == "" {
			layers.Broker, layers.Cluster = n.configLayers(n.Image()).Broker, next
		}
		return next, configdef.ValidateTopic(nil, layers.InForce())
	})
}

// maxSubscriptions bounds the client metrics subscriptions: each is tried on every client that asks.
const maxSubscriptions = 1000

func (n *Node) alterClientMetrics(ctx context.Context, a ConfigAlteration, validateOnly bool) error {
	if a.Name == "" {
		return refuse(ErrInvalidRequest, "Subscription name can't be empty")
	}
	img := n.Image()
	if img.Config(metadata.ClientMetricsResource, a.Name) == nil {
		have := 0
		for range img.Resources(metadata.ClientMetricsResource) {
			have++
		}
		if have >= maxSubscriptions {
			return refuse(ErrPolicyViolation, "There are %d client metrics subscriptions, which is the limit.", have)
		}
	}
	return n.alterStored(ctx, a, validateOnly, configdef.AlterClientMetrics)
}

func (n *Node) alterGroup(ctx context.Context, a ConfigAlteration, validateOnly bool) error {
	if a.Name == "" {
		return refuse(ErrInvalidRequest, "Default group resources are not allowed.")
	}
	limits := n.cfg.Groups.limits()
	return n.alterStored(ctx, a, validateOnly, func(current map[string]string, changes []configdef.Change) (map[string]string, error) {
		return configdef.AlterGroup(current, changes, &limits)
	})
}

func (n *Node) alterLoggers(a ConfigAlteration, validateOnly bool) error {
	id, err := nodeID(a.Name)
	if err != nil {
		return err
	}
	if id != n.cfg.NodeID {
		return refuse(ErrInvalidRequest, "Unexpected node id. Expected %d, but received %d", n.cfg.NodeID, id)
	}
	return n.admin.loggers.alter(a.Changes, validateOnly)
}

func nodeID(name string) (int32, error) {
	id, err := strconv.ParseInt(name, 10, 32)
	if err != nil {
		return 0, refuse(ErrInvalidRequest, "Node id must be an integer, but it is: %s", name)
	}
	return int32(id), nil
}

// alterStored changes a configuration that the metadata holds. alter returns the settings after changes.
func (n *Node) alterStored(ctx context.Context, a ConfigAlteration, validateOnly bool,
	alter func(current map[string]string, changes []configdef.Change) (map[string]string, error),
) error {
	edit := func(current map[string]string) (map[string]string, error) {
		changes := a.Changes
		if a.Replace {
			changes = configdef.Replace(current, changes)
		}
		next, err := alter(current, changes)
		return next, configError(err)
	}
	resource := metadata.Resource{Type: metadata.ResourceType(a.Type), Name: a.Name}
	if validateOnly {
		_, err := edit(n.Image().Config(resource.Type, resource.Name))
		return err
	}
	return controllerError(n.controller.AlterConfig(ctx, controller.ConfigSpec{Resource: resource, Edit: edit}))
}
