package kafka

import (
	"cmp"
	"container/list"
	"math/rand/v2"
	"sync"
	"time"

	"moldau/broker"
)

// Incremental fetch sessions (KIP-227): the broker remembers which partitions a consumer reads, so that requests name
// only what changes and answers only what has something to tell.

// Session ids and epochs with a meaning of their own.
const (
	noSession    int32 = 0
	initialEpoch int32 = 0  // a full request that wants a session
	finalEpoch   int32 = -1 // a full request that wants none
)

// fetchPartitionKey names a partition of a session. Sessions use either names or ids, never both.
type fetchPartitionKey struct {
	topic     string
	id        [16]byte
	partition int32
}

// sameTopic tells whether two partitions belong to the same topic.
func (k *fetchPartitionKey) sameTopic(o *fetchPartitionKey) bool {
	return k.id == o.id && k.topic == o.topic
}

// cachedPartition is what a session remembers of one partition: what was asked last, and what was answered last.
type cachedPartition struct {
	fetchPartitionKey
	ask broker.FetchPartition

	highWatermark  int64 // as the client was told; -1 makes the next answer tell it again
	logStartOffset int64
}

// fetchSession is one session. Its partitions are in the order in which they are read: those that had data go to the end.
type fetchSession struct {
	id       int32
	usesIDs  bool
	follower bool // privileged: it may push out consumers
	created  time.Duration

	mu         sync.Mutex
	epoch      int32
	partitions map[fetchPartitionKey]*list.Element
	order      list.List // of *cachedPartition

	// Under the cache's lock.
	lastUsed time.Duration
	size     int // partitions at the last use
}

func newFetchSession(usesIDs bool, partitions int) *fetchSession {
	return &fetchSession{usesIDs: usesIDs, partitions: make(map[fetchPartitionKey]*list.Element, partitions)}
}

// nextEpoch is the epoch that follows; it skips those with a meaning of their own.
func nextEpoch(epoch int32) int32 {
	if epoch == 1<<31-1 {
		return 1
	}
	return epoch + 1
}

// set adds a partition or changes what is asked of it.
func (s *fetchSession) set(key fetchPartitionKey, ask broker.FetchPartition) {
	if e, ok := s.partitions[key]; ok {
		e.Value.(*cachedPartition).ask = ask
		return
	}
	s.partitions[key] = s.order.PushBack(&cachedPartition{
		fetchPartitionKey: key, ask: ask, highWatermark: -1, logStartOffset: -1,
	})
}

// forget removes a partition.
func (s *fetchSession) forget(key fetchPartitionKey) {
	if e, ok := s.partitions[key]; ok {
		s.order.Remove(e)
		delete(s.partitions, key)
	}
}

// update takes what was read of a partition and tells whether an incremental answer must carry it.
func (s *fetchSession) update(key fetchPartitionKey, got *broker.FetchedPartition) (carry bool) {
	e, ok := s.partitions[key]
	if !ok {
		return true // forgotten by a request that came after
	}
	p := e.Value.(*cachedPartition)
	hasRecords := got.Records.Len() > 0
	carry = hasRecords || got.Err != nil || got.HighWatermark != p.highWatermark ||
		got.LogStartOffset != p.logStartOffset || got.PreferredReadReplica >= 0 || got.Diverging.Epoch >= 0
	p.highWatermark, p.logStartOffset = got.HighWatermark, got.LogStartOffset
	if got.Err != nil {
		p.highWatermark = -1 // the recovery is news too
	}
	if hasRecords {
		s.order.MoveToBack(e)
	}
	return carry
}

// A session has at most maxSessionPartitions, and all sessions together maxCachedPartitions: they outlive connections, so
// their memory must be bounded. Larger consumers get along without a session.
const (
	maxSessionPartitions = 20_000
	maxCachedPartitions  = 1_000_000
)

// evictionAge is how long a session is safe from being pushed out, and how long it may be unused before anybody may
// have its slot.
const evictionAge = 2 * time.Minute

// sessionCache holds the sessions of all connections, up to a number of slots.
type sessionCache struct {
	slots int

	mu         sync.Mutex
	sessions   map[int32]*fetchSession
	partitions int
	evictions  counter
}

func newSessionCache(slots int) *sessionCache {
	return &sessionCache{slots: slots, sessions: make(map[int32]*fetchSession)}
}

// get finds a session.
func (c *sessionCache) get(id int32) (*fetchSession, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.sessions[id]
	return s, ok
}

// remove ends a session.
func (c *sessionCache) remove(id int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.sessions[id]; ok {
		c.drop(s)
	}
}

func (c *sessionCache) drop(s *fetchSession) {
	c.partitions -= s.size
	delete(c.sessions, s.id)
}

// touch notes the use of a session and its size.
func (c *sessionCache) touch(s *fetchSession, size int, now time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.lastUsed = now
	if c.sessions[s.id] == s {
		c.partitions += size - s.size
		s.size = size
	}
}

// create makes room for a session and gives it an id; it returns false if no slot can be had.
func (c *sessionCache) create(s *fetchSession, now time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	size := s.order.Len()
	if size == 0 || c.partitions+size > maxCachedPartitions {
		return false
	}
	if len(c.sessions) >= c.slots && !c.evict(s.follower, size, now) {
		return false
	}
	for s.id = noSession; s.id == noSession || c.sessions[s.id] != nil; {
		s.id = rand.Int32N(1<<31-1) + 1
	}
	s.created, s.lastUsed, s.size, s.epoch = now, now, size, nextEpoch(initialEpoch)
	c.sessions[s.id] = s
	c.partitions += size
	return true
}

// evict frees a slot for a session of the given kind and size, by Kafka's rules: one that was unused for two minutes
// goes; otherwise the least valuable one that is old enough, if it is worth less than the newcomer. Followers are worth
// more than consumers, then those with more partitions, and a follower may push out a consumer of any age.
func (c *sessionCache) evict(follower bool, size int, now time.Duration) bool {
	if len(c.sessions) == 0 {
		return false
	}
	var stalest, cheapest *fetchSession
	for _, s := range c.sessions {
		if stalest == nil || s.lastUsed < stalest.lastUsed {
			stalest = s
		}
		evictable := now-s.created > evictionAge || follower && !s.follower
		if evictable && (cheapest == nil || compareSessions(s, cheapest) < 0) {
			cheapest = s
		}
	}
	victim := stalest
	if now-stalest.lastUsed <= evictionAge {
		if cheapest == nil || compareWorth(follower, size, cheapest.follower, cheapest.size) < 0 {
			return false
		}
		victim = cheapest
	}
	c.drop(victim)
	c.evictions.Inc()
	return true
}

func compareSessions(a, b *fetchSession) int {
	return cmp.Or(compareWorth(a.follower, a.size, b.follower, b.size), cmp.Compare(a.id, b.id))
}

func compareWorth(aFollower bool, aSize int, bFollower bool, bSize int) int {
	if aFollower != bFollower {
		if aFollower {
			return 1
		}
		return -1
	}
	return cmp.Compare(aSize, bSize)
}

// count returns the number of sessions and of their partitions.
func (c *sessionCache) count() (sessions, partitions int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.sessions), c.partitions
}
