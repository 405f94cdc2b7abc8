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
	decide  DecideBoth
	decided chan struct{} // closed when the decision is made, or is not going to be
	done    chan result   // takes one; buffered
}

func newRequest(decide DecideBoth) *request {
	return &request{decide, make(chan struct{}), make(chan result, 1)}
}

type result struct {
	offset int64
	err    error
}

// maxGroup is how many decisions share a transaction at most.
const maxGroup = 64

// writer appends to the topics for the manager's goroutine.
type writer struct {
	client     *kgo.Client
	topic      string // of the catalog
	ledger     string // the topic of the ledger
	generation int64
	commits    int64 // begun so far
	maxBytes   int   // of a record
}

// openWriter fences the last owner, waits until all it wrote is replayed, and begins the next generation.
func openWriter(ctx context.Context, m *manager) (_ *writer, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.opts.WriteTimeout)
	defer cancel()
	w := &writer{topic: m.opts.Topic, ledger: m.opts.LedgerTopic}
	if w.maxBytes, err = m.maxRecordBytes(ctx); err != nil {
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
	last, err := caughtUp(ctx, m.admin, m.tail)
	if err != nil {
		return nil, err
	}
	lastOfLedger, err := caughtUp(ctx, m.admin, m.ledger)
	if err != nil && !absent(err) {
		return nil, err
	}
	w.generation = max(last, lastOfLedger) + 1
	return w, nil
}

// caughtUp waits until all that is in a topic is replayed, and returns the generation that wrote last.
func caughtUp[V any, P value[V]](ctx context.Context, a *admin, t *tailOf[V, P]) (generation int64, err error) {
	at, err := a.find(ctx, t.topic)
	if err == nil {
		err = a.fit(ctx, t.topic, at)
	}
	if err != nil {
		return 0, err
	}
	end, err := a.offset(ctx, t.topic, at, latest, true)
	if err != nil {
		return 0, err
	}
	t.wake()
	p, err := t.state.wait(ctx, func(p *publishedOf[V, P]) bool { return p.loaded && p.exists && p.catalog.Offset() >= end })
	if err != nil {
		return 0, fmt.Errorf("replay %s up to offset %d: %w", t.topic, end, err)
	}
	return p.catalog.Generation(), nil
}

// maxRecordBytes is how large a record may be in both topics: batches of one size are sent to both.
func (m *manager) maxRecordBytes(ctx context.Context) (int, error) {
	n, err := m.admin.maxRecordBytes(ctx, m.opts.Topic)
	if err != nil {
		return 0, err
	}
	at, err := m.admin.find(ctx, m.opts.LedgerTopic)
	if err == nil {
		err = m.admin.fit(ctx, m.opts.LedgerTopic, at)
	}
	if absent(err) {
		return min(n, maxRecord), nil
	}
	if err != nil {
		return 0, err
	}
	ledger, err := m.admin.maxRecordBytes(ctx, m.opts.LedgerTopic)
	return min(n, ledger), err
}

// maxRecordBytes is how large a record may be.
func (a *admin) maxRecordBytes(ctx context.Context, topic string) (int, error) {
	const name, usual, least = sizeConfig, 1 << 20, 1 << 12
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
		close(first.decided)
		first.done <- result{err: m.refusal()}
		return
	}
	g := &group{before: m.state.load().catalog, ledger: m.ledger.state.load().catalog, limit: m.writer.maxBytes, now: time.Now().UnixMilli()}
	g.after = g.before
	for r := first; r != nil; r = m.more(g) {
		g.decide(r)
	}
	if g.changes.none() {
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

// refusal is why this replica does not write.
func (m *manager) refusal() error {
	if v := m.seat.look(); v.known && !v.self {
		return ErrNotOwner
	}
	if err := m.unfit(); err != nil {
		return fmt.Errorf("%w: nothing was written: %w", ErrUnavailable, err)
	}
	return ErrNotOwner
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
	ledger        *catalog.Ledger // after what was decided so far
	changes       Changes
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
	changes, err := r.decide(g.after, g.ledger)
	close(r.decided)
	if err == nil {
		err = g.add(changes)
	}
	if g.changes.none() { // it depends on nothing that is not written yet
		r.done <- result{g.before.Offset(), err}
		return
	}
	g.waiting = append(g.waiting, waiter{r, err})
}

// recordOverhead is what a record takes beside key and value, generously.
const recordOverhead = 256

func (g *group) add(changes Changes) error {
	size := 0
	for _, list := range [][]catalog.Change{changes.Catalog, changes.Ledger} {
		for _, c := range list {
			n := len(c.Key) + len(c.Value) + recordOverhead
			if n > g.limit {
				return fmt.Errorf("%w: it has %d bytes, %d are allowed", ErrTooLarge, n, g.limit)
			}
			size += n
		}
	}
	after, err := g.after.With(changes.Catalog, g.now)
	if err != nil {
		return fmt.Errorf("the change contradicts what is registered: %w", err)
	}
	g.after, g.ledger, g.bytes = after, g.ledger.With(changes.Ledger), g.bytes+size
	g.changes.Catalog = append(g.changes.Catalog, changes.Catalog...)
	g.changes.Ledger = append(g.changes.Ledger, changes.Ledger...)
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

// commit writes changes in one transaction and waits until they are replayed. It returns the offset of the catalog's
// topic that shows them.
func (m *manager) commit(ctx context.Context, changes Changes, now int64) (int64, error) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, m.opts.WriteTimeout)
	defer cancel()
	err := m.prepareLedger(ctx, changes)
	var last written
	if err == nil {
		last, err = m.writer.write(ctx, changes, now)
	}
	if err == nil && len(changes.Catalog) > 0 {
		err = replayed(ctx, m.tail, m.writer, last.catalog)
	}
	if err == nil && len(changes.Ledger) > 0 {
		err = replayed(ctx, m.ledger, m.writer, last.ledger)
	}
	m.metrics.commitTime.Observe(time.Since(start).Seconds())
	outcome := "committed"
	if err != nil {
		outcome = "failed"
	}
	m.metrics.commits.WithLabelValues(outcome).Inc()
	if len(changes.Catalog) == 0 {
		return m.state.load().catalog.Offset(), err
	}
	return last.catalog + 1, err
}

