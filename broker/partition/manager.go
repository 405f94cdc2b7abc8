package partition

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"moldau/broker/configdef"
	"moldau/broker/metadata"
	"moldau/broker/storage"
)

// Options says how to make a Manager.
type Options struct {
	// Self is this node's broker id.
	Self int32
	// Engine holds the logs. The caller closes it after the Manager.
	Engine *storage.Engine
	// Strict makes flushed ends count instead of log ends.
	Strict bool
	// Static holds the broker configs that the node was started with, for topic configs that fall back to them.
	Static map[string]string
	// RetentionInterval is the time between two searches for segments that may go.
	RetentionInterval time.Duration
	// ProducerExpiration is how long an idle producer is remembered, ProducerCheckInterval how often that is checked.
	ProducerExpiration, ProducerCheckInterval time.Duration
	Logger                                    *slog.Logger
	Now                                       func() time.Time
}

// Manager holds the partitions of this node and makes them follow the metadata. Lookups may come from any goroutine;
// Apply is called by one goroutine, in the order of revisions.
type Manager struct {
	o Options

	mu     sync.RWMutex // around the maps only
	byName map[string]*Topic
	byID   map[metadata.TopicID]*Topic

	// turn is held by whoever opens or closes logs: Apply, or the loop that tries again what failed.
	turn     chan struct{}
	inForce  map[string]string      // broker configs; under turn
	defaults *configdef.Topic       // of topics without overrides; under turn
	cleaner  *storage.CleanerConfig // what the engine was told last; under turn
	image    *metadata.Image        // the last one applied; under turn
	failed   int                    // replicas whose log could not be opened; under turn

	stop func()
	done sync.WaitGroup
}

// NewManager returns a Manager without partitions, and starts its loops. Close ends them.
func NewManager(o Options) (*Manager, error) {
	ctx, stop := context.WithCancel(context.Background())
	m := &Manager{
		o: o, byName: map[string]*Topic{}, byID: map[metadata.TopicID]*Topic{},
		turn: make(chan struct{}, 1), image: metadata.NewImage(), stop: stop,
	}
	if err := m.setBrokerConfig(m.image); err != nil {
		stop()
		return nil, err
	}
	m.done.Go(func() { m.every(ctx, o.RetentionInterval, m.retain) })
	m.done.Go(func() { m.every(ctx, o.ProducerCheckInterval, m.expireProducers) })
	m.done.Go(func() { m.every(ctx, retryInterval, m.retryFailed) })
	return m, nil
}

// Close ends the loops and all waits, and refuses everything from now on. It returns after the last append has ended.
func (m *Manager) Close() {
	m.stop()
	m.done.Wait()
	for t := range m.Topics() {
		for _, p := range t.Partitions() {
			if p != nil {
				p.close(ErrClosed)
			}
		}
	}
}

// Topic returns a topic by name.
func (m *Manager) Topic(name string) (*Topic, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	t, ok := m.byName[name]
	return t, ok
}

// TopicByID returns a topic by id.
func (m *Manager) TopicByID(id metadata.TopicID) (*Topic, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	t, ok := m.byID[id]
	return t, ok
}

// Topics yields all topics in no order.
func (m *Manager) Topics() func(yield func(*Topic) bool) {
	m.mu.RLock()
	topics := slices.Collect(maps.Values(m.byName))
	m.mu.RUnlock()
	return slices.Values(topics)
}

// Apply makes the partitions follow an image. When it returns, all of them serve, except those whose log could not be
// opened: they answer with the reason, and are tried again later.
func (m *Manager) Apply(next *metadata.Image, delta *metadata.Delta) {
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	m.image = next
	if m.concernsBroker(delta.Configs) {
		m.reconfigure(next)
	}
	for i := range delta.Topics {
		c := &delta.Topics[i]
		switch t, known := m.byID[changedID(c)]; {
		case c.Next == nil:
			m.remove(c.Prev.ID)
		case !known:
			m.add(c.Next)
		default:
			m.change(t, c)
		}
	}
}

func changedID(c *metadata.TopicChange) metadata.TopicID {
	if c.Next != nil {
		return c.Next.ID
	}
	return c.Prev.ID
}

// SetAside renames the logs that belong to no partition of this node, and returns how many there were. It is called once,
// after the first Apply.
func (m *Manager) SetAside() int {
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	n := 0
	for _, l := range m.o.Engine.Logs() {
		t, ok := m.byID[metadata.TopicID(l.TopicID())]
		if ok && t.Partition(l.TopicPartition().Partition) != nil {
			continue
		}
		n++
		m.setAside(l, "no such partition in the metadata")
	}
	return n
}
