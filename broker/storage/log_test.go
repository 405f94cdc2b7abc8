package storage

import (
	"encoding/hex"
	"errors"
	"slices"
	"testing"
	"time"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

// TestAppendFollower keeps offsets, epochs and gaps, and refuses what overlaps.
func TestAppendFollower(t *testing.T) {
	mem := vfs.NewMem()
	e := openEngine(t, mem)
	l := createLog(t, e, DefaultConfig())
	at := func(offset int64, epoch int32) []byte {
		b := record.Batch(batchSpec{n: 2, ts: offset}.build(t))
		b.SetBaseOffset(offset)
		b.SetPartitionLeaderEpoch(epoch)
		return b
	}
	if err := l.AppendFollower(slices.Concat(at(0, 1), at(2, 1), at(10, 4))); err != nil {
		t.Fatal(err)
	}
	if err := l.AppendFollower(at(11, 4)); !errors.Is(err, ErrOffsetOutOfRange) {
		t.Error(err)
	}
	if l.End() != 12 || l.LatestEpoch() != 4 || l.EpochAt(3) != 1 {
		t.Error(l.End(), l.LatestEpoch(), l.EpochAt(3))
	}
	for _, from := range []int64{4, 9, 10} {
		if b := readBatches(t, l, from, 100)[0]; b.BaseOffset() != 10 {
			t.Errorf("at %d: batch %d", from, b.BaseOffset())
		}
	}
	far := int64(1) << 33 // too far for the active segment's indexes
	if err := l.AppendFollower(at(far, 4)); err != nil || l.Segments() != 2 || l.End() != far+2 {
		t.Error(l.Segments(), l.End(), err)
	}
	if b := readBatches(t, l, 500, 100)[0]; b.BaseOffset() != far {
		t.Error(b.BaseOffset())
	}
	if err := l.AppendFollower(nil); err == nil {
		t.Error("appended nothing")
	}
	closeEngine(t, e)
}

// TestDuplicatesAfterRestart: all of the last five batches are known as duplicates after a clean stop, though the snapshot names only
// the last one.
func TestDuplicatesAfterRestart(t *testing.T) {
	mem := vfs.NewMem()
	e := openEngine(t, mem)
	l := createLog(t, e, smallConfig())
	fill(t, l, 30)
	closeEngine(t, e)
	e = openEngine(t, mem, smallSegments)
	l = foundLog(t, e)
	for i := 25; i < 30; i++ {
		info, err := l.Append(batchSpec{n: 2, pid: 9, seq: int32(2 * i)}.build(t), 0, OriginClient)
		if err != nil || !info.Duplicate || info.BaseOffset != int64(2*i) || info.End != int64(2*i+2) {
			t.Errorf("batch %d: %+v %v", i, info, err)
		}
	}
	if _, err := l.Append(batchSpec{n: 2, pid: 9, seq: 48}.build(t), 0, OriginClient); !errors.Is(err, ErrOutOfOrderSequence) {
		t.Errorf("the sixth last: %v", err)
	}
	if _, err := l.Append(slices.Concat(batchSpec{pid: 9, seq: 60}.build(t), batchSpec{pid: 9, seq: 61}.build(t)), 0, OriginClient); !errors.Is(err, record.ErrInvalidRecord) {
		t.Errorf("two batches of an idempotent producer: %v", err)
	}
	if n := l.ExpireProducers(time.Now().Add(2*time.Hour), time.Hour); n != 1 || len(l.Producers()) != 0 {
		t.Errorf("%d expired", n)
	}
	closeEngine(t, e)
}

// TestSnapshotBytes holds the producer snapshot to Kafka's layout.
func TestSnapshotBytes(t *testing.T) {
	table := newProducerTable(10)
	table.apply(producerAppend{id: 4000, epoch: 2, baseSeq: 10, lastSeq: 12, baseOffset: 100, lastOffset: 102, timestamp: 1_700_000_000_000}, 5)
	const want = "0001" + "d6a412eb" + "00000001" + "0000000000000fa0" + "0002" + "0000000c" + "0000000000000066" + "00000002" +
		"0000018bcfe56800" + "ffffffff" + "ffffffffffffffff"
	got := hex.EncodeToString(encodeSnapshot(table))
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}
