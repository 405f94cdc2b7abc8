package storage

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
)

// load opens every log of a directory, several at a time, before the directory's goroutines run. After an unclean stop everything
// that was found is made durable in the end: it may have been in the page cache only.
func (e *Engine) load(ctx context.Context, d *logDir) error {
	clean, err := takeCleanShutdown(e.env.o.FS, d.path)
	if err != nil {
		return err
	}
	known, err := d.readCheckpoints()
	if err != nil {
		return err
	}
	entries, err := e.env.o.FS.ReadDir(d.path)
	if err != nil {
		return err
	}
	var parts []TopicPartition
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		if strings.HasSuffix(entry.Name(), deleteSuffix) {
			d.sweeper.discard(filepath.Join(d.path, entry.Name()), 0)
		} else if tp, ok := parseDirName(entry.Name()); ok {
			parts = append(parts, tp)
		}
	}
	if err := e.loadAll(ctx, d, parts, known, clean); err != nil {
		return err
	}
	if !clean {
		if err := d.syncLoaded(); err != nil {
			return err
		}
	}
	for _, l := range d.list() {
		if l.err.Load() == nil {
			l.flushedEnd = l.end.Load()
		}
	}
	d.pointsChanged.Store(!clean)
	return nil
}

// loadAll recovers logs with a bounded number of goroutines, which end before it returns.
func (e *Engine) loadAll(ctx context.Context, d *logDir, parts []TopicPartition, known checkpoints, clean bool) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	work := make(chan TopicPartition)
	for range e.env.o.RecoveryThreads {
		wg.Go(func() {
			for tp := range work {
				l, err := recoverLog(e.env, d, tp, found{
					point: known.points[tp], start: known.starts[tp], hw: known.hws[tp], cleaned: known.cleaned[tp], clean: clean,
					lost: known.pointsLost, startLost: known.startsLost || d.foreign,
				})
				mu.Lock()
				if err == nil && l != nil {
					if other := e.logs[tp]; other != nil {
						err = fmt.Errorf("log %s is in %s and in %s", tp, other.dir.path, d.path)
					} else {
						e.logs[tp] = l
						d.add(l)
					}
				}
				if err != nil {
					errs = append(errs, err)
				}
				mu.Unlock()
			}
		})
	}
feed:
	for _, tp := range parts {
		select {
		case work <- tp:
		case <-ctx.Done():
			errs = append(errs, ctx.Err())
			break feed
		}
	}
	close(work)
	wg.Wait()
	return errors.Join(errs...)
}

// syncLoaded makes what was found durable.
func (d *logDir) syncLoaded() error {
	err := d.volume.Sync()
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	var jobs []func() error
	for _, l := range d.list() {
		if l.err.Load() != nil {
			continue
		}
		for _, s := range l.segments() {
			if s.w.unsynced {
				for _, f := range s.files() {
					jobs = append(jobs, func() error { return l.syncFound(f) })
				}
			}
		}
		jobs = append(jobs, func() error { return d.env.o.FS.SyncDir(l.path) })
	}
	jobs = append(jobs, func() error { return d.env.o.FS.SyncDir(d.path) })
	return inParallel(syncWorkers, jobs)
}

// syncFound makes one file durable. An index without entries may have none.
func (l *Log) syncFound(f *file) error {
	if _, err := l.env.files.pin(f, 0); err != nil {
		if isNotExist(err) {
			return nil
		}
		return err
	}
	defer l.env.files.unpin(f)
	return f.sync()
}
