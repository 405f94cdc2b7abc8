package storage

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"moldau/broker/record"
)

// Engine holds the logs of a broker in one or several log directories. All methods may be called concurrently.
type Engine struct {
	env     *environment
	dirs    []*logDir
	cleaner *cleaner

	mu     sync.RWMutex // memory only
	logs   map[TopicPartition]*Log
	claims map[TopicPartition]bool // being created
	closed bool
}

// DirInfo describes one log directory, for DescribeLogDirs.
type DirInfo struct {
	Path   string
	ID     TopicID // directory.id of meta.properties
	Total  int64   // bytes of the file system, -1 if unknown
	Usable int64   // bytes left for us, -1 if unknown
	Err    error   // not nil when the directory is offline
}

// Stats are gauges of an Engine.
type Stats struct {
	OpenFiles   int // descriptors of segments and indexes
	OfflineDirs int
	Logs        int
	ReadOnly    int // logs that are damaged
	Unflushed   int // logs that await a flush
}

// Open claims the log directories and recovers their logs in parallel. Any directory that can't be used fails it, because a broker
// that starts without one would make the partitions in it anew, and empty.
func Open(ctx context.Context, o Options) (*Engine, error) {
	o = o.withDefaults()
	if len(o.Dirs) == 0 {
		return nil, errors.New("no log directories")
	}
	env := &environment{o: o, now: o.Now, logger: o.Logger, unpack: record.NewDecompressor(record.Limits{})}
	e := &Engine{env: env, logs: make(map[TopicPartition]*Log), claims: make(map[TopicPartition]bool)}
	e.cleaner = newCleaner(e)
	env.files = newFileCache(o.FS, max(o.MaxOpenFiles, minOpenFiles), e.hurry)
	for _, path := range o.Dirs {
		d, err := openDir(env, filepath.Clean(path))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open log directory %s: %w", path, err), e.unlock())
		}
		e.dirs = append(e.dirs, d)
	}
	for _, d := range e.dirs {
		if err := e.load(ctx, d); err != nil {
			e.dropAll()
			return nil, errors.Join(fmt.Errorf("open log directory %s: %w", d.path, err), e.unlock())
		}
	}
	for _, d := range e.dirs {
		d.run()
	}
	e.cleaner.start(o.Cleaner)
	return e, nil
}

// hurry lets go of descriptors: every flusher flushes what it holds.
func (e *Engine) hurry() {
	for _, d := range e.dirs {
		d.flusher.hurry()
	}
}

func (e *Engine) unlock() error {
	var errs []error
	for _, d := range e.dirs {
		errs = append(errs, d.release())
	}
	return errors.Join(errs...)
}

func (e *Engine) dropAll() {
	for _, l := range e.Logs() {
		l.release()
	}
}

// Log returns the log of a partition.
func (e *Engine) Log(tp TopicPartition) (*Log, bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	l, ok := e.logs[tp]
	return l, ok
}

// Logs returns all logs, in no order.
func (e *Engine) Logs() []*Log {
	e.mu.RLock()
	defer e.mu.RUnlock()
	out := make([]*Log, 0, len(e.logs))
	for _, l := range e.logs {
		out = append(out, l)
	}
	return out
}

// Dirs describes the log directories, in the order of Options.Dirs.
func (e *Engine) Dirs() []DirInfo {
	out := make([]DirInfo, 0, len(e.dirs))
	for _, d := range e.dirs {
		info := DirInfo{Path: d.path, ID: d.id, Total: -1, Usable: -1, Err: d.offlineErr()}
		if u, err := e.env.o.FS.Usage(d.path); err == nil {
			info.Total, info.Usable = u.Total, u.Usable
		}
		out = append(out, info)
	}
	return out
}

// Stats returns gauges.
func (e *Engine) Stats() Stats {
	s := Stats{OpenFiles: e.env.files.openFiles()}
	for _, d := range e.dirs {
		if d.offlineErr() != nil {
			s.OfflineDirs++
		}
		s.Unflushed += d.flusher.waiting()
	}
	for _, l := range e.Logs() {
		s.Logs++
		if errors.Is(l.Err(), ErrReadOnly) {
			s.ReadOnly++
		}
	}
	return s
}

// RecoveryReport says what recovery found and did.
type RecoveryReport struct {
	// Clean says that the log was closed cleanly and nothing had to be checked.
	Clean bool
	// Scanned is how many bytes of record batches were checked.
	Scanned int64
	// Cut is how many bytes were taken off the end, moved ones included.
	Cut int64
	// Moved names the files to which whole batches behind a bad one were moved.
	Moved []string
	// Took is the time it took.
	Took time.Duration
}
