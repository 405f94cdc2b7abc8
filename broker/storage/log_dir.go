package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"

	"moldau/internal/vfs"
)

// logDir is one of the engine's directories: its logs, its checkpoints, and the goroutines that work for it.
type logDir struct {
	path    string
	env     *environment
	id      TopicID // directory.id of meta.properties (KIP-858)
	lock    io.Closer
	volume  vfs.Volume // open before anything is written, so that no error of a write in the background escapes it
	foreign bool       // another program wrote it, or nobody yet: the first segment says where a log starts
	flusher *flusher
	keeper  *keeper
	sweeper *sweeper
	room    room

	offline atomic.Pointer[error]

	// What has changed since the checkpoint was written.
	pointsChanged atomic.Bool
	startsChanged atomic.Bool
	hwChanged     atomic.Bool

	cleanedChanged atomic.Bool

	making atomic.Int32 // logs being made

	mu    sync.Mutex // memory only
	logs  map[TopicPartition]*Log
	saved map[TopicPartition]bool // partitions that the checkpoint files on disk may name
	gone  map[TopicPartition]bool // partitions whose directory was renamed, perhaps not durably
}

// openDir claims a directory: it is created, locked, and must be ours and of a format that we know.
func openDir(env *environment, path string) (_ *logDir, err error) {
	d := &logDir{path: path, env: env, logs: make(map[TopicPartition]*Log), saved: make(map[TopicPartition]bool), gone: make(map[TopicPartition]bool)}
	if err := makeDir(env.o.FS, path); err != nil {
		return nil, err
	}
	if d.lock, err = env.o.FS.Lock(filepath.Join(path, lockFile)); err != nil {
		if errors.Is(err, vfs.ErrLocked) {
			return nil, fmt.Errorf("log directory %s is used by another process: %w", path, err)
		}
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.release())
		}
	}()
	if d.volume, err = env.o.FS.OpenVolume(path); err != nil {
		return nil, err
	}
	if d.foreign, err = checkFormat(env.o.FS, path); err != nil {
		return nil, err
	}
	if d.id, err = checkProperties(env.o.FS, path, env.o.ClusterID, env.o.NodeID); err != nil {
		return nil, err
	}
	d.flusher, d.keeper, d.sweeper = newFlusher(d), newKeeper(d), newSweeper(d)
	return d, nil
}

// release gives the directory free for others. Nothing may be written any more.
func (d *logDir) release() error {
	var err error
	if d.volume != nil {
		err = d.volume.Close()
	}
	return errors.Join(err, d.lock.Close())
}

// makeDir makes a directory with its missing parents, durably.
func makeDir(fsys vfs.FS, path string) error {
	var missing []string
	for p := path; ; p = filepath.Dir(p) {
		if _, err := fsys.Stat(p); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(p) == p {
			break
		}
		missing = append(missing, p)
	}
	if err := fsys.MkdirAll(path, 0o755); err != nil {
		return err
	}
	for _, p := range missing {
		if err := fsys.SyncDir(filepath.Dir(p)); err != nil {
			return err
		}
	}
	return nil
}

// run starts the directory's goroutines; stop ends them.
func (d *logDir) run() {
	go d.flusher.run()
	go d.keeper.run()
	go d.sweeper.run()
}

// stop ends the goroutines; the flusher flushes what is left first.
func (d *logDir) stop() {
	d.flusher.stop()
	d.keeper.stop()
	d.sweeper.stop()
}

// goOffline gives the directory up after an I/O error, until a restart. Watchers are told by the flusher.
func (d *logDir) goOffline(cause error) {
	err := fmt.Errorf("%w: %w", ErrStorage, cause)
	if !d.offline.CompareAndSwap(nil, &err) {
		return
	}
	d.env.logger.Error("log directory goes offline until a restart", "dir", d.path, "err", cause)
	d.env.o.Metrics.DirOffline(d.path)
	d.flusher.wake()
}

// offlineErr returns nil while the directory works.
func (d *logDir) offlineErr() error {
	if p := d.offline.Load(); p != nil {
		return *p
	}
	return nil
}

func (d *logDir) add(l *Log) {
	d.mu.Lock()
	d.logs[l.tp] = l
	d.mu.Unlock()
}

func (d *logDir) remove(l *Log) {
	d.mu.Lock()
	delete(d.logs, l.tp)
	d.gone[l.tp] = true
	d.mu.Unlock()
	d.pointsChanged.Store(true)
	d.startsChanged.Store(true)
	d.hwChanged.Store(true)
	d.cleanedChanged.Store(true)
}

