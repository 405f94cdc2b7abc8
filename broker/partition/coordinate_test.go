package partition

import (
	"errors"
	"testing"

	"moldau/broker/storage"
	"moldau/internal/vfs"
)

// An append of an epoch that is over, or not there yet, changes nothing (KAFKA-20634).
func TestAppendIn(t *testing.T) {
	h := newHarness(t, vfs.NewMem(), storage.Strict)
	defer h.close()
	p, _ := h.create("t", 3)
	epoch := p.Status().LeaderEpoch
	for wrong, want := range map[int32]error{epoch - 1: ErrFencedLeaderEpoch, epoch + 1: ErrUnknownLeaderEpoch} {
		if _, err := p.AppendIn(batch(t, "a"), wrong, storage.OriginCoordinator); !errors.Is(err, want) {
			t.Errorf("epoch %d: %v", wrong, err)
		}
	}
	if end := p.Status().LogEnd; end != 0 {
		t.Fatalf("the log ends at %d", end)
	}
	a, err := p.AppendIn(batch(t, "a"), epoch, storage.OriginCoordinator)
	if err != nil || a.BaseOffset != 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	for _, c := range []Commit{a.Commit, p.CommitOf(1)} {
		for done := false; !done; {
			var changed <-chan struct{}
			if done, err, changed = c.Poll(); !done {
				<-changed
			}
		}
		if err != nil {
			t.Error(err)
		}
	}
}
