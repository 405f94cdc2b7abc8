package gateway

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/gateway/producer"
)

// client is what the gateway keeps for one principal: a Kafka client for everything that is answered at once, a producer
// on it, the topics it knows, and idle clients for reads that wait. A waiting read needs one of its own, since a Kafka connection
// answers in order and a fetch that waits would hold up those behind it.
type client struct {
	pool      *clients
	principal string
	kafka     *kgo.Client
	producer  *producer.Producer
	topics    *topicCache
	cluster   atomic.Pointer[string] // the cluster's id, once known

	// Guarded by pool.mu.
	refs int
	used time.Time

	mu     sync.Mutex
	idle   []*kgo.Client // for reads that wait, none of them in use
	closed bool
}

// maxIdleWaiters is how many clients for waiting reads a principal keeps for the next ones.
const maxIdleWaiters = 16

func newClient(p *clients, principal string) (*client, error) {
	c := &client{pool: p, principal: principal}
	c.topics = newTopicCache()
	var err error
	if c.kafka, err = kgo.NewClient(c.options()...); err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", principal, err)
	}
	c.producer = producer.New(producer.Config{
		Client: c.kafka, Acks: -1, Find: c.refind, Partitioner: newPartitioner(), Linger: p.cfg.Linger, Delivery: p.cfg.DeliveryTimeout,
	})
	return c, nil
}

// options are those of every Kafka client of the principal.
func (c *client) options() []kgo.Opt {
	cfg := &c.pool.cfg
	return []kgo.Opt{
		kgo.SeedBrokers(cfg.BootstrapServers...),
		kgo.ClientID("moldau-gateway"),
		kgo.SoftwareNameAndVersion("moldau-gateway", softwareVersion(cfg.Version)),
		kgo.Dialer(func(ctx context.Context, _, addr string) (net.Conn, error) {
			return c.pool.dial(ctx, c.principal, addr)
		}),
		kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.MetadataMaxAge(time.Minute),
		kgo.RetryTimeout(10 * time.Second),
		kgo.MaxDecompressBatchBytes(maxDecompressed),
		kgo.DisableClientMetrics(),
	}
}

// softwareVersion returns a version in the characters that a broker accepts (KIP-511): letters and digits, with dots and
// hyphens between them.
func softwareVersion(version string) string {
	mapped := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.':
			return r
		}
		return '-'
	}, version)
	if mapped = strings.Trim(mapped, ".-"); mapped == "" {
		return "unknown"
	}
	return mapped
}

// ping asks the broker for the cluster's id.
func (c *client) ping(ctx context.Context) error {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // none, which is not the same as nil: all
	_, err := c.kafka.Request(ctx, req)
	return err
}

// waiter takes a client for a read that waits. The caller gives it back with putWaiter.
func (c *client) waiter() (*kgo.Client, error) {
	select {
	case c.pool.waiters <- struct{}{}:
	default:
		return nil, ErrOverloaded
	}
	c.pool.metrics.waiting.Inc()
	c.mu.Lock()
	if n := len(c.idle); n > 0 {
		w := c.idle[n-1]
		c.idle = c.idle[:n-1]
		c.mu.Unlock()
		return w, nil
	}
	c.mu.Unlock()
	w, err := kgo.NewClient(c.options()...)
	if err != nil {
		c.freePlace()
		return nil, fmt.Errorf("make a client for a waiting read of %s: %w", c.principal, err)
	}
	return w, nil
}

// putWaiter gives a client back. One that still waits for an answer is busy and is closed.
func (c *client) putWaiter(w *kgo.Client, busy bool) {
	defer c.freePlace()
	c.mu.Lock()
	keep := !busy && !c.closed && len(c.idle) < maxIdleWaiters
	if keep {
		c.idle = append(c.idle, w)
	}
	c.mu.Unlock()
	if !keep {
		w.Close()
	}
}

func (c *client) freePlace() {
	<-c.pool.waiters
	c.pool.metrics.waiting.Dec()
}

// close closes all Kafka clients that are not in use by a waiting read; those are closed when they are given back.
func (c *client) close() {
	c.mu.Lock()
	c.closed = true
	idle := c.idle
	c.idle = nil
	c.mu.Unlock()
	for _, w := range idle {
		w.Close()
	}
	c.producer.Close()
	c.kafka.Close()
}
