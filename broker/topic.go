package broker

import (
	"context"

	"moldau/broker/configdef"
	"moldau/broker/controller"
	"moldau/broker/metadata"
)

// NewTopic says what topic to make.
type NewTopic struct {
	Name string
	// NumPartitions and ReplicationFactor are -1 for the broker's defaults; with Assignments both must be -1.
	NumPartitions     int32
	ReplicationFactor int16
	// Assignments choose the replicas of every partition; empty leaves it to the broker.
	Assignments []Assignment
	// Configs are the overrides. Of two with the same name the last counts; a nil value is refused.
	Configs []configdef.Change
}

// Assignment is the replicas of one partition, the preferred leader first.
type Assignment struct {
	Partition int32
	Replicas  []int32
}

// CreatedTopic answers one NewTopic.
type CreatedTopic struct {
	Name string
	Err  error
	// ID is the topic's id; with validateOnly one that it would have.
	ID metadata.TopicID
	// NumPartitions and ReplicationFactor are what the topic got, -1 with an error.
	NumPartitions     int32
	ReplicationFactor int16
	// Configs are all configs of the topic, by name. ConfigsErr says why they are left out.
	Configs    []configdef.Entry
	ConfigsErr error
}

// CreateTopics makes topics, or with validateOnly only says whether it would. Every name is answered once, in the order of
// the request; names that occur twice are refused. Topics that were made serve when it returns. When ctx ends, the rest
// is answered with ErrTimedOut.
func (n *Node) CreateTopics(ctx context.Context, _ *Caller, topics []NewTopic, validateOnly bool) []CreatedTopic {
	img := n.Image()
	times := make(map[string]int, len(topics))
	for i := range topics {
		times[topics[i].Name]++
	}
	answers := make([]CreatedTopic, 0, len(topics))
	specs := make([]controller.TopicSpec, 0, len(topics))
	of := make([]int, 0, len(topics)) // the answer that a spec is for
	for i := range topics {
		t := &topics[i]
		a := CreatedTopic{Name: t.Name, NumPartitions: -1, ReplicationFactor: -1}
		var spec controller.TopicSpec
		switch {
		case times[t.Name] == 0:
			continue // refused before
		case times[t.Name] > 1:
			times[t.Name] = 0
			a.Err = refuse(ErrInvalidRequest, "Duplicate topic name.")
		default:
			spec, a.Err = n.topicSpec(img, t)
		}
		if a.Err == nil {
			specs, of = append(specs, spec), append(of, len(answers))
		}
		answers = append(answers, a)
	}
	described := 0
	for i, made := range n.createTopics(ctx, specs, validateOnly) {
		a := &answers[of[i]]
		n.settleCreated(img, a, made, described <= maxDescribedConfigs)
		described += len(a.Configs)
	}
	return answers
}

// createTopics makes the topics that passed, or says whether it would.
func (n *Node) createTopics(ctx context.Context, specs []controller.TopicSpec, validateOnly bool) []controller.TopicOutcome {
	switch {
	case len(specs) == 0:
		return nil
	case validateOnly:
		return n.controller.CheckTopics(specs)
	default:
		return n.controller.CreateTopics(ctx, specs)
	}
}

// settleCreated fills an answer with what became of the topic.
func (n *Node) settleCreated(img *metadata.Image, a *CreatedTopic, made controller.TopicOutcome, withConfigs bool) {
	if made.Err != nil {
		a.Err = controllerError(made.Err)
		return
	}
	r := &made.Result
	a.ID, a.NumPartitions, a.ReplicationFactor = r.ID, r.Partitions, r.ReplicationFactor
	if withConfigs {
		a.Configs = configdef.DescribeTopic(r.Config, n.configLayers(img))
	} else {
		a.ConfigsErr = answerTooLarge()
	}
}

// topicSpec checks a topic's name, then that it isn't there, then its configs, as Kafka does; the controller checks the
// rest.
func (n *Node) topicSpec(img *metadata.Image, t *NewTopic) (controller.TopicSpec, error) {
	spec := controller.TopicSpec{
		Name: t.Name, Partitions: t.NumPartitions, ReplicationFactor: t.ReplicationFactor, Internal: isInternalTopic(t.Name),
		ID: metadata.NewTopicID(),
	}
	if err := controller.ValidateTopicName(t.Name); err != nil {
		return spec, controllerError(err)
	}
	if _, ok := img.Topic(t.Name); ok {
		return spec, refuse(ErrTopicExists, "Topic '%s' already exists.", t.Name)
	}
	if len(t.Assignments) > 0 {
		spec.Assignments = make(map[int32][]int32, len(t.Assignments))
	}
	for _, a := range t.Assignments {
		if _, twice := spec.Assignments[a.Partition]; twice {
			return spec, refuse(ErrInvalidReplicaAssignment, "Found multiple manual partition assignments for partition %d", a.Partition)
		}
		spec.Assignments[a.Partition] = a.Replicas
	}
	var err error
	spec.Config, err = n.newOverrides(img, t.Configs)
	return spec, err
}

// newOverrides checks the configs of a new topic.
func (n *Node) newOverrides(img *metadata.Image, configs []configdef.Change) (map[string]string, error) {
	if len(configs) == 0 {
		return nil, nil
	}
	overrides := make(map[string]string, len(configs))
	for _, c := range configs {
		if c.Value == nil {
			return nil, refuse(ErrInvalidConfig, "Null value not supported for topic configs: %s", c.Name)
		}
		overrides[c.Name] = *c.Value
	}
	if err := configdef.ValidateTopic(overrides, n.configLayers(img).InForce()); err != nil {
		return nil, configError(err)
	}
	return overrides, nil
}
