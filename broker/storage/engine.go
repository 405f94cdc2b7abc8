package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

// Engine holds the logs of a broker in one or several log directories. All methods may be called concurrently.
type Engine struct {
	env  *environment
	dirs []*logDir

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
		errs = append(errs, d.lock.Close())
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

// Create makes the log of a new partition, in the working directory that holds the fewest. ErrLogExists if there is one already.
// The directory becomes durable with the first flush, within some seconds; an empty log may be gone after a power cut.
func (e *Engine) Create(tp TopicPartition, id TopicID, c Config) (*Log, error) {
	if err := checkName(tp); err != nil {
		return nil, err
	}
	if err := e.claim(tp); err != nil {
		return nil, fmt.Errorf("create log %s: %w", tp, err)
	}
	l, err := e.create(tp, id, c)
	e.mu.Lock()
	delete(e.claims, tp)
	if err == nil {
		e.logs[tp] = l
	}
	e.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("create log %s: %w", tp, err)
	}
	return l, nil
}

// checkName refuses partitions whose directory could not be found again.
func checkName(tp TopicPartition) error {
	name := tp.String()
	if got, ok := parseDirName(name); !ok || got != tp || filepath.Base(name) != name || len(name) > maxDirName {
		return fmt.Errorf("create log %q: not a valid partition name", name)
	}
	return nil
}

func (e *Engine) claim(tp TopicPartition) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrClosed
	}
	if e.logs[tp] != nil || e.claims[tp] {
		return ErrLogExists
	}
	e.claims[tp] = true
	return nil
}

func (e *Engine) create(tp TopicPartition, id TopicID, c Config) (*Log, error) {
	d := e.emptiest()
	if d == nil {
		return nil, fmt.Errorf("every log directory is offline: %w", ErrStorage)
	}
	for _, any := range e.dirs {
		if err := any.settle(tp); err != nil && any == d {
			return nil, err
		}
	}
	if err := d.forget(tp); err != nil {
		return nil, err
	}
	l := newLog(e.env, d, tp, id, c)
	l.newborn, l.dirDirty = true, true
	if err := l.makeFiles(id); err != nil {
		l.release()
		_ = e.env.o.FS.RemoveAll(l.path) // as far as it got
		return nil, l.ioError("create", err)
	}
	d.add(l)
	l.mu.Lock()
	l.wantFlush(false)
	l.mu.Unlock()
	return l, nil
}

// makeFiles makes the log's directory, partition.metadata and the first segment.
func (l *Log) makeFiles(id TopicID) error {
	if err := l.env.o.FS.MkdirAll(l.path, 0o755); err != nil {
		return err
	}
	if err := l.writeLazily(partitionMetadataFile, encodePartitionMetadata(id)); err != nil {
		return err
	}
	s, err := l.createSegment(0)
	if err != nil {
		return err
	}
	l.view.Store(&[]*segment{s})
	return nil
}

// writeLazily writes a small file of the log that becomes durable with the next flush. The caller holds mu, or is the only one.
func (l *Log) writeLazily(name string, data []byte) error {
	f := &file{path: filepath.Join(l.path, name)}
	h, err := l.env.files.pin(f, os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	l.dirty = append(l.dirty, dirtyFile{f: f, transient: true})
	if _, err := h.WriteAt(data, 0); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}

// emptiest returns the working directory with the fewest logs, nil if all are offline.
func (e *Engine) emptiest() *logDir {
	var best *logDir
	least := 0
	for _, d := range e.dirs {
		if n := d.count(); d.offlineErr() == nil && (best == nil || n < least) {
			best, least = d, n
		}
	}
	return best
}

// Delete takes a log out of the engine. Its directory is renamed at once, so that the partition can be made anew, and removed after
// the topic's file.delete.delay.ms, when no Slice is in use any more.
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
	l.dir.sweeper.discard(to, msDuration(l.Config().FileDeleteDelayMs), pins...)
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

// partitionMetadataFile is Kafka's name of the file that holds the topic id.
const partitionMetadataFile = "partition.metadata"

// AdoptTopicID writes a topic id into a log that has lost its own: partition.metadata was missing or damaged.
func (l *Log) AdoptTopicID(id TopicID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := filepath.Join(l.path, partitionMetadataFile)
	if err := vfs.WriteFileAtomic(l.env.o.FS, name, encodePartitionMetadata(id)); err != nil {
		return l.ioError("write topic id of", err)
	}
	l.id.Store(&id)
	return nil
}

// newLog returns a log without segments.
func newLog(env *environment, d *logDir, tp TopicPartition, id TopicID, c Config) *Log {
	l := &Log{
		tp: tp, path: filepath.Join(d.path, tp.String()), dir: d, env: env,
		producers: newProducerTable(env.o.MaxProducersPerLog), savedPoint: -1,
	}
	l.id.Store(&id)
	l.cfg.Store(&c)
	return l
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
