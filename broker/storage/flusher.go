package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"
)

// flusher makes the logs of one directory durable. One goroutine, owned by the engine, ends with stop.
//
// Logs ask for a flush with enqueue. Each round takes all logs that are due, makes their files durable together, and only then moves
// their flushed ends: what arrives while a round is under way waits for the next one, so that a busy directory pays one round for many
// appends. An error takes the directory offline; there is no second try, because after a failed fsync nobody knows what is on disk.
type flusher struct {
	dir  *logDir
	cost syncCost

	mu    sync.Mutex // memory only
	queue flushQueue
	kick  chan struct{} // has room for one: something changed
	quit  chan struct{} // closed by stop
	done  chan struct{} // closed by run
}

func newFlusher(d *logDir) *flusher {
	return &flusher{
		dir: d, cost: newSyncCost(),
		kick: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
}

// enqueue asks for a flush of the log after wait at the latest.
func (f *flusher) enqueue(l *Log, wait time.Duration) {
	due := time.Time{} // at once
	if wait > 0 {
		due = time.Now().Add(wait)
	}
	f.mu.Lock()
	first := f.queue.push(l, due)
	f.mu.Unlock()
	if first {
		f.wake()
	}
}

func (f *flusher) wake() {
	select {
	case f.kick <- struct{}{}:
	default:
	}
}

// hurry makes everything due now: descriptors run short.
func (f *flusher) hurry() {
	f.mu.Lock()
	f.queue.hurry()
	f.mu.Unlock()
	f.wake()
}

// waiting returns how many logs await a flush.
func (f *flusher) waiting() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.queue.len()
}

// stop flushes what is left and ends the goroutine.
func (f *flusher) stop() {
	close(f.quit)
	<-f.done
}

func (f *flusher) run() {
	defer close(f.done)
	timer := time.NewTimer(relaxedFlushEvery)
	defer timer.Stop()
	told := false // watchers know that the directory is offline
	for {
		quit := false
		select {
		case <-f.kick:
		case <-timer.C:
		case <-f.quit:
			quit = true
			f.hurry()
		}
		if err := f.dir.offlineErr(); err != nil && !told {
			told = true
			for _, l := range f.dir.list() {
				l.flushFailed(err)
			}
		}
		for {
			due, next := f.take(time.Now())
			if len(due) == 0 {
				timer.Reset(next)
				break
			}
			f.flush(due)
		}
		if quit {
			return
		}
	}
}

// take removes the logs that are due from the queue, and tells when the next one will be.
func (f *flusher) take(now time.Time) (due []*Log, next time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.queue.take(nil, now, relaxedFlushEvery)
}

// flushing is one log's part of a round.
type flushing struct {
	l         *Log
	end       int64
	active    *segment
	size      int64
	cuts      int
	files     []dirtyFile
	pending   []pendingSnapshot
	dirDirty  bool
	newborn   bool
	snapshots bool // snapshot files are among the files
}

// flush runs one round.
func (f *flusher) flush(logs []*Log) {
	round := make([]flushing, 0, len(logs))
	files := 0
	for _, l := range logs {
		p := l.beginFlush()
		files += len(p.files)
		round = append(round, p)
	}
	err := f.dir.offlineErr()
	if err == nil {
		began := time.Now()
		if err = f.sync(round, files); err != nil {
			f.dir.goOffline(fmt.Errorf("flush %s: %w", f.dir.path, err))
		} else {
			f.dir.env.o.Metrics.Flushed(f.dir.path, files, time.Since(began))
		}
	}
	for _, p := range round {
		for _, d := range p.files {
			f.dir.env.files.unpin(d.f)
			if d.transient {
				f.dir.env.files.drop(d.f)
			}
		}
		if err == nil {
			p.l.endFlush(p)
		}
	}
}

// sync makes the files and names of a round durable by whichever way is cheaper.
func (f *flusher) sync(round []flushing, files int) error {
	names := f.names(round)
	n := files + len(names)
	if n == 0 {
		return nil
	}
	began := time.Now()
	if f.cost.choose(n) == syncByFS {
		err := f.dir.volume.Sync()
		if !errors.Is(err, errors.ErrUnsupported) {
			f.cost.measured(syncByFS, n, time.Since(began))
			return err
		}
		f.cost.unsupported()
		began = time.Now()
	}
	if err := f.syncEach(round, names); err != nil {
		return err
	}
	f.cost.measured(syncByFile, n, time.Since(began))
	return nil
}