// prepareLedger makes the ledger's topic before it is written for the first time.
func (m *manager) prepareLedger(ctx context.Context, changes Changes) error {
	if len(changes.Ledger) == 0 || m.ledger.state.load().exists {
		return nil
	}
	if err := m.admin.prepare(ctx, m.opts.LedgerTopic, m.opts.ReplicationFactor); err != nil {
		return fmt.Errorf("%w: nothing was written: %w", ErrUnavailable, err)
	}
	if _, err := caughtUp(ctx, m.admin, m.ledger); err != nil {
		return fmt.Errorf("%w: nothing was written: %w", ErrUnavailable, err)
	}
	return nil
}

// replayed waits until a tail has passed an offset, and makes sure that it has seen the writer's last commit there: what
// a client takes for committed may have been rolled back.
func replayed[V any, P value[V]](ctx context.Context, t *tailOf[V, P], w *writer, last int64) error {
	p, err := t.state.wait(ctx, func(p *publishedOf[V, P]) bool { return p.catalog.Offset() > last })
	if err != nil {
		return fmt.Errorf("replay %s up to offset %d, which is written: %w", t.topic, last, err)
	}
	switch g := p.catalog.Generation(); {
	case g == w.generation && p.catalog.Commit() >= w.commits:
		return nil
	case g > w.generation:
		return fmt.Errorf("%w: another replica wrote before it was replayed", ErrUnavailable)
	}
	return fmt.Errorf("%w: the transaction was rolled back, nothing was written", ErrUnavailable)
}

// written are the offsets of the last records of a transaction.
type written struct{ catalog, ledger int64 }

// write appends in one transaction.
func (w *writer) write(ctx context.Context, changes Changes, now int64) (last written, err error) {
	if err := w.client.BeginTransaction(); err != nil {
		return last, w.failure("begin a transaction", err)
	}
	w.commits++
	done := make(chan error, len(changes.Catalog)+len(changes.Ledger))
	w.produce(ctx, w.topic, changes.Catalog, now, &last.catalog, done)
	w.produce(ctx, w.ledger, changes.Ledger, now, &last.ledger, done)
	if err := w.client.Flush(ctx); err != nil {
		return last, w.abort("write", err)
	}
	for range cap(done) {
		err = errors.Join(err, <-done)
	}
	if err != nil {
		return last, w.abort("write", err)
	}
	if len(changes.Catalog) > 0 {
		err = w.awaitPartition(ctx, w.topic)
	}
	if err == nil && len(changes.Ledger) > 0 {
		err = w.awaitPartition(ctx, w.ledger)
	}
	if err != nil {
		return last, w.abort("commit", err)
	}
	if err := w.client.EndTransaction(ctx, kgo.TryCommit); err != nil {
		return last, w.failure("commit", err)
	}
	return last, nil
}

// produce hands the changes of one topic to the client. Each is answered through done; last becomes the highest offset,
// and may be read when all are.
func (w *writer) produce(ctx context.Context, topic string, changes []catalog.Change, now int64, last *int64, done chan<- error) {
	for i, c := range changes {
		r := &kgo.Record{
			Topic: topic, Key: c.Key, Value: c.Value, Timestamp: time.UnixMilli(now),
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
				*last = max(*last, r.Offset)
			}
			done <- err
		})
	}
}

// awaitPartition waits until the client knows the partition that it has just written to. With the first records of a
// client it learns that a moment after their promises are kept; a transaction that ends in between looks empty to it, and
// it rolls it back and says that it is committed.
func (w *writer) awaitPartition(ctx context.Context, topic string) error {
	for {
		leader, _, err := w.client.PartitionLeader(topic, 0)
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
