package storage

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// Delete takes a log out of the engine. Its directory is renamed at once, so that the partition can be made anew, and removed after
// the topic's file.delete.delay.ms (at once on a full disk), when no Slice is in use any more.
func (e *Engine) Delete(l *Log) error {
	e.mu.Lock()
	if e.logs[l.tp] != l {
		e.mu.Unlock()
		return fmt.Errorf("delete %s: %w", l.tp, ErrClosed)
	}
	delete(e.logs, l.tp)
	e.claims[l.tp] = true // until its directory has another name
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		delete(e.claims, l.tp)
		e.mu.Unlock()
	}()
	pins := l.release()
	to := filepath.Join(l.dir.path, deletedDirName(l.tp))
	if err := e.env.o.FS.Rename(l.path, to); err != nil {
		return l.ioError("delete", err)
	}
	l.dir.remove(l)
	l.dir.sweeper.discard(to, l.dir.deleteDelay(l.Config()), pins...)
	return nil
}

// release ends the log's life: no more appends or reads, and no descriptors but those of slices in use. It returns its files.
func (l *Log) release() []*file {
	l.fail(ErrClosed)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range l.dirty {
		l.env.files.unpin(d.f)
		l.env.files.drop(d.f)
	}
	l.dirty, l.gone = nil, true
	var files []*file
	if v := l.view.Load(); v != nil {
		for _, s := range *v {
			s.w.h, s.aborted.h = nil, nil
			s.drop()
			files = append(files, s.files()...)
		}
	}
	return files
}

// Close flushes all logs, completes indexes and snapshots, writes the checkpoints, marks each directory as closed cleanly, and gives
// the directories back. If ctx ends first, or a directory is offline, its directories are not marked: the next start recovers them.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.mu.Unlock()
	e.cleaner.stop()
	errs := make([]error, 0, 2*len(e.dirs))
	for _, d := range e.dirs {
		errs = append(errs, e.closeDir(ctx, d))
	}
	e.dropAll()
	errs = append(errs, e.unlock())
	return errors.Join(errs...)
}

// closeDir brings one directory to rest. Log files are flushed before the recovery point is written, and everything before the mark.
func (e *Engine) closeDir(ctx context.Context, d *logDir) error {
	logs := d.list()
	var errs []error
	for _, l := range logs {
		if ctx.Err() != nil || d.offlineErr() != nil {
			break
		}
		errs = append(errs, l.finish())
	}
	d.stop()
	err := errors.Join(append(errs, ctx.Err(), d.offlineErr())...)
	if err != nil {
		return fmt.Errorf("close log directory %s: %w", d.path, err)
	}
	if err := d.writeCheckpoints(true, true); err != nil {
		return fmt.Errorf("close log directory %s: %w", d.path, err)
	}
	if err := writeCleanShutdown(e.env.o.FS, d.path); err != nil {
		return fmt.Errorf("close log directory %s: %w", d.path, err)
	}
	return nil
}

// finish completes the log for a clean stop: indexes, a snapshot at the end, and a place on the flusher's list. No append follows.
func (l *Log) finish() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Err() != nil {
		return nil // damaged or deleted: stays as it is
	}
	l.fail(ErrClosed)
	s := l.active()
	if l.end.Load() > l.snapAt || s.index.dirty() || s.times.dirty() || s.w.largest.timestamp > s.w.lastTime.timestamp {
		l.saveIndexes(s, (*segment).sealIndexes)
	}
	l.snapshot(l.end.Load())
	if len(l.dirty) > 0 || l.dirDirty || l.newborn {
		l.queued = false
		l.wantFlush(true)
	}
	return nil
}
