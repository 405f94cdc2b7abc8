package serde

import "fmt"

// Strategy says under which subject a schema is kept.
type Strategy string

// The strategies, by the names that the clients of other registries have for them.
const (
	// Topic is the topic's name with -key or -value behind it. It is the default.
	Topic Strategy = "topic"
	// Record is the full name of what the schema describes.
	Record Strategy = "record"
	// TopicRecord is the topic's name, a hyphen, and the full name.
	TopicRecord Strategy = "topic-record"
)

// Strategies are the names of all strategies.
var Strategies = []string{string(Topic), string(Record), string(TopicRecord)}

// ParseStrategy reads a name of a strategy; an empty one is Topic.
func ParseStrategy(name string) (Strategy, error) {
	switch s := Strategy(name); s {
	case "":
		return Topic, nil
	case Topic, Record, TopicRecord:
		return s, nil
	}
	return "", fmt.Errorf("%w: the strategy %q is none of topic, record and topic-record", ErrReference, name)
}

// Subject is the subject for the keys or the values of a topic. record is the full name of what the schema describes.
func (s Strategy) Subject(topic string, isKey bool, record string) (string, error) {
	switch {
	case s == "" || s == Topic:
		if topic == "" {
			return "", invalid("neither a subject nor a topic is given")
		}
		if isKey {
			return topic + "-key", nil
		}
		return topic + "-value", nil
	case record == "":
		return "", invalid("the strategy %s needs a schema with a name", s)
	case s == Record:
		return record, nil
	case topic == "":
		return "", invalid("the strategy %s needs a topic", s)
	}
	return topic + "-" + record, nil
}
