package storage

import (
	"container/heap"
	"sync"
	"time"
)

// sweeper removes files and directories of one log directory that were marked as deleted, once their delay is over and nobody reads
// them any more. One goroutine, owned by the engine, ends with stop; what is left then is removed after the next start.
type sweeper struct {
	dir *logDir

	mu    sync.Mutex
	queue trashHeap
	kick  chan struct{} // has room for one
	quit  chan struct{} // closed by stop
	done  chan struct{} // closed by run
}

// trash is something to remove: a file, or a directory with all in it.
type trash struct {
	path string
	due  time.Time
	pins []*file // must not be in use
}

// pinnedRetry is how long something that is still being read is left alone.
const pinnedRetry = 5 * time.Second

func newSweeper(d *logDir) *sweeper {
	return &sweeper{dir: d, kick: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
}

// discard removes path after delay.
func (s *sweeper) discard(path string, delay time.Duration, pins ...*file) {
	s.mu.Lock()
	heap.Push(&s.queue, trash{path: path, due: time.Now().Add(delay), pins: pins})
	s.mu.Unlock()
	s.wake()
}

// hurry makes everything due now.
func (s *sweeper) hurry() {
	s.mu.Lock()
	now := time.Now()
	for i := range s.queue {
		s.queue[i].due = now // equal everywhere, so that it still is a heap
	}
	s.mu.Unlock()
	s.wake()
}

func (s *sweeper) wake() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

func (s *sweeper) stop() {
	close(s.quit)
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.queue {
		for _, f := range t.pins {
			s.dir.env.files.drop(f)
		}
	}
}

func (s *sweeper) run() {
	defer close(s.done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		t, wait := s.next()
		if wait <= 0 {
			s.remove(t)
			select {
			case <-s.quit:
				return
			default:
				continue
			}
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-s.kick:
		case <-s.quit:
			return
		}
	}
}

// next takes the first item if it is due, else tells how long to wait.
func (s *sweeper) next() (trash, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return trash{}, time.Hour
	}
	if wait := time.Until(s.queue[0].due); wait > 0 {
		return trash{}, wait
	}
	return heap.Pop(&s.queue).(trash), 0
}

func (s *sweeper) remove(t trash) {
	for _, f := range t.pins {
		if s.dir.env.files.pinned(f) {
			s.discard(t.path, pinnedRetry, t.pins...)
			return
		}
	}
	for _, f := range t.pins {
		s.dir.env.files.drop(f)
	}
	if err := s.dir.env.o.FS.RemoveAll(t.path); err != nil {
		s.dir.env.logger.Warn("could not remove deleted files; the next start tries again", "path", t.path, "err", err)
	}
}

// trashHeap orders by due time.
type trashHeap []trash

func (h trashHeap) Len() int           { return len(h) }
func (h trashHeap) Less(i, j int) bool { return h[i].due.Before(h[j].due) }
func (h trashHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *trashHeap) Push(x any)        { *h = append(*h, x.(trash)) }
func (h *trashHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	*h = old[:len(old)-1]
	return t
}
