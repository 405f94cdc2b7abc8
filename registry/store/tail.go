package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/registry/catalog"
)

// Headers of records.
const (
	generationHeader = "moldau.generation" // of the writer, in decimal
	commitHeader     = "moldau.commit"     // counts the commits of the generation, in decimal
	moreHeader       = "moldau.more"       // how many records of the same commit follow, in decimal; none when it is missing
)

const (
	absentWait = time.Second     // until a missing topic is looked for again
	brokenWait = 2 * time.Second // until a topic that can't be read is tried again
)

// tail replays the catalog's topic, ledgerTail the ledger's.
type (
	tail       = tailOf[catalog.Catalog, *catalog.Catalog]
	ledgerTail = tailOf[catalog.Ledger, *catalog.Ledger]
)

// tailOf replays a topic. Its goroutine owns all fields that change.
type tailOf[V any, P value[V]] struct {
	admin   *admin
	topic   string
	state   *stateOf[V, P]
	log     *slog.Logger
	metrics *metrics
	kick    chan struct{} // asks to look for a missing topic now

	id      [16]byte // of the topic that is read; zero when none was read yet
	catalog P        // with every record up to offset
	shown   P        // the last one that holds only whole commits
	offset  int64
	target  int64 // where the end of the topic was when reading began
	loaded  bool
	held    int // how many records of a commit are to come until it may be seen
}

// wake makes the tail look for the topic at once.
func (t *tailOf[V, P]) wake() {
	select {
	case t.kick <- struct{}{}:
	default:
	}
}

// run reads until ctx ends, whatever happens.
func (t *tailOf[V, P]) run(ctx context.Context) {
	t.catalog, t.shown = P(new(V)), P(new(V))
	for ctx.Err() == nil {
		err := t.read(ctx)
		wait := brokenWait
		switch {
		case ctx.Err() != nil:
			return
		case absent(err) && t.id == [16]byte{}:
			wait = absentWait
			t.loaded = true // there is nothing, and that is all
			t.publish(nil)
		case moved(err) && !errors.Is(err, ErrTopic):
			t.log.Debug("the registry's topic is read again", "topic", t.topic, "err", err)
			wait = 100 * time.Millisecond
		default:
			if old := t.state.load().err; old == nil || errors.Is(err, ErrTopic) != errors.Is(old, ErrTopic) {
				t.log.Warn("the registry's topic can't be read; it is tried again", "topic", t.topic, "err", err)
			}
			t.publish(err)
		}
		t.pause(ctx, wait)
	}
}

func (t *tailOf[V, P]) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.kick:
	case <-ctx.Done():
	}
}

// publish shows what is loaded; while loading, what was shown before.
func (t *tailOf[V, P]) publish(err error) {
	p := *t.state.load()
	if t.loaded {
		p.catalog, p.loaded, p.exists = t.shown, true, t.id != [16]byte{}
	}
	p.err = err
	t.state.publish(p)
}

// read finds the topic and reads it until something goes wrong.
func (t *tailOf[V, P]) read(ctx context.Context) error {
	at, err := t.admin.find(ctx, t.topic)
	if err != nil {
		if errors.Is(err, kerr.UnknownTopicOrPartition) && t.id != [16]byte{} {
			return fmt.Errorf("%w: %s was deleted; what it held is still served: %w", ErrTopic, t.topic, err)
		}
		return err
	}
	if err := t.admin.fit(ctx, t.topic, at); err != nil {
		return err
	}
	if at.id != t.id || t.id == [16]byte{} {
		if err := t.begin(ctx, at); err != nil {
			return err
		}
	}
	for {
		f, err := t.admin.fetch(ctx, t.topic, at, t.offset, fetchWait)
		if errors.Is(err, kerr.OffsetOutOfRange) {
			t.log.Warn("the registry's topic was cut; it is loaded again", "topic", t.topic, "offset", t.offset)
			if err := t.begin(ctx, at); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		t.apply(f)
	}
}

// begin starts over with an empty catalog. What was published stays until the new one is loaded.
func (t *tailOf[V, P]) begin(ctx context.Context, at place) (err error) {
	if t.target, err = t.admin.offset(ctx, t.topic, at, latest, true); err != nil {
		return err
	}
	if t.offset, err = t.admin.offset(ctx, t.topic, at, earliest, false); err != nil {
		return err
	}
	t.id, t.catalog, t.shown, t.held = at.id, P(new(V)), P(new(V)), 0
	if t.id == [16]byte{} {
		t.id[0] = 1 // a cluster without topic ids: it was read, which is all that counts
	}
	t.loaded = t.offset >= t.target
	if t.loaded {
		t.publish(nil)
	}
	return nil
}

// apply replays records and shows the result, but no part of a commit without the rest. At the end of the topic there is no rest:
// what a commit wrote last may have been compacted away, as it happens to a removal when nothing follows it.
func (t *tailOf[V, P]) apply(f fetched) {
	for _, r := range f.records {
		c, err := t.catalog.Apply(catalog.Record{
			Key: r.Key, Value: r.Value, Offset: r.Offset, Timestamp: r.Timestamp.UnixMilli(),
			Generation: number(r, generationHeader), Commit: number(r, commitHeader),
		})
		if err != nil {
			t.metrics.refused.Inc()
			t.log.Warn("a record of the registry's topic is left out", "topic", t.topic, "err", err)
		}
		t.catalog = c
		t.held = int(number(r, moreHeader))
		if t.held == 0 {
			t.shown = c
		}
	}
	t.offset = f.next
	if f.end {
		t.held = 0
	}
	if t.held == 0 {
		t.catalog = t.catalog.At(f.next)
		t.shown = t.catalog
	}
	t.loaded = t.loaded || f.next >= t.target
	if p := t.state.load(); t.loaded && (!p.loaded || p.catalog != t.shown || p.err != nil) {
		t.publish(nil)
	}
}

// number reads a header; zero when it is missing or no number.
func number(r *kgo.Record, header string) int64 {
	for _, h := range r.Headers {
		if h.Key == header {
			n, err := strconv.ParseInt(string(h.Value), 10, 64)
			if err != nil || n < 0 {
				return 0
			}
			return n
		}
	}
	return 0
}
