package storage

import (
	"testing"
	"testing/synctest"

	"moldau/internal/vfs"
)

// TestKeeperNeverWaitsForAppends: retention and truncation hold the append lock while they wait for the keeper, so the keeper passes by
// a quiet log whose lock is taken.
func TestKeeperNeverWaitsForAppends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openEngine(t, vfs.NewMem())
		l := createLog(t, e, DefaultConfig())
		value := string(make([]byte, quietBytes))
		appendOne(t, l, batchSpec{ts: 1, value: value})
		pass(quietAfter)
		l.mu.Lock()
		pass(quietAfter)
		if err := l.dir.keeper.checkpoint(false); err != nil {
			t.Error(err)
		}
		snapshots := len(l.snapshots)
		l.mu.Unlock()
		pass(quietAfter)
		l.mu.Lock()
		if snapshots != 0 || len(l.snapshots) != 1 {
			t.Errorf("%d snapshots with the lock taken, %d later", snapshots, len(l.snapshots))
		}
		l.mu.Unlock()
		closeEngine(t, e)
	})
}
