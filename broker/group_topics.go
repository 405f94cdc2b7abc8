package broker

import (
	"iter"

	"moldau/broker/coordinator/group"
	"moldau/broker/metadata"
)

// groupTopics is an image as the group coordinator sees it.
type groupTopics struct{ img *metadata.Image }

var _ group.Topics = groupTopics{}

// Rev implements group.Topics.
func (t groupTopics) Rev() int64 { return int64(t.img.Rev()) }

// ByName implements group.Topics.
func (t groupTopics) ByName(name string) (group.Topic, bool) {
	topic, ok := t.img.Topic(name)
	if !ok {
		return group.Topic{}, false
	}
	return groupTopic(topic), true
}

// ByID implements group.Topics.
func (t groupTopics) ByID(id group.TopicID) (group.Topic, bool) {
	topic, ok := t.img.TopicByID(id)
	if !ok {
		return group.Topic{}, false
	}
	return groupTopic(topic), true
}

// All implements group.Topics.
func (t groupTopics) All() iter.Seq[group.Topic] {
	return func(yield func(group.Topic) bool) {
		for topic := range t.img.Topics() {
			if !yield(groupTopic(topic)) {
				return
			}
		}
	}
}

func groupTopic(t *metadata.Topic) group.Topic {
	return group.Topic{ID: t.ID, Name: t.Name, Partitions: int32(len(t.Partitions))}
}
