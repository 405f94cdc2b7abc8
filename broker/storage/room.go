package storage

import (
	"fmt"
	"sync/atomic"
	"time"

	"moldau/internal/vfs"
)

// room watches over the free space of a log directory's file system. Appends end before it is full: what is left lets topics be
// deleted, checkpoints be written, and a broker start.
type room struct {
	spare atomic.Int64 // bytes that may be appended before the file system is asked again
	short atomic.Bool  // the last append found no space
	told  atomic.Int64 // when the operator was told, in ms
}

const (
	spareMost = 64 << 20 // others write to the file system too
	tellEvery = time.Minute
	leastFree = 1 << 20 // where MinFreeBytes says nothing
)

// admit refuses an append of n bytes that would leave less free space than Options.MinFreeBytes. The file system is asked at least
// once a second, and the more often, the less there is.
func (d *logDir) admit(n int) error {
	floor := d.env.o.MinFreeBytes
	if floor <= 0 || d.room.spare.Add(-int64(n)) >= 0 {
		return nil
	}
	left, u := int64(spareMost), vfs.Usage{} // where the platform does not tell it is the write that fails
	if got, err := d.env.o.FS.Usage(d.path); err == nil && got.Total > 0 {
		u, left = got, got.Usable-floor-int64(n)
	}
	if left < 0 {
		d.room.spare.Store(0)
		err := d.tooFull(u.Usable)
		d.noSpace(err)
		return err
	}
	d.room.spare.Store(min(left/2, spareMost))
	return nil
}

func (d *logDir) tooFull(usable int64) error {
	return fmt.Errorf("%w: %s has %d KiB free, and %d KiB are kept for deletions (log.dir.min.free.bytes)",
		ErrNoSpace, d.path, usable>>10, d.env.o.MinFreeBytes>>10)
}

// noSpace notes that an append found no space.
func (d *logDir) noSpace(cause error) {
	d.env.o.Metrics.NoSpace(d.path)
	d.runShort(cause)
}

// runShort begins a shortage: what waits for its deletion is removed at once, and the operator is told, now and then.
func (d *logDir) runShort(cause error) {
	if !d.room.short.Swap(true) {
		d.sweeper.hurry()
	}
	now, last := d.env.nowMs(), d.room.told.Load()
	if last != 0 && now-last < tellEvery.Milliseconds() || !d.room.told.CompareAndSwap(last, now) {
		return
	}
	d.env.logger.Error("no space left: records are refused until there is some; reads go on", "dir", d.path, "err", cause)
}

// look begins and ends shortages; one ends when there is twice the space that appends leave, because small records find room long
// before. The keeper calls it once a second.
func (d *logDir) look() {
	d.room.spare.Store(0)
	floor := d.env.o.MinFreeBytes
	u, err := d.env.o.FS.Usage(d.path)
	switch {
	case err != nil || u.Total <= 0: // the platform does not tell
	case u.Usable < floor:
		d.runShort(d.tooFull(u.Usable))
		return
	case u.Usable < 2*max(floor, leastFree):
		return
	}
	if d.room.short.Swap(false) {
		d.room.told.Store(0)
		d.env.logger.Info("there is space for records again", "dir", d.path)
	}
}

// deleteDelay is how long deleted files stay: not at all while their space is needed.
func (d *logDir) deleteDelay(c Config) time.Duration {
	if d.room.short.Load() {
		return 0
	}
	return msDuration(c.FileDeleteDelayMs)
}
