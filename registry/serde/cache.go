package serde

import (
	"container/list"
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"
)

// key is what a schema is asked for by. Fields that do not matter for a kind are zero.
type key struct {
	kind    kind
	id      int
	subject string
	version int
	guid    guid
	sum     [sha256.Size]byte
}

type kind int8

const (
	byID kind = iota
	byVersion
	byGUID
	byText
)

// cache remembers schemas, and for a while that there are none. Whoever asks first for one fetches it, the others wait
// for that.
type cache struct {
	entries, bytes           int // at most
	latest, unknown, failure time.Duration
	now                      func() time.Time

	mu    sync.Mutex
	slots map[key]*list.Element // of *slot
	used  *list.List            // the most recently used one first
	size  int
}

// slot is one entry. What follows ready is written before it is closed and never after.
type slot struct {
	key    key
	ready  chan struct{}
	schema *Schema
	err    error
	until  time.Time // zero for good
	size   int
	// gaveUp says that whoever fetched was stopped, which says nothing about the schema.
	gaveUp bool
}

func newCache(cfg *Config, now func() time.Time) *cache {
	return &cache{
		entries: cfg.MaxSchemas, bytes: cfg.MaxBytes, latest: cfg.LatestAge, unknown: cfg.UnknownAge, failure: cfg.FailureAge,
		now: now, slots: map[key]*list.Element{}, used: list.New(),
	}
}

// get returns what is remembered for k, or what load brings.
func (c *cache) get(ctx context.Context, k key, load func(context.Context) (*Schema, error)) (*Schema, error) {
	for {
		s, mine := c.slot(k)
		if mine {
			schema, err := load(ctx)
			c.settle(s, schema, err, ctx.Err() != nil)
			return schema, err
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !s.gaveUp {
			return s.schema, s.err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// slot returns the entry of k; mine says that it is new and the caller's to fill.
func (c *cache) slot(k key) (s *slot, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.slots[k]; ok {
		s := e.Value.(*slot)
		if s.until.IsZero() || c.now().Before(s.until) {
			c.used.MoveToFront(e)
			return s, false
		}
		c.remove(e)
	}
	s = &slot{key: k, ready: make(chan struct{})}
	c.slots[k] = c.used.PushFront(s)
	return s, true
}

// settle fills an entry and makes room for it. One that whoever fetched gave up is taken out again.
func (c *cache) settle(s *slot, schema *Schema, err error, stopped bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.schema, s.err, s.gaveUp = schema, err, err != nil && stopped
	switch {
	case errors.Is(err, ErrNotFound):
		s.until = c.now().Add(c.unknown)
	case err != nil:
		s.until = c.now().Add(c.failure)
	case s.key.kind == byVersion && s.key.version == latest:
		s.until = c.now().Add(c.latest)
	}
	close(s.ready)
	e, ok := c.slots[s.key]
	if !ok || e.Value.(*slot) != s {
		return
	}
	if s.gaveUp {
		c.remove(e)
		return
	}
	if schema != nil {
		s.size = schema.size
		c.size += s.size
	}
	for e := c.used.Back(); e != nil && c.used.Len() > 1 && (c.used.Len() > c.entries || c.size > c.bytes); {
		previous := e.Prev()
		if old := e.Value.(*slot); old != s && settled(old) {
			c.remove(e)
		}
		e = previous
	}
}

func settled(s *slot) bool {
	select {
	case <-s.ready:
		return true
	default:
		return false
	}
}

func (c *cache) remove(e *list.Element) {
	s := c.used.Remove(e).(*slot)
	delete(c.slots, s.key)
	c.size -= s.size
}

// len is how many entries there are.
func (c *cache) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used.Len()
}
