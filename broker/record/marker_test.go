package record

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestEndMarker(t *testing.T) {
	for _, want := range []EndMarker{{Commit: true, CoordinatorEpoch: 7}, {Commit: false, CoordinatorEpoch: -1}} {
		batch := AppendEndMarker([]byte("before"), 1<<40, 12, want, 1_700_000_000_000)
		if err := batch.Verify(); err != nil {
			t.Fatal(err)
		}
		if !batch.IsControl() || !batch.IsTransactional() || batch.ProducerID() != 1<<40 || batch.ProducerEpoch() != 12 ||
			batch.BaseSequence() != NoSequence || batch.Count() != 1 || batch.MaxTimestamp() != 1_700_000_000_000 {
			t.Errorf("header %x", batch[:HeaderLen])
		}
		if got, ok := batch.EndMarker(); !ok || got != want {
			t.Errorf("read %+v %v, want %+v", got, ok, want)
		}
	}
}

// TestEndMarkerIsKafkas compares key and value with an independent implementation.
func TestEndMarkerIsKafkas(t *testing.T) {
	batch := AppendEndMarker(nil, 1, 2, EndMarker{Commit: true, CoordinatorEpoch: 5}, 9)
	rd := batch.Records(NewDecompressor(Limits{}))
	defer rd.Close()
	if !rd.Next() {
		t.Fatal(rd.Err())
	}
	key := kmsg.ControlRecordKey{Type: kmsg.ControlRecordKeyTypeCommit}
	value := kmsg.EndTxnMarker{CoordinatorEpoch: 5}
	if r := rd.Record(); string(r.Key) != string(key.AppendTo(nil)) || string(r.Value) != string(value.AppendTo(nil)) {
		t.Errorf("key %x value %x", r.Key, r.Value)
	}
}

func TestNoEndMarker(t *testing.T) {
	data := NewBuilder(NewOptions(None))
	data.Append(&Record{Key: []byte{0, 0, 0, 1}, Value: make([]byte, 6)})
	plain, err := data.Build(nil, NewCompressor())
	if err != nil {
		t.Fatal(err)
	}
	o := NewOptions(None)
	o.Control = true
	other := NewBuilder(o)
	other.Append(&Record{Key: []byte{0, 0, 0, 2}, Value: make([]byte, 6)}) // the leader change of a Raft log
	leaderChange, err := other.Build(nil, NewCompressor())
	if err != nil {
		t.Fatal(err)
	}
	marker := AppendEndMarker(nil, 1, 2, EndMarker{}, 9)
	for name, b := range map[string]Batch{"data": plain, "leader change": leaderChange, "torn": marker[:len(marker)-3]} {
		if m, ok := b.EndMarker(); ok {
			t.Errorf("%s reads as %+v", name, m)
		}
	}
}

func FuzzEndMarker(f *testing.F) {
	f.Add([]byte(AppendEndMarker(nil, 1, 2, EndMarker{Commit: true}, 9)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= HeaderLen {
			Batch(b).EndMarker()
		}
	})
}