// names lists the directories with names that are not durable yet.
func (f *flusher) names(round []flushing) []string {
	var names []string
	parent := false
	for _, p := range round {
		if p.dirDirty {
			names = append(names, p.l.path)
		}
		parent = parent || p.newborn
	}
	if parent {
		names = append(names, f.dir.path)
	}
	return names
}

// syncWorkers is how many files are synced at a time where there is no syncfs.
const syncWorkers = 8

// syncEach syncs each file and each directory by itself, several at a time.
func (f *flusher) syncEach(round []flushing, names []string) error {
	var jobs []func() error
	for _, p := range round {
		for _, d := range p.files {
			jobs = append(jobs, d.f.sync)
		}
	}
	for _, name := range names {
		jobs = append(jobs, func() error {
			err := f.dir.env.o.FS.SyncDir(name)
			if errors.Is(err, fs.ErrNotExist) && name != f.dir.path {
				return nil // the log was deleted meanwhile
			}
			return err
		})
	}
	return inParallel(syncWorkers, jobs)
}

// inParallel runs jobs, at most n at a time, and returns their errors. With few jobs it starts no goroutine.
func inParallel(n int, jobs []func() error) error {
	if len(jobs) <= 2 {
		for _, job := range jobs {
			if err := job(); err != nil {
				return err
			}
		}
		return nil
	}
	errs := make([]error, len(jobs))
	var wg sync.WaitGroup
	slots := make(chan struct{}, n)
	for i, job := range jobs {
		slots <- struct{}{}
		wg.Go(func() {
			errs[i] = job()
			<-slots
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// sync makes a pinned file durable.
func (f *file) sync() error {
	if err := f.f.Sync(); err != nil { // f.f doesn't change while the file is pinned
		return fmt.Errorf("sync %s: %w", filepath.Base(f.path), err)
	}
	return nil
}

// beginFlush says what must become durable for the log to be flushed to where it ends now. What the log had pinned is the round's.
func (l *Log) beginFlush() flushing {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.active()
	if l.snapBytes >= snapshotEvery && l.Err() == nil {
		l.proveEnd(s)
	}
	p := flushing{
		l: l, end: l.end.Load(), active: s, size: s.size, files: l.dirty, pending: l.pending,
		dirDirty: l.dirDirty || l.newborn, newborn: l.newborn,
	}
	l.dirty, l.pending, l.dirDirty, l.newborn = nil, nil, false, false
	l.queued, l.urgent = false, false
	s.w.h, s.aborted.h = nil, nil
	for _, d := range p.files {
		p.snapshots = p.snapshots || d.transient
	}
	l.flushMu.Lock()
	p.cuts = l.cuts
	l.flushMu.Unlock()
	return p
}

// endFlush moves the flushed end and tells who waits.
func (l *Log) endFlush(p flushing) {
	l.flushMu.Lock()
	advanced := p.cuts == l.cuts && p.end > l.flushedEnd
	if advanced {
		l.flushedEnd = p.end
		p.active.mu.Lock()
		p.active.flushed = mark{p.end, p.size}
		p.active.mu.Unlock()
	}
	ch, w := l.flushed, l.watcher
	l.flushed = nil
	l.flushMu.Unlock()
	if ch != nil {
		close(ch)
	}
	if advanced {
		l.dir.pointsChanged.Store(true)
		if w != nil {
			w.Flushed(p.end)
		}
	}
	switch {
	case len(p.pending) > 0:
		l.writeSnapshots(p)
	case p.snapshots:
		l.thinSnapshots()
	}
}

// flushFailed tells who waits that the directory is offline.
func (l *Log) flushFailed(err error) {
	l.flushMu.Lock()
	ch, w := l.flushed, l.watcher
	l.flushed = nil
	l.flushMu.Unlock()
	if ch != nil {
		close(ch)
	}
	if w != nil {
		w.Failed(err)
	}
}
