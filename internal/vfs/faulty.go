package vfs

import (
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync"
	"time"
)

// Op is a kind of operation on a file system.
type Op uint8

// The operations. Size, Name, Fd and Close are not among them: nothing ever goes wrong there that storage could act upon.
const (
	OpOpen Op = iota + 1
	OpCreate
	OpRead
	OpWrite
	OpTruncate
	OpPreallocate
	OpSync
	OpSyncDir
	OpSyncFS
	OpRename
	OpRemove
	OpMkdir
	OpReadDir
	OpStat
	OpLock
	OpUsage
	opEnd
)

var opNames = [opEnd]string{
	"", "open", "create", "read", "write", "truncate", "preallocate", "sync", "syncdir", "syncfs", "rename", "remove", "mkdir",
	"readdir", "stat", "lock", "usage",
}

// String names the operation.
func (o Op) String() string {
	if o >= opEnd {
		return "unknown"
	}
	return opNames[o]
}

// Mutates tells whether the operation changes what is on disk or how durable it is. Between two such operations a power cut makes no
// difference, so they are all the crash points there are.
func (o Op) Mutates() bool {
	switch o {
	case OpCreate, OpWrite, OpTruncate, OpPreallocate, OpSync, OpSyncDir, OpSyncFS, OpRename, OpRemove, OpMkdir, OpLock:
		return true
	default:
		return false
	}
}

// Call is one operation about to be made.
type Call struct {
	Op   Op
	Name string // as the caller spelled it; the old name of a rename
	N    uint64 // for an operation that mutates: its number among those, from 1
}

// Rule is a fault and when it happens. The zero value of a condition holds for all calls.
type Rule struct {
	Ops         []Op    // any of these
	Path        string  // pattern of path.Match, held against the whole name and against its last element
	Skip        uint64  // how many matching calls pass unharmed before the first fault
	Times       uint64  // how many faults happen before the rule is spent; 0 means no end
	Probability float64 // of each matching call after Skip; 0 means every one

	Delay   time.Duration // wait first
	Err     error         // then fail with this error, wrapped in *fs.PathError, without doing anything
	Partial bool          // with Err: a write writes half of its bytes first
	FlipBit bool          // without Err: a read comes back with one bit flipped
}

// FaultyOptions are what a Faulty is made with.
type FaultyOptions struct {
	Seed  uint64              // of the dice for Probability, FlipBit
	Sleep func(time.Duration) // how to wait for Delay; nil means a timer
	Hook  func(Call)          // called before each operation that mutates, outside all locks; nil means none
}

// Faulty is a file system with faults. It adds them to another one, and may be used concurrently.
type Faulty struct {
	base  FS
	sleep func(time.Duration)
	hook  func(Call)

	mu      sync.Mutex
	dice    *rand.Rand
	rules   []*activeRule
	counts  [opEnd]uint64
	mutated uint64
	space   int64 // bytes that files may still grow by; negative means no limit
}

type activeRule struct {
	Rule
	matched uint64
	fired   uint64
}

// NewFaulty returns base without faults: Inject and LimitSpace add some.
func NewFaulty(base FS) *Faulty { return NewFaultyWith(base, FaultyOptions{}) }

// NewFaultyWith is NewFaulty with a seed, a clock or a hook.
func NewFaultyWith(base FS, o FaultyOptions) *Faulty {
	f := &Faulty{base: base, sleep: o.Sleep, hook: o.Hook, dice: rand.New(rand.NewPCG(o.Seed, 1)), space: -1}
	if f.sleep == nil {
		f.sleep = func(d time.Duration) { <-time.After(d) }
	}
	return f
}

// Inject adds a rule and returns how to remove it. Of several rules that match a call, all delay it, and the oldest with an error or a
// flipped bit decides.
func (f *Faulty) Inject(r Rule) (remove func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	active := &activeRule{Rule: r}
	f.rules = append(f.rules, active)
	return func() { f.drop(active) }
}

