package node

import (
	"path/filepath"
	"testing"

	"moldau/test/callers"
)

// A record that the broker refuses fails alone, and its caller is told why. The gateway's callers share batches, and until the gateway had a
// producer of its own all records of such a batch failed, and those that waited behind it, with the name of the error only.
func TestRefusedRecordsFailAlone(t *testing.T) {
	o, out := options(filepath.Join(t.TempDir(), "data"), "durability=relaxed")
	s := start(t, o, out)
	id := s.register("validated-value", "PROTOBUF", `syntax = "proto3"; message P { string s = 1; }`)
	validated := callers.Topic{
		Name: "validated", Partitions: 2, Reason: "INVALID_RECORD", Says: "The value does not begin with a schema id",
		Text: func(value []byte) string { return string(value[8:]) },
		Record: func(text string, good bool) callers.Record {
			if !good {
				return callers.Record{Value: []byte(text)}
			}
			return callers.Record{Value: named(id, append([]byte{0, 10, byte(len(text))}, text...)...)}
		},
	}
	for _, c := range []struct {
		topic  callers.Topic
		config map[string]string
	}{
		{validated, map[string]string{"schema.validation.value": "structure"}},
		{callers.Compacted("compacted"), map[string]string{"cleanup.policy": "compact"}},
		{callers.Bounded("bounded"), map[string]string{"message.timestamp.before.max.ms": "3600000"}},
	} {
		t.Run(c.topic.Name, func(t *testing.T) {
			c.topic.Create(t, s.addresses["kafka"], c.config)
			callers.Load{Addresses: s.addresses, Kafka: s.addresses["kafka"], Calls: 30}.Run(t, c.topic)
		})
	}
}
