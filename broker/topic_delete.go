package broker

import (
	"context"

	"moldau/broker/controller"
	"moldau/broker/metadata"
)

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
