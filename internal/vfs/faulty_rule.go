package vfs

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// verdict is what the rules make of one call.
type verdict struct {
	delay   time.Duration
	err     error
	partial bool
	flip    bool
	roll    uint64 // for the bit to flip
}

// before counts a call, calls the hook, waits, and tells which fault is due.
func (f *Faulty) before(op Op, name string) verdict {
	call, v := f.judge(op, name)
	if f.hook != nil && op.Mutates() {
		f.hook(call)
	}
	if v.delay > 0 {
		f.sleep(v.delay)
	}
	if v.err != nil {
		v.err = &fs.PathError{Op: op.String(), Path: name, Err: v.err}
	}
	return v
}

func (f *Faulty) judge(op Op, name string) (Call, verdict) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[op]++
	call := Call{Op: op, Name: name}
	if op.Mutates() {
		f.mutated++
		call.N = f.mutated
	}
	var v verdict
	for _, r := range f.rules {
		if !r.matches(op, name) || !r.fires(f.dice.Float64()) {
			continue
		}
		v.delay += r.Delay
		if v.err == nil && !v.flip {
			v.err, v.partial, v.flip = r.Err, r.Partial, r.Err == nil && r.FlipBit
		}
	}
	if v.flip {
		v.roll = f.dice.Uint64()
	}
	return call, v
}

func (r *activeRule) matches(op Op, name string) bool {
	if len(r.Ops) > 0 && !slices.Contains(r.Ops, op) {
		return false
	}
	if r.Path == "" {
		return true
	}
	name = filepath.ToSlash(name)
	for _, candidate := range []string{name, path.Base(name)} {
		if ok, err := path.Match(r.Path, candidate); ok && err == nil {
			return true
		}
	}
	return false
}

// fires counts a matching call and tells whether the fault happens to it.
func (r *activeRule) fires(roll float64) bool {
	r.matched++
	if r.matched <= r.Skip || r.Times > 0 && r.fired >= r.Times || r.Probability > 0 && roll >= r.Probability {
		return false
	}
	r.fired++
	return true
}

func (f *Faulty) drop(r *activeRule) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = slices.DeleteFunc(f.rules, func(x *activeRule) bool { return x == r })
}

// take reserves space for growth and answers how much of it there is.
func (f *Faulty) take(growth int64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.space < 0 || growth <= 0 {
		return growth
	}
	got := min(growth, f.space)
	f.space -= got
	return got
}

func (f *Faulty) giveBack(n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.space >= 0 {
		f.space += n
	}
}

// faultyFile is an open file of a Faulty.
type faultyFile struct {
	File
	fs *Faulty
}

// Fd implements File. There is none: sendfile would go past the faults.
func (f *faultyFile) Fd() (uintptr, bool) { return 0, false }

// ReadAt implements File.
func (f *faultyFile) ReadAt(p []byte, off int64) (int, error) {
	v := f.fs.before(OpRead, f.Name())
	if v.err != nil {
		return 0, v.err
	}
	n, err := f.File.ReadAt(p, off)
	if v.flip && n > 0 {
		bit := v.roll % (uint64(n) * 8)
		p[bit/8] ^= 1 << (bit % 8)
	}
	return n, err
}

// WriteAt implements File.
func (f *faultyFile) WriteAt(p []byte, off int64) (int, error) {
	v := f.fs.before(OpWrite, f.Name())
	switch {
	case v.err != nil && v.partial:
		n, err := f.File.WriteAt(p[:len(p)/2], off)
		if err == nil {
			err = v.err
		}
		return n, err
	case v.err != nil:
		return 0, v.err
	}
	return f.writeWithin(p, off)
}

// writeWithin writes as much as the space limit lets it.
func (f *faultyFile) writeWithin(p []byte, off int64) (int, error) {
	size, err := f.Size()
	if err != nil {
		return 0, err
	}
	growth := max(off+int64(len(p))-size, 0)
	missing := growth - f.fs.take(growth)
	fits := max(int64(len(p))-missing, 0)
	n, err := f.File.WriteAt(p[:fits], off)
	if err == nil && missing > 0 {
		err = &fs.PathError{Op: OpWrite.String(), Path: f.Name(), Err: syscall.ENOSPC}
	}
	return n, err
}

// Truncate implements File.
func (f *faultyFile) Truncate(size int64) error {
	if err := f.fs.before(OpTruncate, f.Name()).err; err != nil {
		return err
	}
	old, err := f.Size()
	if err != nil {
		return err
	}
	if err := f.File.Truncate(size); err != nil {
		return err
	}
	f.fs.giveBack(max(old-size, 0))
	return nil
}

// Preallocate implements File.
func (f *faultyFile) Preallocate(off, n int64) error {
	if err := f.fs.before(OpPreallocate, f.Name()).err; err != nil {
		return err
	}
	return f.File.Preallocate(off, n)
}

// Sync implements File.
func (f *faultyFile) Sync() error {
	if err := f.fs.before(OpSync, f.Name()).err; err != nil {
		return err
	}
	return f.File.Sync()
}
