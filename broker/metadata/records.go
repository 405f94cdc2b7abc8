package metadata

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// recordVersion is the version of every value. A value may gain fields without a new version as long as a reader that
// ignores them does no harm; a reader refuses a higher version.
const recordVersion = 1

// TopicState says whether a topic is there. A topic of many partitions takes several transactions to create or delete;
// it is shown only while its state is TopicLive.
type TopicState string

// The states of a topic.
const (
	TopicLive     TopicState = ""
	TopicCreating TopicState = "creating"
	TopicDeleting TopicState = "deleting"
)

// ClusterRecord is the value of ClusterKey.
type ClusterRecord struct {
	Version int       `json:"v"`
	ID      ClusterID `json:"id"`
}

// TopicNameRecord is the value of a TopicNameKey.
type TopicNameRecord struct {
	Version int     `json:"v"`
	ID      TopicID `json:"id"`
}

// TopicRecord is the value of a TopicKey.
type TopicRecord struct {
	Version    int               `json:"v"`
	Name       string            `json:"name"`
	Partitions int32             `json:"partitions"` // how many of the partition records count
	State      TopicState        `json:"state,omitempty"`
	Internal   bool              `json:"internal,omitempty"`
	Config     map[string]string `json:"config,omitempty"` // overrides
}

// PartitionRecord is the value of a PartitionKey.
type PartitionRecord struct {
	Version      int     `json:"v"`
	Replicas     []int32 `json:"replicas"`
	ISR          []int32 `json:"isr"`
	Adding       []int32 `json:"adding,omitempty"`
	Removing     []int32 `json:"removing,omitempty"`
	ELR          []int32 `json:"elr,omitempty"`
	LastKnownELR []int32 `json:"lastKnownElr,omitempty"`
	Leader       int32   `json:"leader"`
	LeaderEpoch  int32   `json:"leaderEpoch"`
}

// BrokerRecord is the value of a BrokerKey.
type BrokerRecord struct {
	Version     int        `json:"v"`
	Rack        string     `json:"rack,omitempty"`
	Endpoints   []Endpoint `json:"endpoints"`
	Incarnation string     `json:"incarnation,omitempty"` // differs every time the process starts
}

// BrokerStatus is what the controller lets a broker do.
type BrokerStatus string

// The statuses of a broker.
const (
	BrokerFenced   BrokerStatus = "fenced"   // registered, must not lead or join an ISR
	BrokerActive   BrokerStatus = "active"   // full member
	BrokerDraining BrokerStatus = "draining" // about to stop: still serving, gets no new leadership
)

// BrokerStateRecord is the value of a BrokerStateKey. It counts only while Epoch is that of the broker's registration.
type BrokerStateRecord struct {
	Version int          `json:"v"`
	Epoch   int64        `json:"epoch"`
	Status  BrokerStatus `json:"status"`
}

// ConfigRecord is the value of a ConfigKey.
type ConfigRecord struct {
	Version int               `json:"v"`
	Config  map[string]string `json:"config"`
}

// EpochFloorRecord is the value of an EpochFloorKey and of EpochFloorAllKey: a topic of that name begins at LeaderEpoch
// or above.
type EpochFloorRecord struct {
	Version     int   `json:"v"`
	LeaderEpoch int32 `json:"leaderEpoch"`
}

// ProducerIDsRecord is the value of ProducerIDsKey.
type ProducerIDsRecord struct {
	Version int   `json:"v"`
	Next    int64 `json:"next"`
}

// Record is any value that this package can encode and decode.
type Record interface {
	version() *int
}

func (r *ClusterRecord) version() *int     { return &r.Version }
func (r *TopicNameRecord) version() *int   { return &r.Version }
func (r *TopicRecord) version() *int       { return &r.Version }
func (r *PartitionRecord) version() *int   { return &r.Version }
func (r *BrokerRecord) version() *int      { return &r.Version }
func (r *BrokerStateRecord) version() *int { return &r.Version }
func (r *ConfigRecord) version() *int      { return &r.Version }
func (r *EpochFloorRecord) version() *int  { return &r.Version }
func (r *ProducerIDsRecord) version() *int { return &r.Version }

// Encode returns the stored form of a record and sets its version.
func Encode(r Record) []byte {
	*r.version() = recordVersion
	if p, ok := r.(*PartitionRecord); ok {
		return p.append(make([]byte, 0, 96))
	}
	b, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("metadata: encoding %T: %v", r, err)) // records are structs of plain fields: this cannot happen
	}
	return b
}

// Decode reads the stored form of a record. The errors are ErrCorrupt and ErrNewerFormat.
func Decode(b []byte, r Record) error {
	if err := json.Unmarshal(b, r); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	switch v := *r.version(); {
	case v > recordVersion:
		return fmt.Errorf("%w: value of version %d, known up to %d", ErrNewerFormat, v, recordVersion)
	case v < 1:
		return fmt.Errorf("%w: value without a version", ErrCorrupt)
	}
	return nil
}

// append writes what json.Marshal would, five times faster: a topic has up to thousands of these.
func (r *PartitionRecord) append(b []byte) []byte {
	b = append(b, `{"v":`...)
	b = strconv.AppendInt(b, int64(r.Version), 10)
	b = appendIDs(b, `,"replicas":`, r.Replicas, true)
	b = appendIDs(b, `,"isr":`, r.ISR, true)
	b = appendIDs(b, `,"adding":`, r.Adding, false)
	b = appendIDs(b, `,"removing":`, r.Removing, false)
	b = appendIDs(b, `,"elr":`, r.ELR, false)
	b = appendIDs(b, `,"lastKnownElr":`, r.LastKnownELR, false)
	b = append(b, `,"leader":`...)
	b = strconv.AppendInt(b, int64(r.Leader), 10)
	b = append(b, `,"leaderEpoch":`...)
	b = strconv.AppendInt(b, int64(r.LeaderEpoch), 10)
	return append(b, '}')
}

func appendIDs(b []byte, name string, ids []int32, always bool) []byte {
	if len(ids) == 0 && !always {
		return b
	}
	b = append(b, name...)
	b = append(b, '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return append(b, ']')
}
