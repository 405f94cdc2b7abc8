package storage

import (
	"context"
	"math/rand/v2"
	"os"
	"testing"
)

func TestTmpDump(t *testing.T) {
	_ = os.RemoveAll("/tmp/dumpcheck")
	at := &clock{ms: 1_700_000_000_000}
	e, err := Open(context.Background(), Options{Dirs: []string{"/tmp/dumpcheck"}, Now: at.now})
	if err != nil {
		t.Fatal(err)
	}
	dice := rand.New(rand.NewPCG(5, 5))
	cfg := compactConfig(dice)
	cfg.SegmentBytes, cfg.FileDeleteDelayMs, cfg.MinCleanableDirtyRatio = 3000, 0, 0
	l, m := createLog(t, e, cfg), newModelLog()
	for range 6 {
		for range 60 {
			modelAppend(t, l, m, dice, at.ms)
			if dice.IntN(3) == 0 {
				modelEnd(t, l, m, int64(4+dice.IntN(3)), dice.IntN(2) == 0, at.ms)
			}
			at.ms += 10
		}
		for pid := range int64(3) {
			modelEnd(t, l, m, 4+pid, pid == 0, at.ms)
		}
		commit(t, l)
		cleanAll(t, e, DefaultCleanerConfig())
		m.cover(l, at.ms)
		m.verify(t, l, at.ms)
	}
	closeEngine(t, e)
}
