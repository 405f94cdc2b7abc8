package embedded

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"

	"moldau/broker/metadata"
	"moldau/internal/invariant"
)

// history remembers recent changes in memory. It need not outlive the process: neither do its watchers, which list
// everything again when they start.
//
// What every watcher has taken is forgotten but for a tail, which covers the moment between a List and the Watch after
// it. What some watcher has not taken is kept up to maxBytes; then the watcher has to list again.
type history struct {
	maxBytes int

	mu       sync.Mutex
	base     metadata.Rev // changes after this revision are known
	last     metadata.Rev
	changes  []change // ascending revisions
	bytes    int
	changed  chan struct{} // closed and replaced when something is added
	watchers map[*watcher]struct{}
}

// change is everything that one revision did.
type change struct {
	rev    metadata.Rev
	events []metadata.Event
	bytes  int
}

// tailBytes is what is kept although every watcher has taken it.
const tailBytes = 256 << 10

// eventOverhead is roughly what an event costs beside its key and value.
const eventOverhead = 96

func newHistory(rev metadata.Rev, maxBytes int) *history {
	return &history{
		maxBytes: maxBytes, base: rev, last: rev,
		changed: make(chan struct{}), watchers: map[*watcher]struct{}{},
	}
}

// add appends changes and wakes the watchers.
func (h *history) add(changes []change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range changes {
		invariant.Check(c.rev == h.last+1, "revision %d follows %d", c.rev, h.last)
		for _, e := range c.events {
			c.bytes += len(e.KV.Key) + len(e.KV.Value) + eventOverhead
		}
		h.changes = append(h.changes, c)
		h.bytes += c.bytes
		h.last = c.rev
	}
	h.trim()
	close(h.changed)
	h.changed = make(chan struct{})
}

// trim forgets what is not needed or no longer affordable.
func (h *history) trim() {
	taken := h.last
	for w := range h.watchers {
		taken = min(taken, w.cursor)
	}
	n := 0
	for n < len(h.changes) {
		c := &h.changes[n]
		if h.bytes <= tailBytes || h.bytes <= h.maxBytes && c.rev > taken {
			break
		}
		h.bytes -= c.bytes
		h.base = c.rev
		n++
	}
	if n == 0 {
		return
	}
	rest := h.changes[n:]
	if n*2 < len(h.changes) {
		clear(h.changes[:n])
		h.changes = rest
		return
	}
	h.changes = append(make([]change, 0, 2*len(rest)), rest...)
}

// watcher is one Watch. Its goroutine ends when its context ends, the store stops, or it fell behind.
type watcher struct {
	prefix string
	cursor metadata.Rev // everything up to here was taken; guarded by history.mu
	out    chan metadata.Batch
}

// watch registers a watcher.
func (h *history) watch(prefix string, after metadata.Rev) (*watcher, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if after < h.base {
		return nil, fmt.Errorf("watch after revision %d, known after %d: %w", after, h.base, metadata.ErrCompacted)
	}
	w := &watcher{prefix: prefix, cursor: after, out: make(chan metadata.Batch)}
	h.watchers[w] = struct{}{}
	return w, nil
}

func (h *history) forget(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watchers, w)
	h.trim()
}

// batchEvents is the number of events at which a batch is closed; a single revision may have more.
const batchEvents = 1024

// take returns the next changes for a watcher, or a channel that is closed when there are some.
func (h *history) take(w *watcher) (metadata.Batch, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.cursor < h.base {
		return metadata.Batch{Rev: w.cursor, Err: fmt.Errorf("watcher at revision %d, known after %d: %w", w.cursor, h.base, metadata.ErrCompacted)}, nil
	}
	i := sort.Search(len(h.changes), func(i int) bool { return h.changes[i].rev > w.cursor })
	var b metadata.Batch
	for ; i < len(h.changes) && len(b.Events) < batchEvents; i++ {
		c := &h.changes[i]
		w.cursor = c.rev
		for _, e := range c.events {
			if strings.HasPrefix(e.KV.Key, w.prefix) {
				b.Events = append(b.Events, e)
				b.Rev = c.rev
			}
		}
	}
	if len(b.Events) > 0 {
		return b, nil
	}
	return b, h.changed
}

// run delivers until ctx or stop ends it. It owns w.out.
func (h *history) run(ctx context.Context, w *watcher, stop <-chan struct{}) {
	defer close(w.out)
	defer h.forget(w)
	for {
		batch, changed := h.take(w)
		out := w.out
		if changed != nil {
			out = nil
		}
		select {
		case out <- batch:
			if batch.Err != nil {
				return
			}
		case <-changed:
		case <-ctx.Done():
			return
		case <-stop:
			return
		}
	}
}
