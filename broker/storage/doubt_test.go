package storage

import (
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"moldau/internal/vfs"
)

// meter is a file system that counts the bytes that are read from it, by kind of file.
type meter struct {
	vfs.FS
	mu   sync.Mutex
	read map[string]int64 // by suffix
}

func newMeter(base vfs.FS) *meter { return &meter{FS: base, read: make(map[string]int64)} }

func (m *meter) Open(name string) (vfs.File, error) { return m.count(m.FS.Open(name)) }

func (m *meter) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	return m.count(m.FS.OpenFile(name, flag, perm))
}

func (m *meter) count(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &meteredFile{File: f, meter: m}, nil
}

func (m *meter) total() (n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, v := range m.read {
		n += v
	}
	return n
}

type meteredFile struct {
	vfs.File
	meter *meter
}

func (f *meteredFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.meter.mu.Lock()
	f.meter.read[filepath.Ext(f.Name())] += int64(n)
	f.meter.mu.Unlock()
	return n, err
}

// doubtCase is a log of which little is in doubt when the power goes.
type doubtCase struct {
	durability Durability
	segment    int64 // segment.bytes
	value      int   // bytes of each record, one a batch
	quiet      bool  // nobody writes for a while before the end
	lose       func(t *testing.T, fsys vfs.FS)
	most       func(c *doubtCase, doubt int64) int64
}

const (
	doubtLog   = 64 << 20 // bytes of the log
	doubtBytes = 1 << 20  // and of these behind the recovery point
)

// mostOfDoubt is what a start may read. Of what is in doubt, once as a header, once to be verified, once for the producers; of what
// lies between the newest snapshot and the recovery point, headers, for the indexes and for the producers; the index of one segment;
// and of each file less than a block.
func mostOfDoubt(c *doubtCase, doubt int64) int64 {
	behind := int64(10 << 20) // a snapshot each 8 MiB, taken when the log is flushed, and here that is each MiB
	if c.quiet {
		behind = 256 << 10
	}
	indexes := min(c.segment, doubtLog) / 4096 * (offsetEntryLen + timeEntryLen)
	return 3*doubt + 2*behind + indexes + 64<<10
}

// TestStartReadsWhatIsInDoubt: a start after a crash reads what lies behind the recovery point and, however long the log is, little
// more. An index that is missing is made anew when somebody needs it, but for the one that the log goes on with.
func TestStartReadsWhatIsInDoubt(t *testing.T) {
	shapes := map[string]doubtCase{
		"one segment":   {segment: 1 << 30, value: 100},
		"many segments": {segment: 4 << 20, value: 100},
		"large batches": {segment: 1 << 30, value: 16 << 10},
		"quiet":         {segment: 1 << 30, value: 100, quiet: true},
		"old indexes are missing": {segment: 4 << 20, value: 100, lose: func(t *testing.T, fsys vfs.FS) {
			loseIndexes(t, fsys, false)
		}},
		"all indexes are missing": {segment: 4 << 20, value: 100, lose: func(t *testing.T, fsys vfs.FS) {
			loseIndexes(t, fsys, true)
		}, most: func(c *doubtCase, doubt int64) int64 { return 3 * (c.segment + doubt) }},
		"leader epochs are missing": {segment: 4 << 20, value: 16 << 10, lose: func(t *testing.T, fsys vfs.FS) {
			if err := fsys.Remove(doubtDir + "/" + epochFile); err != nil {
				t.Fatal(err)
			}
		}, most: func(c *doubtCase, doubt int64) int64 {
			return mostOfDoubt(c, doubt) + doubtLog/int64(c.value)*walkerBuffer // a block for each header of the log
		}},
	}
	for name, c := range shapes {
		for _, d := range []Durability{Strict, Relaxed} {
			if testing.Short() && (!c.quiet || d == Strict) {
				continue // one shape has all goroutines, and the race detector takes ten times as long
			}
			c.durability = d
			t.Run(name+"/"+d.String(), func(t *testing.T) { synctest.Test(t, c.run) })
		}
	}
}

const doubtDir = "/logs/t-0"

// loseIndexes removes the index files of all segments but the last one, or of all.
func loseIndexes(t *testing.T, fsys vfs.FS, lastToo bool) {
	entries, err := fsys.ReadDir(doubtDir)
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for _, e := range entries {
		if filepath.Ext(e.Name()) == logSuffix {
			last = strings.TrimSuffix(e.Name(), logSuffix)
		}
	}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if (ext != indexSuffix && ext != timeSuffix) || !lastToo && strings.HasPrefix(e.Name(), last) {
			continue
		}
		if err := fsys.Remove(doubtDir + "/" + e.Name()); err != nil {
			t.Fatal(err)
		}
	}
}

func (c *doubtCase) run(t *testing.T) {
	mem := vfs.NewMem()
	c.write(t, mem)
	if c.lose != nil {
		c.lose(t, mem)
	}
	m := newMeter(mem)
	e := openEngine(t, m, c.options)
	read, scanned := m.total(), foundLog(t, e).Recovered().Scanned
	most := mostOfDoubt
	if c.most != nil {
		most = c.most
	}
	bound := most(c, scanned)
	t.Logf("%d bytes were in doubt, %d were read, at most %d may be: %v", scanned, read, bound, m.read)
	if read > bound || scanned > 3*doubtBytes/2 {
		t.Errorf("%d bytes were in doubt, %d were read, at most %d may be: %v", scanned, read, bound, m.read)
	}
	readBatches(t, foundLog(t, e), 0, 1<<20)
	closeEngine(t, e)
}

// write leaves a log whose recovery point lies doubtBytes before its end, or in a quiet one at its end.
func (c *doubtCase) write(t *testing.T, mem *vfs.MemFS) {
	e := openEngine(t, mem, c.options)
	l := createLog(t, e, c.config())
	c.grow(t, l, doubtLog-doubtBytes)
	flush(t, l)
	pass(strictCheckpointEvery)
	if c.quiet {
		c.grow(t, l, doubtBytes)
		pass(3 * quietAfter)
	} else {
		c.grow(t, l, doubtBytes)
	}
	abandon(e)
}

func (c *doubtCase) grow(t *testing.T, l *Log, n int64) {
	value, flushAt := strings.Repeat("v", c.value), l.Size()+1<<20
	for end := l.Size() + n; l.Size() < end; {
		appendOne(t, l, batchSpec{ts: l.End(), pid: 9, seq: int32(l.End()), value: value})
		if l.Size() > flushAt && l.Size() < end {
			flush(t, l)
			flushAt += 1 << 20
		}
	}
}

func (c *doubtCase) config() Config {
	cfg := DefaultConfig()
	cfg.SegmentBytes = c.segment
	return cfg
}

func (c *doubtCase) options(o *Options) {
	o.Durability = c.durability
	o.Config = func(TopicPartition) Config { return c.config() }
}
