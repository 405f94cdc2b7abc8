package storage

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"moldau/broker/record"
	"moldau/internal/vfs"
)

// TestRecoveryMovesWholeBatches: a batch that is damaged behind the recovery point ends the log; whole ones behind it are kept aside,
// also those of later segments, and a second time under another name.
func TestRecoveryMovesWholeBatches(t *testing.T) {
	mem := vfs.NewMem()
	e := openEngine(t, mem)
	l := createLog(t, e, smallConfig())
	fill(t, l, 10)
	flush(t, l)
	if err := l.dir.keeper.checkpoint(true); err != nil { // the recovery point is 20
		t.Fatal(err)
	}
	fill2 := func(l *Log, from, n int) {
		for i := from; i < from+n; i++ {
			appendOne(t, l, batchSpec{n: 2, ts: 5000, pid: 9, seq: int32(2 * i), value: "value"})
		}
		flush(t, l)
	}
	fill2(l, 10, 40)
	bad := readBatches(t, l, 24, 1)[0]
	tail := readBatches(t, l, 26, 1<<20)
	abandon(e)
	damage := func(b record.Batch) {
		for _, name := range files(t, mem, "/logs/t-0") {
			if data, err := vfs.ReadFile(mem, name); err != nil {
				t.Fatal(err)
			} else if i := bytes.Index(data, b); i >= 0 && strings.HasSuffix(name, logSuffix) {
				flip(t, mem, name, int64(8*(i+len(b)-1)))
				return
			}
		}
		t.Fatal("the batch is nowhere")
	}
	damage(bad)
	e = openEngine(t, mem, smallSegments)
	l = foundLog(t, e)
	r := l.Recovered()
	if l.End() != 24 || l.Err() != nil || len(r.Moved) < 2 || r.Cut == 0 {
		t.Fatalf("end %d, %v, %+v", l.End(), l.Err(), r)
	}
	var moved []byte
	for _, name := range r.Moved {
		data, err := vfs.ReadFile(mem, name)
		if err != nil || !strings.HasSuffix(name, cutSuffix) {
			t.Fatal(name, err)
		}
		moved = append(moved, data...)
	}
	for _, b := range tail {
		if !bytes.Contains(moved, b) {
			t.Fatalf("batch %d is lost", b.BaseOffset())
		}
	}
	fill2(l, 12, 40)
	bad = readBatches(t, l, 24, 1)[0]
	abandon(e)
	damage(bad)
	e = openEngine(t, mem, smallSegments)
	if r := foundLog(t, e).Recovered(); !slices.ContainsFunc(r.Moved, func(s string) bool { return strings.HasSuffix(s, ".cut.1") }) {
		t.Errorf("%+v", r)
	}
	closeEngine(t, e)
}

// TestDamageBeforeRecoveryPoint: nothing is cut, what is whole can be read, writes are refused, also by the next start, and the error
// says where.
func TestDamageBeforeRecoveryPoint(t *testing.T) {
	mem := damageSet(t, false)
	name := segmentPath("/logs/t-0", 102, logSuffix)
	before, err := vfs.ReadFile(mem, name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := mem.OpenFile(name, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(int64(len(before))-3), f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		e := openEngine(t, mem, smallSegments)
		l := foundLog(t, e)
		if err := l.Err(); !errors.Is(err, ErrReadOnly) || !strings.Contains(fmt.Sprint(err), name) || !strings.Contains(fmt.Sprint(err), "104") {
			t.Fatal(err)
		}
		if _, err := l.Append(batchSpec{}.build(t), 4, OriginClient); !errors.Is(err, ErrReadOnly) {
			t.Error(err)
		}
		if l.End() != 104 || len(readBatches(t, l, 0, 1000)) != 52 || e.Stats().ReadOnly != 1 {
			t.Errorf("end %d", l.End())
		}
		if data, err := vfs.ReadFile(mem, name); err != nil || !bytes.Equal(data, before[:len(before)-3]) {
			t.Error("the file was changed", err)
		}
		closeEngine(t, e)
	}
	// An operator may accept the loss: without a recovery point the log is cut at the damage.
	if err := vfs.WriteFileAtomic(mem, "/logs/"+recoveryPointFile, []byte("0\n0\n")); err != nil {
		t.Fatal(err)
	}
	if err := mem.Remove("/logs/" + cleanShutdownFile); err != nil {
		t.Fatal(err)
	}
	e := openEngine(t, mem, smallSegments)
	if l := foundLog(t, e); l.End() != 104 || l.Err() != nil {
		t.Errorf("accepted: end %d, %v", l.End(), l.Err())
	} else {
		appendOne(t, l, batchSpec{ts: 1})
	}
	closeEngine(t, e)
}
