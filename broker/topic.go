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
	// Configs are all configs of the topic, by name.
	Configs []configdef.Entry
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
	for i, made := range n.createTopics(ctx, specs, validateOnly) {
		n.settleCreated(img, &answers[of[i]], made)
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
func (n *Node) settleCreated(img *metadata.Image, a *CreatedTopic, made controller.TopicOutcome) {
	if made.Err != nil {
		a.Err = controllerError(made.Err)
		return
	}
	r := &made.Result
	a.ID, a.NumPartitions, a.ReplicationFactor = r.ID, r.Partitions, r.ReplicationFactor
	a.Configs = configdef.DescribeTopic(r.Config, n.configLayers(img))
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

// DeletedTopic answers one TopicRef of DeleteTopics.
type DeletedTopic struct {
	// Name is empty for an id that no topic has.
	Name string
	// ID is zero for a name that no topic has.
	ID  metadata.TopicID
	Err error
}

// DeleteTopics deletes topics by name or id. Every topic is answered once, in the order of the request. When ctx ends, the
// rest is answered with ErrTimedOut.
func (n *Node) DeleteTopics(ctx context.Context, _ *Caller, refs []TopicRef) []DeletedTopic {
	img := n.Image()
	times := make(map[TopicRef]int, len(refs))
	for _, ref := range refs {
		times[ref]++
	}
	answers := make([]DeletedTopic, 0, len(refs))
	done := make(map[metadata.TopicID]bool, len(refs))
	for _, ref := range refs {
		a := DeletedTopic{Name: ref.Name, ID: ref.ID}
		switch {
		case times[ref] == 0:
			continue // refused before
		case times[ref] > 1:
			times[ref] = 0
			a.Err = duplicateTopic(ref)
		default:
			if a.Name, a.ID, a.Err = nameAndID(img, ref, times); done[a.ID] && !a.ID.IsZero() {
				continue // its name and its id were both given; refused before
			}
			done[a.ID] = true
			if a.Err == nil {
				a.Err = n.deleteTopic(ctx, ref)
			}
		}
		answers = append(answers, a)
	}
	return answers
}

func duplicateTopic(ref TopicRef) error {
	switch {
	case ref.Name != "":
		return refuse(ErrInvalidRequest, "Duplicate topic name.")
	case ref.ID.IsZero():
		return refuse(ErrInvalidRequest, "Neither topic name nor id were specified.")
	}
	return refuse(ErrInvalidRequest, "Duplicate topic id.")
}

// nameAndID finds out what a topic to be deleted is called. asked are all topics of the request.
func nameAndID(img *metadata.Image, ref TopicRef, asked map[TopicRef]int) (string, metadata.TopicID, error) {
	if ref.Name != "" && !ref.ID.IsZero() {
		return ref.Name, ref.ID, refuse(ErrInvalidRequest, "You may not specify both topic name and topic id.")
	}
	if ref.Name == "" && ref.ID.IsZero() {
		return "", ref.ID, refuse(ErrInvalidRequest, "Neither topic name nor id were specified.")
	}
	t, ok := img.Topic(ref.Name)
	if ref.Name == "" {
		t, ok = img.TopicByID(ref.ID)
	}
	switch {
	case !ok && ref.Name == "":
		return "", ref.ID, refuse(ErrUnknownTopicID, "This server does not host this topic ID.")
	case !ok:
		return ref.Name, ref.ID, unknownTopic()
	}
	_, byName := asked[TopicRef{Name: t.Name}]
	_, byID := asked[TopicRef{ID: t.ID}]
	if byName && byID {
		return t.Name, t.ID, refuse(ErrInvalidRequest, "The provided topic name maps to an ID that was already supplied.")
	}
	return t.Name, t.ID, nil
}

func (n *Node) deleteTopic(ctx context.Context, ref TopicRef) error {
	switch {
	case !n.cfg.DeleteTopics:
		return refuse(ErrTopicDeletionDisabled, "Topic deletion is disabled.")
	case ctx.Err() != nil:
		return ErrTimedOut
	}
	_, err := n.controller.DeleteTopic(ctx, controller.TopicRef{Name: ref.Name, ID: ref.ID})
	return controllerError(err)
}

// NewPartitions says how many partitions a topic shall have.
type NewPartitions struct {
	Topic string
	// Count is the number of partitions afterwards.
	Count int32
	// Assignments choose the replicas of the new partitions, in their order; nil leaves it to the broker.
	Assignments [][]int32
}

// TopicOutcome says how a change of a topic went.
type TopicOutcome struct {
	Topic string
	Err   error
}

// CreatePartitions adds partitions to topics, or with validateOnly only says whether it would. Every topic is answered
// once, in the order of the request. New partitions serve when it returns. When ctx ends, the rest is answered with
// ErrTimedOut.
func (n *Node) CreatePartitions(ctx context.Context, _ *Caller, topics []NewPartitions, validateOnly bool) []TopicOutcome {
	times := make(map[string]int, len(topics))
	for _, t := range topics {
		times[t.Topic]++
	}
	answers := make([]TopicOutcome, 0, len(topics))
	for _, t := range topics {
		a := TopicOutcome{Topic: t.Topic}
		switch {
		case times[t.Topic] == 0:
			continue // refused before
		case times[t.Topic] > 1:
			times[t.Topic] = 0
			a.Err = refuse(ErrInvalidRequest, "Duplicate topic name.")
		case ctx.Err() != nil:
			a.Err = ErrTimedOut
		default:
			a.Err = n.createPartitions(ctx, t, validateOnly)
		}
		answers = append(answers, a)
	}
	return answers
}

func (n *Node) createPartitions(ctx context.Context, t NewPartitions, validateOnly bool) error {
	spec := controller.PartitionsSpec{Topic: t.Topic, Count: t.Count, Assignments: t.Assignments}
	if validateOnly {
		return controllerError(n.controller.CheckPartitions(spec))
	}
	return controllerError(n.controller.CreatePartitions(ctx, spec))
}
