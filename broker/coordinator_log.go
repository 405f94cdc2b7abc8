package broker

import (
	"errors"
	"fmt"

	"moldau/broker/coordinator"
	"moldau/broker/partition"
	"moldau/broker/storage"
)

// coordinatorLog is a partition as a coordinator uses it.
type coordinatorLog struct {
	p     *partition.Partition
	epoch int32 // the leader epoch in which this node coordinates
}

var _ coordinator.Log = coordinatorLog{}

// loadBytes is how much of a coordinator's partition is read at once.
const loadBytes = 1 << 20

// Bounds implements coordinator.Log.
func (l coordinatorLog) Bounds() (start, end int64) {
	s := l.p.Status()
	return s.LogStart, s.LogEnd
}

// Read implements coordinator.Log.
func (l coordinatorLog) Read(dst []byte, offset int64) ([]byte, error) {
	start, _ := l.Bounds()
	r, err := l.p.Read(partition.ReadSpec{
		Offset: max(offset, start), CurrentLeaderEpoch: l.epoch, LastFetchedEpoch: -1,
		MaxBytes: loadBytes, WholeBatch: true, Horizon: partition.ToLogEnd,
	})
	if err != nil {
		return dst, coordinatorError(err)
	}
	defer r.Records.Release()
	return r.Records.AppendTo(dst)
}

// Append implements coordinator.Log.
func (l coordinatorLog) Append(batches []byte, epoch int32) (coordinator.Commit, error) {
	a, err := l.p.AppendIn(batches, epoch, storage.OriginCoordinator)
	if err != nil {
		return nil, coordinatorError(err)
	}
	return coordinatorCommit{a.Commit}, nil
}

// CommitOf implements coordinator.Log.
func (l coordinatorLog) CommitOf(end int64) coordinator.Commit {
	return coordinatorCommit{l.p.CommitOf(end)}
}

// BatchBytesMax implements coordinator.Log.
func (l coordinatorLog) BatchBytesMax() int { return l.p.Topic().Config().MaxMessageBytes }

// coordinatorCommit speaks of commits in the coordinators' terms.
type coordinatorCommit struct{ partition.Commit }

// Poll implements coordinator.Commit.
func (c coordinatorCommit) Poll() (bool, error, <-chan struct{}) { //nolint:revive // as coordinator.Commit
	done, err, changed := c.Commit.Poll()
	return done, coordinatorError(err), changed
}

// coordinatorError marks the errors that say that this node doesn't lead the partition in the epoch any more.
func coordinatorError(err error) error {
	for _, gone := range []error{
		partition.ErrNotLeader, partition.ErrFencedLeaderEpoch, partition.ErrUnknownLeaderEpoch, partition.ErrUnknown, partition.ErrClosed,
	} {
		if errors.Is(err, gone) {
			return fmt.Errorf("%w: %w", coordinator.ErrNotCoordinator, err)
		}
	}
	return err
}
