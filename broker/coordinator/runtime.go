package coordinator

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"moldau/broker/record"
)

// Options says how to make a Runtime. All fields but the last two must be set.
type Options[S Shard] struct {
	// Kind names the coordinator in the log: "group", "transaction".
	Kind string
	// NewShard returns the empty state of a partition. It is called by the owner.
	NewShard func(partition int32) S
	// CommitTimeout is how long an answer waits at most for its records to be committed.
	CommitTimeout time.Duration
	// LoadParallel is how many partitions are read at the same time.
	LoadParallel int
	// LoadRetry is the pause before a partition that could not be read or written is read again.
	LoadRetry    time.Duration
	Decompressor *record.Decompressor
	Logger       *slog.Logger
	Now          func() time.Time
	// Loaded is called by the owner after each loading, with how long it took; nil is nobody.
	Loaded func(partition int32, records int, took time.Duration)
	// Failed is called by the owner when it has to load its shard anew; nil is nobody.
	Failed func(partition int32, err error)
}

// Runtime holds the shards of one kind. All methods may be called from any goroutine.
type Runtime[S Shard] struct {
	o     Options[S]
	loads chan struct{} // of capacity LoadParallel: who puts a value in may read a partition

	mu      sync.RWMutex // around memory only
	owners  map[int32]*owner[S]
	closed  bool
	running sync.WaitGroup
}

// New returns a Runtime without shards.
func New[S Shard](o Options[S]) *Runtime[S] {
	return &Runtime[S]{o: o, loads: make(chan struct{}, o.LoadParallel), owners: map[int32]*owner[S]{}}
}

// Elect makes this node the coordinator of a partition, from a leader epoch on. The partition is read in the background;
// an empty one serves at once. An epoch that is not newer than the one before changes nothing.
func (r *Runtime[S]) Elect(partition, epoch int32, log Log) {
	r.mu.Lock()
	defer r.mu.Unlock()
	prev := r.owners[partition]
	if r.closed || prev != nil && prev.epoch >= epoch {
		return
	}
	if prev != nil {
		prev.end(ErrNotCoordinator)
	}
	o := newOwner(r, partition, epoch, log)
	r.owners[partition] = o
	r.running.Go(o.run)
}

// Resign ends this node's time as the coordinator of a partition, unless it was elected in a newer epoch than the one
// given.
func (r *Runtime[S]) Resign(partition, epoch int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o := r.owners[partition]; o != nil && o.epoch <= epoch {
		delete(r.owners, partition)
		o.end(ErrNotCoordinator)
	}
}

// Close ends all owners, answers everybody who waits with ErrNotCoordinator, and returns when the owners have ended.
func (r *Runtime[S]) Close() {
	r.mu.Lock()
	r.closed = true
	for _, o := range r.owners {
		o.end(ErrNotCoordinator)
	}
	clear(r.owners)
	r.mu.Unlock()
	r.running.Wait()
}

// Do has the owner of a partition run op. If it cannot, or op panics, fail is called instead with one of this package's
// errors; fail may also be called after op, and must not block.
func (r *Runtime[S]) Do(partition int32, op func(*Turn, S), fail func(error)) {
	r.mu.RLock()
	o := r.owners[partition]
	r.mu.RUnlock()
	if o == nil {
		fail(ErrNotCoordinator)
		return
	}
	if err := o.submit(task[S]{op: op, fail: fail}); err != nil {
		fail(err)
	}
}

// Ask has the owner of a partition run op and returns the reply that op is given to answer.
func Ask[T any, S Shard](r *Runtime[S], partition int32, op func(t *Turn, s S, reply *Reply[T])) *Reply[T] {
	reply := NewReply[T]()
	r.Do(partition, func(t *Turn, s S) { op(t, s, reply) }, reply.Fail)
	return reply
}

// Partitions returns the partitions that this node coordinates, in their order, loaded or not.
func (r *Runtime[S]) Partitions() []int32 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]int32, 0, len(r.owners))
	for p := range r.owners {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// Loading returns how many partitions are being read.
func (r *Runtime[S]) Loading() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	n := 0
	for _, o := range r.owners {
		if o.loading() {
			n++
		}
	}
	return n
}
