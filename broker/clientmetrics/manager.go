package clientmetrics

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"sync"
	"time"

	"moldau/broker/configdef"
	"moldau/broker/record"
)

const (
	// maxInstances bounds the clients that are remembered. Kafka has the same bound.
	maxInstances = 16384
	// minMemory is how long a silent client is remembered at least; it is three push intervals where that is longer.
	minMemory = time.Minute
	// maxExpanded bounds a payload when it is expanded, in multiples of what may be sent.
	maxExpanded = 16
)

// InstanceID is a client's id for its telemetry, made by the broker or by the client.
type InstanceID [16]byte

// String is the id in Kafka's text form.
func (id InstanceID) String() string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// reserved tells whether no client may have the id: Kafka keeps 0 and 1 for itself.
func (id InstanceID) reserved() bool {
	return id == InstanceID{} || id == InstanceID{15: 1}
}

// Client says who asks.
type Client struct {
	ID                                               InstanceID
	ClientID, SoftwareName, SoftwareVersion, Address string
	Port                                             uint16
}

// attributes are what the match of a subscription sees.
func (c *Client) attributes() map[string]string {
	return map[string]string{
		"client_instance_id": c.ID.String(), "client_id": c.ClientID, "client_software_name": c.SoftwareName,
		"client_software_version": c.SoftwareVersion, "client_source_address": c.Address, "client_source_port": fmt.Sprint(c.Port),
	}
}

// Sink takes what clients push. Accept is called from any goroutine; it doesn't block and keeps nothing of the slice.
type Sink interface {
	Accept(from Client, metrics []Metric, terminating bool)
}

// Options says how to make a Manager.
type Options struct {
	// MaxBytes bounds a payload as sent (telemetry.max.bytes).
	MaxBytes int
	// Sink takes the metrics; nil drops them after they were checked.
	Sink Sink
	// Now is the clock.
	Now func() time.Time
}

// Manager knows the clients.
type Manager struct {
	o     Options
	codec *record.Decompressor

	mu        sync.Mutex
	instances map[InstanceID]*instance
}

// New returns a Manager that knows no client.
func New(o Options) *Manager {
	return &Manager{
		o:         o,
		codec:     record.NewDecompressor(record.Limits{MaxBytes: int64(o.MaxBytes) * maxExpanded}),
		instances: map[InstanceID]*instance{},
	}
}

// MaxBytes bounds a payload as sent.
func (m *Manager) MaxBytes() int { return m.o.MaxBytes }

// AcceptedCodecs are the compression types of payloads, the preferred one first; none is accepted, too.
func AcceptedCodecs() []record.Codec {
	return []record.Codec{record.Zstd, record.LZ4, record.Gzip, record.Snappy}
}

// Get returns what a client is asked for. A client without an id gets one.
func (m *Manager) Get(c Client, subscriptions []configdef.Subscription) (InstanceID, Demand, error) {
	if c.ID == (InstanceID{}) {
		c.ID = newInstanceID()
	}
	if c.ID.reserved() {
		return c.ID, Demand{}, fmt.Errorf("%w: client instance id %v is reserved", ErrInvalidRequest, c.ID)
	}
	now := m.o.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.instance(c, subscriptions, now)
	if err := i.get(now); err != nil {
		return c.ID, Demand{}, err
	}
	return c.ID, i.demand, nil
}

// Push is the content of one push.
type Push struct {
	SubscriptionID int32
	Terminating    bool
	Codec          int8
	// Payload is OTLP MetricsData, compressed with Codec. It is not kept.
	Payload []byte
}

// Push takes a client's metrics.
func (m *Manager) Push(c Client, subscriptions []configdef.Subscription, p Push) error {
	if c.ID.reserved() {
		return fmt.Errorf("%w: client instance id %v is reserved", ErrInvalidRequest, c.ID)
	}
	if err := m.admit(c, subscriptions, p); err != nil {
		return fmt.Errorf("telemetry of client instance %v: %w", c.ID, err)
	}
	if len(p.Payload) == 0 {
		return nil
	}
	expanded, err := m.codec.Decompress(nil, p.Payload, record.Codec(p.Codec))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidPayload, err)
	}
	metrics, err := ParseOTLP(expanded)
	if err != nil {
		return err
	}
	if m.o.Sink != nil {
		m.o.Sink.Accept(c, metrics, p.Terminating)
	}
	return nil
}

// admit decides about a push by everything but its content.
func (m *Manager) admit(c Client, subscriptions []configdef.Subscription, p Push) error {
	now := m.o.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.instance(c, subscriptions, now)
	if err := i.push(now, p.SubscriptionID, p.Terminating); err != nil {
		return err
	}
	switch {
	case !record.Codec(p.Codec).Valid():
		i.lastErr = ErrUnsupportedCompression
		return ErrUnsupportedCompression
	case len(p.Payload) > m.o.MaxBytes:
		return ErrTooLarge
	}
	return nil
}

// Instances is the number of clients remembered.
func (m *Manager) Instances() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.instances)
}

// instance returns a client, made new where it isn't known, with the demand of now. m.mu is held.
func (m *Manager) instance(c Client, subscriptions []configdef.Subscription, now time.Time) *instance {
	demand := demandOf(c.ID, c.attributes(), subscriptions)
	i, ok := m.instances[c.ID]
	if ok && i.forgotten(now) {
		ok = false
	}
	if !ok {
		m.makeRoom(now)
		i = &instance{id: c.ID, demand: demand}
		m.instances[c.ID] = i
	}
	i.update(demand)
	i.lastUsed = now
	return i
}

// forgotten tells whether the client has been silent for so long that nothing is remembered of it.
func (i *instance) forgotten(now time.Time) bool {
	return now.Sub(i.lastUsed) > max(minMemory, 3*i.demand.Interval)
}

// makeRoom drops the clients that were silent for long, and if there are still too many, the one that was silent for
// longest. m.mu is held.
func (m *Manager) makeRoom(now time.Time) {
	if len(m.instances) < maxInstances {
		return
	}
	var oldest *instance
	for id, i := range m.instances {
		switch {
		case i.forgotten(now):
			delete(m.instances, id)
		case oldest == nil || i.lastUsed.Before(oldest.lastUsed):
			oldest = i
		}
	}
	if len(m.instances) >= maxInstances {
		delete(m.instances, oldest.id)
	}
}

func newInstanceID() InstanceID {
	var id InstanceID
	_, _ = rand.Read(id[:]) // never fails, by its contract
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}
