package coordinator

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// owner runs one shard in one leader epoch.
type owner[S Shard] struct {
	r         *Runtime[S]
	partition int32
	epoch     int32
	log       Log
	logger    *slog.Logger

	mu    sync.Mutex // around memory only
	queue []task[S]
	spare []task[S]     // the memory of the queue before
	ready bool          // operations are taken
	over  error         // set when the owner ends; what operations get from then on
	wake  chan struct{} // holds a token when there is something in the queue
	stop  chan struct{} // closed by end

	// The rest belongs to the owner's goroutine.
	shard   S
	alive   bool // there is a shard that was not stopped
	batches batchBuilder
	answers []func(error) // of operations whose records are in batches
	parked  parked
}

// task is an operation in the queue.
type task[S Shard] struct {
	op   func(*Turn, S)
	fail func(error)
}

func newOwner[S Shard](r *Runtime[S], partition, epoch int32, log Log) *owner[S] {
	o := &owner[S]{
		r: r, partition: partition, epoch: epoch, log: log,
		logger: r.o.Logger.With("component", "coordinator", "kind", r.o.Kind, "partition", partition, "epoch", epoch),
		wake:   make(chan struct{}, 1), stop: make(chan struct{}),
	}
	start, end := log.Bounds()
	o.ready = start == end // there is nothing to read: nobody needs to be sent away
	return o
}

// submit queues an operation.
func (o *owner[S]) submit(t task[S]) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.over != nil:
		return o.over
	case !o.ready:
		return ErrLoading
	}
	o.queue = append(o.queue, t)
	select {
	case o.wake <- struct{}{}:
	default: // it has been woken and not looked yet
	}
	return nil
}

// end makes the owner stop with err.
func (o *owner[S]) end(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over == nil {
		o.over = err
		close(o.stop)
	}
}

func (o *owner[S]) loading() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.ready && o.over == nil
}

// run loads the shard and serves, again and again if appends fail, until the owner is ended.
func (o *owner[S]) run() {
	for o.load() {
		err := o.serve()
		o.drop(err)
		if errors.Is(err, ErrNotCoordinator) {
			o.end(err)
			return
		}
		o.logger.Error("the coordinator failed and reads its partition again", "err", err)
		if o.r.o.Failed != nil {
			o.r.o.Failed(o.partition, err)
		}
		if !o.pause() {
			return
		}
	}
	o.drop(o.over)
}

// pause waits before the partition is read again, and returns false if the owner was ended.
func (o *owner[S]) pause() bool {
	timer := time.NewTimer(o.r.o.LoadRetry)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-o.stop:
		return false
	}
}

// drop gives up the shard: everybody who waits is answered with an error, and nothing is taken any more.
func (o *owner[S]) drop(err error) {
	if !errors.Is(err, ErrNotCoordinator) {
		err = ErrNotAvailable
	}
	o.mu.Lock()
	o.ready = false
	queue := o.queue
	o.queue = nil
	o.mu.Unlock()
	for _, t := range queue {
		t.fail(err)
	}
	o.settle(err)
	o.parked.fail(err)
	o.batches.reset()
	if !o.alive {
		return
	}
	o.alive = false
	if err := o.protect(func() { o.shard.Stop(err) }); err != nil {
		o.logger.Error("the coordinator's state cannot be given up in order", "err", err)
	}
}

// serve runs operations until the owner is ended or must load its shard anew, and returns why.
func (o *owner[S]) serve() error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		// The first time there is what Start decided: nobody else may come for long.
		if err := o.work(); err != nil {
			return err
		}
		changed, err := o.parked.release(o.r.o.Now())
		if err != nil {
			return err
		}
		o.arm(timer)
		select {
		case <-o.stop:
			return o.over
		case <-o.wake:
		case <-changed:
		case <-timer.C:
		}
	}
}

// arm sets the timer to the next moment at which something is to be done without being asked.
func (o *owner[S]) arm(timer *time.Timer) {
	next := o.shard.NextDeadline()
	if d := o.parked.deadline(); !d.IsZero() && (next.IsZero() || d.Before(next)) {
		next = d
	}
	if next.IsZero() {
		timer.Stop()
		return
	}
	timer.Reset(next.Sub(o.r.o.Now()))
}

// work runs what is queued and what is due.
func (o *owner[S]) work() error {
	o.mu.Lock()
	tasks := o.queue
	o.queue, o.spare = o.spare[:0], nil
	o.mu.Unlock()
	err := o.runAll(tasks)
	clear(tasks)
	o.mu.Lock()
	o.spare = tasks[:0]
	o.mu.Unlock()
	if err != nil {
		return err
	}
	if next := o.shard.NextDeadline(); !next.IsZero() && !next.After(o.r.o.Now()) {
		if err := o.turn(o.expire, func(error) {}); err != nil {
			return err
		}
	}
	return o.append()
}

func (o *owner[S]) expire(t *Turn, s S) { s.Expire(t) }

// runAll runs operations one after the other. If one makes it necessary to load the shard anew, the rest is failed.
func (o *owner[S]) runAll(tasks []task[S]) error {
	for i, t := range tasks {
		err := o.turn(t.op, t.fail)
		if err == nil && o.batches.size() >= appendBytes {
			err = o.append()
		}
		if err != nil {
			for _, t := range tasks[i+1:] {
				t.fail(ErrNotAvailable)
			}
			return err
		}
	}
	return nil
}

// appendBytes is how much is gathered before it is appended.
const appendBytes = 1 << 20

// turn runs one operation and gathers what it decided.
func (o *owner[S]) turn(op func(*Turn, S), fail func(error)) error {
	max := o.log.BatchBytesMax()
	t := Turn{Now: o.r.o.Now(), Epoch: o.epoch, RecordBytesMax: max - batchOverhead, shard: o.shard}
	err := o.protect(func() { op(&t, o.shard) })
	o.answers = append(o.answers, t.answers...)
	if err == nil {
		err = o.batches.add(t.entries, t.Now, max)
	}
	if err != nil {
		fail(ErrNotAvailable)
	}
	return err
}

// protect turns a panic into an error: what one caller can send must not take the process down.
func (o *owner[S]) protect(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	f()
	return nil
}

// append appends what was gathered, and parks the answers until it is committed.
func (o *owner[S]) append() error {
	expires := o.r.o.Now().Add(o.r.o.CommitTimeout)
	b, err := o.batches.take()
	if err == nil && len(b) > 0 {
		var c Commit
		if c, err = o.log.Append(b, o.epoch); err == nil {
			o.parked.add(c, o.answers, expires)
			o.answers = nil
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("append to partition %d: %w", o.partition, err)
	}
	if len(o.answers) == 0 {
		return nil
	}
	if c := o.parked.last(); c != nil {
		o.parked.add(c, o.answers, expires)
		o.answers = nil
		return nil
	}
	o.settle(nil)
	return nil
}

// settle gives all answers that are not parked.
func (o *owner[S]) settle(err error) {
	answers := o.answers
	o.answers = nil
	for _, f := range answers {
		f(err)
	}
}