func (d *logDir) list() []*Log {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]*Log, 0, len(d.logs))
	for _, l := range d.logs {
		out = append(out, l)
	}
	return out
}

// count returns the logs in the directory, those being made included.
func (d *logDir) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.logs) + int(d.making.Load())
}

// remembers tells whether a checkpoint file on disk may name the partition.
func (d *logDir) remembers(tp TopicPartition) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.saved[tp]
}

// checkpoints are the offsets of the checkpoint files.
type checkpoints struct {
	points, starts, hws, cleaned map[TopicPartition]int64

	pointsLost bool // the file of recovery points is damaged
	startsLost bool // the file of log start offsets is damaged
}

// readCheckpoints reads the checkpoint files. One that is damaged counts as empty: recovery then looks at everything, log start
// offsets fall back to the first segment.
func (d *logDir) readCheckpoints() (c checkpoints, err error) {
	read := func(name string) map[TopicPartition]int64 {
		m, rerr := readOffsets(d.env.o.FS, filepath.Join(d.path, name))
		if errors.Is(rerr, ErrCorrupt) {
			d.env.logger.Error("checkpoint file is damaged and not used", "err", rerr)
			return nil
		}
		err = errors.Join(err, rerr)
		return m
	}
	c = checkpoints{points: read(recoveryPointFile), starts: read(logStartFile), hws: read(highWatermarkFile)}
	c.pointsLost, c.startsLost = c.points == nil && err == nil, c.starts == nil && err == nil
	c.cleaned = read(cleanerCheckpointFile)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range []map[TopicPartition]int64{c.points, c.starts, c.hws, c.cleaned} {
		for tp := range m {
			d.saved[tp] = true
		}
	}
	return c, err
}

// writeCheckpoints writes what has changed; with all, everything.
func (d *logDir) writeCheckpoints(all bool, withHW bool) error {
	if err := d.offlineErr(); err != nil {
		return err
	}
	return errors.Join(
		d.writeCheckpoint(recoveryPointFile, &d.pointsChanged, all, (*Log).RecoveryPoint),
		d.writeCheckpoint(logStartFile, &d.startsChanged, all, (*Log).Start),
		d.writeHW(all, withHW),
		d.writeCheckpoint(cleanerCheckpointFile, &d.cleanedChanged, all, (*Log).Cleaned),
	)
}

func (d *logDir) writeHW(all, due bool) error {
	if !due && !all {
		return nil
	}
	return d.writeCheckpoint(highWatermarkFile, &d.hwChanged, all, (*Log).HighWatermarkCheckpoint)
}

// writeCheckpoint writes one file, with the logs for which offset is positive. A full disk leaves the old one in place until the next
// try.
func (d *logDir) writeCheckpoint(name string, changed *atomic.Bool, all bool, offset func(*Log) int64) error {
	if !changed.Swap(false) && !all {
		return nil
	}
	offsets := make(map[TopicPartition]int64)
	d.mu.Lock()
	for tp, l := range d.logs {
		if off := offset(l); off > 0 {
			offsets[tp], d.saved[tp] = off, true
		}
	}
	d.mu.Unlock()
	if err := vfs.WriteFileAtomic(d.env.o.FS, filepath.Join(d.path, name), encodeOffsets(offsets)); err != nil {
		changed.Store(true)
		if isNoSpace(err) {
			return fmt.Errorf("%w: %w", ErrNoSpace, err)
		}
		d.goOffline(err)
		return d.offlineErr()
	}
	return nil
}

// settle makes sure that an earlier log of the partition doesn't come back after a power cut, beside a new one.
func (d *logDir) settle(tp TopicPartition) error {
	d.mu.Lock()
	gone := d.gone
	if !gone[tp] {
		d.mu.Unlock()
		return nil
	}
	d.gone = make(map[TopicPartition]bool)
	d.mu.Unlock()
	if err := d.env.o.FS.SyncDir(d.path); err != nil {
		d.goOffline(fmt.Errorf("sync %s: %w", d.path, err))
		return d.offlineErr()
	}
	return nil
}

// forget makes sure that no checkpoint file names the partition any more, before a new log takes its name.
func (d *logDir) forget(tp TopicPartition) error {
	if !d.remembers(tp) {
		return nil
	}
	if err := d.keeper.checkpoint(true); err != nil {
		return err
	}
	d.mu.Lock()
	delete(d.saved, tp)
	d.mu.Unlock()
	return nil
}
