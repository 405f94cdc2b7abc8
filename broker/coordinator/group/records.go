package group

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The versions of keys and values that we write; all that came before are read. The version of a key is its kind.
const (
	offsetKeyVersion   = 1 // 0 has the same form
	groupKeyVersion    = 2
	offsetValueVersion = 4 // Kafka 4.4 writes the topic's id into its tagged fields
	groupValueVersion  = 3
)

var errUnknownKey = errors.New("the key has an unknown version")

// keyVersion returns the kind of a record.
func keyVersion(key []byte) (int16, error) {
	if len(key) < 2 {
		return 0, errUnknownKey
	}
	return int16(binary.BigEndian.Uint16(key)), nil
}

func (g *group) key() []byte {
	k := kmsg.NewGroupMetadataKey()
	k.Version, k.Group = groupKeyVersion, g.id
	return k.AppendTo(nil)
}

// encode returns the value of the group's record: its members with their assignments, as of now.
func (g *group) encode(now time.Time, assignment func(*member) []byte) []byte {
	v := kmsg.NewGroupMetadataValue()
	v.Version, v.ProtocolType, v.Generation, v.CurrentStateTimestamp = groupValueVersion, g.protocolType, g.generation, now.UnixMilli()
	v.Protocol, v.Leader = nullable(g.protocol), nullable(g.leader)
	v.Members = make([]kmsg.GroupMetadataValueMember, len(g.members))
	for i, m := range g.members {
		o := kmsg.NewGroupMetadataValueMember()
		o.MemberID, o.InstanceID, o.ClientID, o.ClientHost = m.id, nullable(m.instanceID), m.clientID, m.clientHost
		o.RebalanceTimeoutMillis = int32(m.rebalanceTimeout.Milliseconds())
		o.SessionTimeoutMillis = int32(m.sessionTimeout.Milliseconds())
		o.Subscription, o.Assignment = present(m.metadata(g.protocol)), present(assignment(m))
		v.Members[i] = o
	}
	return v.AppendTo(nil)
}

// nullable returns null for the empty string.
func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// present returns empty bytes for none: these fields are never null.
func present(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// topicPartition names a partition.
type topicPartition struct {
	topic     string
	partition int32
}

func offsetKey(group string, tp topicPartition) []byte {
	k := kmsg.NewOffsetCommitKey()
	k.Version, k.Group, k.Topic, k.Partition = offsetKeyVersion, group, tp.topic, tp.partition
	return k.AppendTo(nil)
}

// encode returns the value of an offset's record.
func (o *Offset) encode() []byte {
	v := kmsg.NewOffsetCommitValue()
	v.Version, v.Offset, v.LeaderEpoch, v.Metadata = offsetValueVersion, o.Offset, o.LeaderEpoch, o.Metadata
	v.CommitTimestamp, v.TopicID = o.committed.UnixMilli(), o.TopicID
	if !o.expires.IsZero() {
		v.Version, v.ExpireTimestamp = 1, o.expires.UnixMilli()
	}
	return v.AppendTo(nil)
}
