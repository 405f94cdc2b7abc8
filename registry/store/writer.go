package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/registry/catalog"
)

// request is a decision that waits for the writer.
type request struct {
	decide Decide
	done   chan result // takes one; buffered
}

type result struct {
	offset int64
	err    error
}

// maxGroup is how many decisions share a transaction at most.
const maxGroup = 64

// writer appends to the topic for the manager's goroutine.
type writer struct {
	client     *kgo.Client
	topic      string
	generation int64
	commits    int64 // begun so far
	maxBytes   int   // of a record
}

// openWriter fences the last owner, waits until all it wrote is replayed, and begins the next generation.
func openWriter(ctx context.Context, m *manager) (_ *writer, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.opts.WriteTimeout)
	defer cancel()
	w := &writer{topic: m.opts.Topic}
	if w.maxBytes, err = m.admin.maxRecordBytes(ctx, m.opts.Topic); err != nil {
		return nil, err
	}
	w.client, err = kgo.NewClient(append(m.opts.clientOptions(),
		kgo.TransactionalID(m.opts.Group+"-writer"),
		kgo.TransactionTimeout(max(2*m.opts.WriteTimeout, 10*time.Second)),
		kgo.DefaultProduceTopic(m.opts.Topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ProducerBatchMaxBytes(int32(w.maxBytes)), //nolint:gosec // bounded where it is read
		kgo.ManualFlushing(),
		kgo.RecordDeliveryTimeout(m.opts.WriteTimeout),
	)...)
	if err != nil {
		return nil, fmt.Errorf("make a transactional client: %w", err)
	}
	defer func() {
		if err != nil {
			w.client.Close()
		}
	}()
	if _, _, err = w.client.ProducerID(ctx); err != nil {
		return nil, fmt.Errorf("take over transactional id %s: %w", m.opts.Group+"-writer", err)
	}
	at, err := m.admin.find(ctx, m.opts.Topic)
	if err != nil {
		return nil, err
	}
	end, err := m.admin.offset(ctx, m.opts.Topic, at, latest, true)
	if err != nil {
		return nil, err
	}
	p, err := m.state.wait(ctx, func(p *published) bool { return p.loaded && p.exists && p.catalog.Offset() >= end })
	if err != nil {
		return nil, fmt.Errorf("replay %s up to offset %d: %w", m.opts.Topic, end, err)
	}
	w.generation = p.catalog.Generation() + 1
	return w, nil
}

// maxRecordBytes is how large a record may be.
func (a *admin) maxRecordBytes(ctx context.Context, topic string) (int, error) {
	const name, usual, least = "max.message.bytes", 1 << 20, 1 << 12
	configs, err := a.configs(ctx, topic, name)
	if err != nil {
		return 0, err
	}
	if n, err := strconv.Atoi(configs[name]); err == nil {
		return min(max(n, least), 4*maxRecord), nil
	}
	return usual, nil // a cluster that does not tell
}

func (w *writer) close() { w.client.Close() }

// serve decides a request together with those that wait behind it, and answers them.
func (m *manager) serve(ctx context.Context, first *request) {
	if m.writer == nil {
		first.done <- result{err: ErrNotOwner}
		return
	}
	g := &group{before: m.state.load().catalog, limit: m.writer.maxBytes, now: time.Now().UnixMilli()}
	g.after = g.before
	for r := first; r != nil; r = m.more(g) {
		g.decide(r)
	}
	if len(g.changes) == 0 {
		return // all were answered
	}
	offset, err := m.commit(ctx, g.changes, g.now)
	g.answer(offset, err)
	switch {
	case err == nil:
	case errors.Is(err, ErrNotOwner):
		m.fenced(err)
	default:
		m.opts.Logger.Warn("a write to the registry's topic failed", "topic", m.opts.Topic, "err", err)
		m.dropWriter() // a new one begins with what is true by then
	}
}

func (m *manager) more(g *group) *request {
	if g.full() {
		return nil
	}
	select {
	case r := <-m.requests:
		return r
	default:
		return nil
	}
}

// group is the decisions that share a transaction.
type group struct {
	before, after *catalog.Catalog
	changes       []catalog.Change
	bytes, limit  int
	count         int
	now           int64
	waiting       []waiter
}

type waiter struct {
	r   *request
	err error // of the decision
}

func (g *group) full() bool { return g.count >= maxGroup || g.bytes >= g.limit/2 }

// decide makes one more decision, on what the others leave.
func (g *group) decide(r *request) {
	g.count++
	changes, err := r.decide(g.after)
	if err == nil {
		err = g.add(changes)
	}
	if len(g.changes) == 0 { // it depends on nothing that is not written yet
		r.done <- result{g.before.Offset(), err}
		return
	}
	g.waiting = append(g.waiting, waiter{r, err})
}

// recordOverhead is what a record takes beside key and value, generously.
const recordOverhead = 256

