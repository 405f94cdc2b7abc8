package metadata

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
)

// TopicID identifies a topic for all time: a topic that is deleted and created again has a new one (KIP-516).
type TopicID [16]byte

// NewTopicID returns a random topic id. Like Kafka's, it never begins with a dash, which would look like an option in a
// shell, and is never one of the reserved ids.
func NewTopicID() TopicID {
	for {
		var id TopicID
		rand.Read(id[:]) //nolint:errcheck // documented never to fail
		id[6] = id[6]&0x0f | 0x40
		id[8] = id[8]&0x3f | 0x80
		if id[0]>>2 != 62 { // 62 encodes as '-'
			return id
		}
	}
}

// ParseTopicID reads the form that String writes.
func ParseTopicID(s string) (TopicID, error) {
	var id TopicID
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return TopicID{}, fmt.Errorf("%w: topic id %q", ErrCorrupt, s)
	}
	copy(id[:], b)
	return id, nil
}

// String is Kafka's form of a uuid: 22 characters of URL-safe base64 without padding.
func (id TopicID) String() string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// IsZero reports whether id is the zero id, which stands for no topic.
func (id TopicID) IsZero() bool { return id == TopicID{} }

// Compare orders ids by their bytes.
func (id TopicID) Compare(other TopicID) int { return bytes.Compare(id[:], other[:]) }

// MarshalText implements encoding.TextMarshaler.
func (id TopicID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (id *TopicID) UnmarshalText(text []byte) error {
	parsed, err := ParseTopicID(string(text))
	*id = parsed
	return err
}
