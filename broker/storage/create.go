package storage

import (
	"fmt"
	"os"
	"path/filepath"

	"moldau/internal/vfs"
)

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
	defer d.making.Add(-1)
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

// emptiest returns the working directory with the fewest logs, nil if all are offline. It counts a log as being made there, so that
// logs that are made at the same time spread too; the caller takes that back.
func (e *Engine) emptiest() *logDir {
	e.mu.Lock()
	defer e.mu.Unlock()
	var best *logDir
	least := 0
	for _, d := range e.dirs {
		if n := d.count(); d.offlineErr() == nil && (best == nil || n < least) {
			best, least = d, n
		}
	}
	if best != nil {
		best.making.Add(1)
	}
	return best
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
