package storage

import "time"

// syncMethod is a way to make several files durable.
type syncMethod int8

const (
	syncByFile syncMethod = iota // fdatasync of each
	syncByFS                     // one syncfs for the whole file system
)

// syncCost chooses between the methods by what they cost lately. One or two files are always synced one by one: that is cheaper on
// every file system measured, and doesn't wait for other programs' data. It belongs to one flusher.
type syncCost struct {
	perFile time.Duration // of syncByFile, moving average
	perFS   time.Duration // of syncByFS, moving average
	rounds  int
	noFS    bool
}

const (
	fewFiles       = 2
	costMemory     = 8  // weight of the past in the moving averages
	tryOtherEvery  = 64 // rounds after which the method that seems dearer is measured again
	worthATry      = 8  // but not if it seems to cost more than so many times as much
	initialPerFile = 60 * time.Microsecond
	initialPerFS   = 200 * time.Microsecond
)

func newSyncCost() syncCost { return syncCost{perFile: initialPerFile, perFS: initialPerFS} }

// choose returns the method for n files.
func (c *syncCost) choose(n int) syncMethod {
	if n <= fewFiles || c.noFS {
		return syncByFile
	}
	byFile := time.Duration(n) * c.perFile
	best, other, dearer := syncByFile, syncByFS, c.perFS/max(byFile, 1)
	if c.perFS < byFile {
		best, other, dearer = syncByFS, syncByFile, byFile/max(c.perFS, 1)
	}
	if c.rounds++; c.rounds%tryOtherEvery == 0 && dearer <= worthATry {
		return other
	}
	return best
}

// measured notes what n files cost.
func (c *syncCost) measured(m syncMethod, n int, took time.Duration) {
	if n <= fewFiles {
		return
	}
	if m == syncByFS {
		c.perFS += (took - c.perFS) / costMemory
		return
	}
	c.perFile += (took/time.Duration(n) - c.perFile) / costMemory
}

// unsupported rules syncByFS out.
func (c *syncCost) unsupported() { c.noFS = true }
