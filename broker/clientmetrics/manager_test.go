package clientmetrics

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"moldau/broker/configdef"
	"moldau/broker/record"
)

// clock is a time that only moves when a test says so.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func (c *clock) forward(d time.Duration) { c.now = c.now.Add(d) }

// got keeps what a sink was given.
type got struct {
	from        Client
	metrics     []Metric
	terminating bool
}

func (g *got) Accept(from Client, metrics []Metric, terminating bool) {
	*g = got{from, metrics, terminating}
}

func newTest(t *testing.T, maxBytes int) (*Manager, *clock, *got) {
	t.Helper()
	c, g := &clock{now: time.Unix(1_700_000_000, 0)}, &got{}
	return New(Options{MaxBytes: maxBytes, Sink: g, Now: c.Now}), c, g
}

func subscription(t *testing.T, configs map[string]string) configdef.Subscription {
	t.Helper()
	s, err := configdef.ParseSubscription(configs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGetWithoutSubscription(t *testing.T) {
	m, c, _ := newTest(t, 1000)
	id, d, err := m.Get(Client{}, nil)
	if err != nil || id.reserved() || len(d.Metrics) != 0 || d.Interval != 5*time.Minute {
		t.Fatalf("%v %+v %v", id, d, err)
	}
	if _, _, err := m.Get(Client{ID: id}, nil); !errors.Is(err, ErrThrottled) {
		t.Errorf("a second question at once: %v", err)
	}
	c.forward(5 * time.Minute)
	id2, d2, err := m.Get(Client{ID: id}, nil)
	if err != nil || id2 != id || d2.SubscriptionID != d.SubscriptionID {
		t.Errorf("%v %+v %v", id2, d2, err)
	}
	other, d3, err := m.Get(Client{}, nil)
	if err != nil || other == id || d3.SubscriptionID == d.SubscriptionID {
		t.Errorf("another client: %v %+v %v", other, d3, err)
	}
}

func TestDemandJoinsSubscriptions(t *testing.T) {
	m, _, _ := newTest(t, 1000)
	subscriptions := []configdef.Subscription{
		subscription(t, map[string]string{"metrics": "b.,a.", "interval.ms": "60000", "match": "client_id=app-.*"}),
		subscription(t, map[string]string{"metrics": "a.,c.", "interval.ms": "30000"}),
		subscription(t, map[string]string{"metrics": "*", "interval.ms": "100", "match": "client_software_name=librdkafka"}),
	}
	for _, c := range []struct {
		client   Client
		metrics  []string
		interval time.Duration
	}{
		{Client{ClientID: "app-1"}, []string{"a.", "b.", "c."}, 30 * time.Second},
		{Client{ClientID: "x"}, []string{"a.", "c."}, 30 * time.Second},
		{Client{ClientID: "x", SoftwareName: "librdkafka"}, []string{"*"}, 100 * time.Millisecond},
	} {
		_, d, err := m.Get(c.client, subscriptions)
		if err != nil || !slices.Equal(d.Metrics, c.metrics) || d.Interval != c.interval {
			t.Errorf("%+v: %+v, %v", c.client, d, err)
		}
	}
}

func TestPush(t *testing.T) {
	m, c, g := newTest(t, 10_000)
	subs := []configdef.Subscription{subscription(t, map[string]string{"metrics": "*", "interval.ms": "10000"})}
	id, d, err := m.Get(Client{ClientID: "app"}, subs)
	if err != nil {
		t.Fatal(err)
	}
	me := Client{ID: id, ClientID: "app"}
	push := func(change func(*Push)) error {
		p := Push{SubscriptionID: d.SubscriptionID, Payload: payload()}
		if change != nil {
			change(&p)
		}
		return m.Push(me, subs, p)
	}
	if err := push(nil); err != nil {
		t.Fatal(err)
	}
	if g.from != me || len(g.metrics) != 3 || g.terminating {
		t.Errorf("the sink got %+v", g)
	}
	if err := push(nil); !errors.Is(err, ErrThrottled) {
		t.Errorf("a second push at once: %v", err)
	}
	c.forward(10 * time.Second)
	if err := push(func(p *Push) { p.SubscriptionID++ }); !errors.Is(err, ErrUnknownSubscription) {
		t.Errorf("another subscription: %v", err)
	}
	if _, _, err := m.Get(me, subs); err != nil {
		t.Errorf("the question after an unknown subscription: %v", err)
	}
	c.forward(time.Second)
	if err := push(func(p *Push) { p.Codec = 9 }); !errors.Is(err, ErrUnsupportedCompression) {
		t.Errorf("codec 9: %v", err)
	}
	c.forward(10 * time.Second)
	if err := push(func(p *Push) { p.Payload = make([]byte, 10_001) }); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	c.forward(10 * time.Second)
	for _, bad := range [][]byte{[]byte("garbage"), {0x0a, 0xff}, {0x0a, 0x02, 0x12, 0x05}} {
		if err := push(func(p *Push) { p.Payload = bad }); !errors.Is(err, ErrInvalidPayload) {
			t.Errorf("payload %x: %v", bad, err)
		}
		c.forward(10 * time.Second)
	}
	if err := push(func(p *Push) { p.Codec = int8(record.Zstd) }); !errors.Is(err, ErrInvalidPayload) {
		t.Errorf("not zstd: %v", err)
	}
	if err := push(func(p *Push) { p.Terminating = true }); err != nil || !g.terminating {
		t.Errorf("goodbye before the interval: %v", err)
	}
	c.forward(10 * time.Second)
	if err := push(nil); !errors.Is(err, ErrInvalidRequest) {
		t.Errorf("after goodbye: %v", err)
	}
}

func TestPushCompressed(t *testing.T) {
	m, _, g := newTest(t, 10_000)
	for _, codec := range append(AcceptedCodecs(), record.None) {
		id, d, err := m.Get(Client{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		compressed, err := record.NewCompressor().Compress(nil, payload(), codec, record.DefaultLevel)
		if err != nil {
			t.Fatal(err)
		}
		*g = got{}
		err = m.Push(Client{ID: id}, nil, Push{SubscriptionID: d.SubscriptionID, Codec: int8(codec), Payload: compressed})
		if err != nil || len(g.metrics) != 3 {
			t.Errorf("%v: %d metrics, %v", codec, len(g.metrics), err)
		}
	}
}

func TestPushBomb(t *testing.T) {
	m, _, g := newTest(t, 1000)
	id, d, err := m.Get(Client{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	bomb, err := record.NewCompressor().Compress(nil, make([]byte, 1<<20), record.Zstd, record.DefaultLevel)
	if err != nil || len(bomb) > 1000 {
		t.Fatalf("%d bytes, %v", len(bomb), err)
	}
	err = m.Push(Client{ID: id}, nil, Push{SubscriptionID: d.SubscriptionID, Codec: int8(record.Zstd), Payload: bomb})
	if !errors.Is(err, ErrInvalidPayload) || g.metrics != nil {
		t.Errorf("%v", err)
	}
}

func TestReservedIDs(t *testing.T) {
	m, _, _ := newTest(t, 1000)
	if _, _, err := m.Get(Client{ID: InstanceID{15: 1}}, nil); !errors.Is(err, ErrInvalidRequest) {
		t.Errorf("get: %v", err)
	}
	for _, id := range []InstanceID{{}, {15: 1}} {
		if err := m.Push(Client{ID: id}, nil, Push{}); !errors.Is(err, ErrInvalidRequest) {
			t.Errorf("push: %v", err)
		}
	}
	if err := m.Push(Client{ID: InstanceID{1, 2, 3}}, nil, Push{}); !errors.Is(err, ErrUnknownSubscription) {
		t.Errorf("push of a stranger: %v", err)
	}
}

// A change of the subscriptions ends the throttling, so that clients follow at once.
func TestChangedSubscription(t *testing.T) {
	m, _, _ := newTest(t, 1000)
	id, before, err := m.Get(Client{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	subs := []configdef.Subscription{subscription(t, map[string]string{"metrics": "a."})}
	if err := m.Push(Client{ID: id}, subs, Push{SubscriptionID: before.SubscriptionID}); !errors.Is(err, ErrUnknownSubscription) {
		t.Errorf("push under the old one: %v", err)
	}
	_, after, err := m.Get(Client{ID: id}, subs)
	if err != nil || after.SubscriptionID == before.SubscriptionID {
		t.Errorf("%+v, %v", after, err)
	}
}

func TestInstancesAreBounded(t *testing.T) {
	m, c, _ := newTest(t, 1000)
	var first InstanceID
	for i := range maxInstances {
		var id InstanceID
		binary.BigEndian.PutUint64(id[:], uint64(i+1))
		if i == 0 {
			first = id
		}
		if _, _, err := m.Get(Client{ID: id}, nil); err != nil {
			t.Fatal(err)
		}
		c.forward(time.Millisecond)
	}
	if _, _, err := m.Get(Client{}, nil); err != nil || m.Instances() != maxInstances {
		t.Errorf("%d instances, %v", m.Instances(), err)
	}
	if _, _, err := m.Get(Client{ID: first}, nil); err != nil {
		t.Errorf("the first was dropped, so it is new again: %v", err)
	}
	c.forward(16 * time.Minute)
	if _, _, err := m.Get(Client{}, nil); err != nil || m.Instances() != 1 {
		t.Errorf("%d instances after a long silence, %v", m.Instances(), err)
	}
}