func (g *group) add(changes []catalog.Change) error {
	size := 0
	for _, c := range changes {
		n := len(c.Key) + len(c.Value) + recordOverhead
		if n > g.limit {
			return fmt.Errorf("%w: it has %d bytes, %d are allowed", ErrTooLarge, n, g.limit)
		}
		size += n
	}
	after, err := g.after.With(changes, g.now)
	if err != nil {
		return fmt.Errorf("the change contradicts what is registered: %w", err)
	}
	g.after, g.changes, g.bytes = after, append(g.changes, changes...), g.bytes+size
	return nil
}

func (g *group) answer(offset int64, err error) {
	for _, w := range g.waiting {
		if err == nil {
			w.r.done <- result{offset, w.err}
			continue
		}
		w.r.done <- result{0, err}
	}
}

// commit writes changes in one transaction and waits until they are replayed. It returns the offset behind them.
func (m *manager) commit(ctx context.Context, changes []catalog.Change, now int64) (int64, error) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, m.opts.WriteTimeout)
	defer cancel()
	last, err := m.writer.write(ctx, changes, now)
	if err == nil {
		err = m.replayed(ctx, last)
	}
	m.metrics.commitTime.Observe(time.Since(start).Seconds())
	outcome := "committed"
	if err != nil {
		outcome = "failed"
	}
	m.metrics.commits.WithLabelValues(outcome).Inc()
	return last + 1, err
}

// replayed waits until the tail has passed an offset, and makes sure that it has seen the writer's last commit there: what
// a client takes for committed may have been rolled back.
func (m *manager) replayed(ctx context.Context, last int64) error {
	p, err := m.state.wait(ctx, func(p *published) bool { return p.catalog.Offset() > last })
	if err != nil {
		return fmt.Errorf("replay %s up to offset %d, which is written: %w", m.opts.Topic, last, err)
	}
	switch g := p.catalog.Generation(); {
	case g == m.writer.generation && p.catalog.Commit() >= m.writer.commits:
		return nil
	case g > m.writer.generation:
		return fmt.Errorf("%w: another replica wrote before it was replayed", ErrUnavailable)
	}
	return fmt.Errorf("%w: the transaction was rolled back, nothing was written", ErrUnavailable)
}

// write appends in one transaction and returns the offset of the last record.
func (w *writer) write(ctx context.Context, changes []catalog.Change, now int64) (last int64, err error) {
	if err := w.client.BeginTransaction(); err != nil {
		return 0, w.failure("begin a transaction", err)
	}
	w.commits++
	done := make(chan error, len(changes))
	for i, c := range changes {
		r := &kgo.Record{
			Topic: w.topic, Key: c.Key, Value: c.Value, Timestamp: time.UnixMilli(now),
			Headers: []kgo.RecordHeader{
				{Key: generationHeader, Value: strconv.AppendInt(nil, w.generation, 10)},
				{Key: commitHeader, Value: strconv.AppendInt(nil, w.commits, 10)},
			},
		}
		if more := len(changes) - 1 - i; more > 0 {
			r.Headers = append(r.Headers, kgo.RecordHeader{Key: moreHeader, Value: strconv.AppendInt(nil, int64(more), 10)})
		}
		w.client.Produce(ctx, r, func(r *kgo.Record, err error) {
			if err == nil {
				last = max(last, r.Offset)
			}
			done <- err
		})
	}
	if err := w.client.Flush(ctx); err != nil {
		return 0, w.abort("write", err)
	}
	for range changes {
		err = errors.Join(err, <-done)
	}
	if err != nil {
		return 0, w.abort("write", err)
	}
	if err := w.awaitPartition(ctx); err != nil {
		return 0, w.abort("commit", err)
	}
	if err := w.client.EndTransaction(ctx, kgo.TryCommit); err != nil {
		return 0, w.failure("commit", err)
	}
	return last, nil
}

// awaitPartition waits until the client knows the partition that it has just written to. With the first records of a
// client it learns that a moment after their promises are kept; a transaction that ends in between looks empty to it, and
// it rolls it back and says that it is committed.
func (w *writer) awaitPartition(ctx context.Context) error {
	for {
		leader, _, err := w.client.PartitionLeader(w.topic, 0)
		if leader >= 0 || err != nil {
			return err
		}
		timer := time.NewTimer(time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// abort ends a transaction that failed, as far as it can be: the next owner of the id ends it otherwise.
func (w *writer) abort(what string, cause error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := w.client.AbortBufferedRecords(ctx)
	if err == nil {
		err = w.client.EndTransaction(ctx, kgo.TryAbort)
	}
	if fencing(err) {
		cause = err
	}
	return w.failure(what, cause)
}

func (w *writer) failure(what string, err error) error {
	kind := ErrUnavailable
	switch {
	case fencing(err):
		kind = ErrNotOwner
	case errors.Is(err, kerr.MessageTooLarge), errors.Is(err, kerr.RecordListTooLarge):
		kind = ErrTooLarge
	}
	return fmt.Errorf("%w: %s: %w", kind, what, err)
}
