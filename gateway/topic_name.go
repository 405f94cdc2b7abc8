package gateway

import "github.com/twmb/franz-go/pkg/kerr"

// maxTopicName is the length of a topic's name that still makes a file name of its partitions, as in Kafka.
const maxTopicName = 249

// checkTopic refuses what can't be the name of a topic, before anything is asked of the broker.
func checkTopic(name string) error {
	ok := name != "" && name != "." && name != ".." && len(name) <= maxTopicName
	for i := 0; ok && i < len(name); i++ {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			ok = false
		}
	}
	if ok {
		return nil
	}
	return &InvalidError{
		Field: "topic", Record: -1, Reason: kerr.InvalidTopicException.Message,
		Message: "a topic's name has 1 to 249 of the characters a-z, A-Z, 0-9, '.', '_' and '-'",
	}
}
