package storage

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// String returns topic-partition, which is also the name of the log's directory.
func (tp TopicPartition) String() string {
	return tp.Topic + "-" + strconv.FormatInt(int64(tp.Partition), 10)
}

// TopicID is a topic's unique id (KIP-516).
type TopicID [16]byte

// String returns the id in Kafka's text form: base64 with the URL alphabet and without padding.
func (id TopicID) String() string {
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// ParseTopicID reads the text form of a topic id.
func ParseTopicID(s string) (TopicID, error) {
	var id TopicID
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("topic id %q is not 16 bytes in base64", s)
	}
	copy(id[:], b)
	return id, nil
}

// deleteSuffix ends the names of directories whose log was deleted and whose files await removal.
const deleteSuffix = "-delete"

// maxDirName is the longest name most file systems allow.
const maxDirName = 255

// parseDirName reads the name of a log's directory. ok is false for any other name, deleted logs included.
func parseDirName(name string) (tp TopicPartition, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 || i == len(name)-1 {
		return tp, false
	}
	digits := name[i+1:]
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != digits {
		return tp, false
	}
	return TopicPartition{Topic: name[:i], Partition: int32(n)}, true
}

// deletedDirName returns a fresh name for the directory of a deleted log: topic-partition.<32 hex digits>-delete, the topic
// shortened where the name would be too long.
func deletedDirName(tp TopicPartition) string {
	var unique [16]byte
	_, _ = rand.Read(unique[:]) // never fails, by its contract
	tail := "-" + strconv.FormatInt(int64(tp.Partition), 10) + "." + hex.EncodeToString(unique[:]) + deleteSuffix
	topic := tp.Topic
	if room := maxDirName - len(tail); len(topic) > room {
		topic = topic[:room]
	}
	return topic + tail
}