// LimitSpace lets files grow by n more bytes before writes fail with ENOSPC; the write that meets the limit writes what fits. Truncating and
// removing files gives their bytes back. A negative n lifts the limit.
func (f *Faulty) LimitSpace(n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.space = n
}

// Count is how often the operation was called.
func (f *Faulty) Count(op Op) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[op]
}

// Mutations is how many operations that mutate were called: the number of crash points so far.
func (f *Faulty) Mutations() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mutated
}

// Open implements FS.
func (f *Faulty) Open(name string) (File, error) { return f.open(OpOpen, name, f.base.Open) }

// OpenFile implements FS. With os.O_CREATE or os.O_TRUNC it counts as OpCreate.
func (f *Faulty) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	op := OpOpen
	if flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		op = OpCreate
	}
	return f.open(op, name, func(name string) (File, error) { return f.base.OpenFile(name, flag, perm) })
}

func (f *Faulty) open(op Op, name string, open func(string) (File, error)) (File, error) {
	if err := f.before(op, name).err; err != nil {
		return nil, err
	}
	file, err := open(name)
	if err != nil {
		return nil, err
	}
	return &faultyFile{File: file, fs: f}, nil
}

// Remove implements FS.
func (f *Faulty) Remove(name string) error {
	if err := f.before(OpRemove, name).err; err != nil {
		return err
	}
	info, err := f.base.Stat(name)
	if err != nil {
		return err
	}
	if err := f.base.Remove(name); err != nil {
		return err
	}
	if !info.IsDir() {
		f.giveBack(info.Size())
	}
	return nil
}

// RemoveAll implements FS. It is one OpRemove, and gives no space back.
func (f *Faulty) RemoveAll(name string) error {
	if err := f.before(OpRemove, name).err; err != nil {
		return err
	}
	return f.base.RemoveAll(name)
}

// Rename implements FS.
func (f *Faulty) Rename(oldname, newname string) error {
	if err := f.before(OpRename, oldname).err; err != nil {
		return err
	}
	return f.base.Rename(oldname, newname)
}

// MkdirAll implements FS.
func (f *Faulty) MkdirAll(name string, perm fs.FileMode) error {
	if err := f.before(OpMkdir, name).err; err != nil {
		return err
	}
	return f.base.MkdirAll(name, perm)
}

// ReadDir implements FS.
func (f *Faulty) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.before(OpReadDir, name).err; err != nil {
		return nil, err
	}
	return f.base.ReadDir(name)
}

// Stat implements FS.
func (f *Faulty) Stat(name string) (fs.FileInfo, error) {
	if err := f.before(OpStat, name).err; err != nil {
		return nil, err
	}
	return f.base.Stat(name)
}

// SyncDir implements FS.
func (f *Faulty) SyncDir(name string) error {
	if err := f.before(OpSyncDir, name).err; err != nil {
		return err
	}
	return f.base.SyncDir(name)
}

// OpenVolume implements FS. It always succeeds where the base does: OpSyncFS is the volume's Sync.
func (f *Faulty) OpenVolume(name string) (Volume, error) {
	base, err := f.base.OpenVolume(name)
	if err != nil {
		return nil, err
	}
	return &faultyVolume{Volume: base, f: f, name: name}, nil
}

// faultyVolume is a Volume of a Faulty.
type faultyVolume struct {
	Volume
	f    *Faulty
	name string
}

// Sync implements Volume.
func (v *faultyVolume) Sync() error {
	if err := v.f.before(OpSyncFS, v.name).err; err != nil {
		return err
	}
	return v.Volume.Sync()
}

// Lock implements FS.
func (f *Faulty) Lock(name string) (io.Closer, error) {
	if err := f.before(OpLock, name).err; err != nil {
		return nil, err
	}
	return f.base.Lock(name)
}

// Usage implements FS. Under LimitSpace, Usable is what the limit leaves.
func (f *Faulty) Usage(name string) (Usage, error) {
	if err := f.before(OpUsage, name).err; err != nil {
		return Usage{}, err
	}
	u, err := f.base.Usage(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil && f.space >= 0 {
		u.Usable = min(u.Usable, f.space)
	}
	return u, err
}
