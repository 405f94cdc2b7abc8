package compact

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"moldau/broker/record"
)

// arg reads an integer argument of a script command, or returns what it is without.
func arg[T int16 | int32 | int64 | int](t *testing.T, d *datadriven.TestData, name string, without T) T {
	t.Helper()
	v := int64(without)
	d.MaybeScanArgs(t, name, &v)
	return T(v)
}

// TestDecide plays scripts against the decisions which part of a log to compact, and which segments become one.
func TestDecide(t *testing.T) {
	datadriven.RunTest(t, "testdata/decide.txt", func(t *testing.T, d *datadriven.TestData) string {
		var segs []Segment
		for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
			s := Segment{FirstMs: -1}
			for _, field := range strings.Fields(line) {
				name, value, _ := strings.Cut(field, "=")
				to, ok := map[string]*int64{
					"base": &s.Base, "next": &s.Next, "size": &s.Size, "index": &s.IndexSize, "times": &s.TimeSize, "largest": &s.LargestMs, "first": &s.FirstMs,
				}[name]
				if _, err := fmt.Sscan(value, to); !ok || err != nil {
					d.Fatalf(t, "field %q", field)
				}
			}
			segs = append(segs, s)
		}
		switch d.Cmd {
		case "decide":
			active := segs[len(segs)-1].Next
			p := Decide(State{
				Segments: segs, ActiveBase: active, Start: arg[int64](t, d, "start", 0), End: arg(t, d, "end", active+10), Cleaned: arg[int64](t, d, "cleaned", 0),
				Stable: arg(t, d, "stable", active+10), NowMs: arg[int64](t, d, "now", 1000), MinLagMs: arg[int64](t, d, "min-lag", 0),
				MaxLagMs: arg[int64](t, d, "max-lag", math.MaxInt64), MinDirtyRatio: float64(arg[int64](t, d, "ratio", 50)) / 100,
			})
			out := fmt.Sprintf("from %d to %d: %d clean, %d dirty", p.First, p.Bound, p.CleanBytes, p.DirtyBytes)
			for note, is := range map[string]bool{", late by " + fmt.Sprint(p.DelayMs): p.DelayMs > 0} {
				if is {
					out += note
				}
			}
			if p.Reset {
				out += ", reset"
			}
			if p.Due {
				out += ", due"
			}
			return out + "\n"
		case "groups":
			return fmt.Sprintln(Groups(segs, arg[int64](t, d, "bytes", 1000), arg[int64](t, d, "index-bytes", 100)))
		}
		d.Fatalf(t, "unknown command")
		return ""
	})
}

// scriptLog is a log in memory.
type scriptLog struct {
	t       *testing.T
	batches []record.Batch
	aborted []AbortedTxn
	open    map[int64]int64 // first offset of the open transaction by producer
	last    map[int64]LastBatch
	next    int64
	pack    *record.Compressor
	unpack  *record.Decompressor
}

func newScriptLog(t *testing.T) *scriptLog {
	return &scriptLog{
		t: t, open: make(map[int64]int64), last: make(map[int64]LastBatch), pack: record.NewCompressor(), unpack: record.NewDecompressor(record.Limits{}),
	}
}

func (l *scriptLog) add(b record.Batch) {
	l.batches = append(l.batches, b)
	l.next = b.NextOffset()
	if !b.HasProducerID() {
		return
	}
	pid := b.ProducerID()
	p, known := l.last[pid]
	if !known || p.Epoch != b.ProducerEpoch() {
		p = LastBatch{Offset: -1, Epoch: b.ProducerEpoch()}
	}
	first, open := l.open[pid]
	switch {
	case b.IsControl():
		if m, ok := b.EndMarker(); ok && open && !m.Commit {
			l.aborted = append(l.aborted, AbortedTxn{pid, first, b.LastOffset()})
		}
		delete(l.open, pid)
	default:
		p.Offset = b.LastOffset()
		if b.IsTransactional() && !open {
			l.open[pid] = b.BaseOffset()
		}
	}
	l.last[pid] = p
}

// compact runs one pass as the cleaner does, with the whole log in one segment, and returns a line about the keys.
func (l *scriptLog) compact(from, to, nowMs, retentionMs, slots int64) string {
	keys := NewKeyMap(slots, 1<<20, 0.9)
	if slots < minSlots { // a map that is too small
		keys.limit = int(slots)
	}
	txns := NewTransactions()
	txns.Add(l.aborted)
collect:
	for _, b := range l.batches {
		if b.LastOffset() < from || b.BaseOffset() >= to {
			continue
		}
		if b.IsControl() {
			txns.Control(b)
		} else if !txns.Data(b) {
			r := b.Records(l.unpack)
			for r.Next() {
				if rec := r.Record(); rec.Key != nil && rec.Offset >= from && !keys.Put(rec.Key, rec.Offset) {
					r.Close()
					break collect
				}
			}
			r.Close()
		}
		keys.Reach(b.LastOffset())
	}
	f := &Filter{Keys: keys, Txns: NewTransactions(), Producers: l.last, NowMs: nowMs, DeleteRetentionMs: retentionMs, Unpack: l.unpack, Pack: l.pack}
	f.Txns.Add(l.aborted)
	var kept []record.Batch
	var aborted []AbortedTxn
	for _, b := range l.batches {
		if b.BaseOffset() >= to {
			kept = append(kept, b)
			continue
		}
		r, err := f.Apply(nil, b, b.NextOffset() == to)
		if err != nil {
			l.t.Fatal(err)
		}
		if r.Marked {
			aborted = append(aborted, l.abortedAt(b.LastOffset()))
		}
		if r.Batch == nil {
			continue
		}
		if err := r.Batch.Verify(); err != nil {
			l.t.Fatal(err)
		}
		kept = append(kept, r.Batch)
	}
	l.batches = kept
	for _, a := range l.aborted {
		if a.LastOffset >= to {
			aborted = append(aborted, a)
		}
	}
	l.aborted = aborted
	return fmt.Sprintf("keys=%d up to %d\n", keys.Len(), keys.Latest())
}

// abortedAt returns the aborted transaction with a marker at an offset.
func (l *scriptLog) abortedAt(offset int64) AbortedTxn {
	for _, a := range l.aborted {
		if a.LastOffset == offset {
			return a
		}
	}
	l.t.Fatalf("no transaction was aborted at %d", offset)
	return AbortedTxn{}
}

// TestStaleAbort has a transaction index that names a transaction whose marker is gone. What its producer committed later must stay.
func TestStaleAbort(t *testing.T) {
	l := newScriptLog(t)
	o := record.NewOptions(record.None)
	o.ProducerID, o.ProducerEpoch, o.BaseSequence, o.Transactional = 1, 0, 0, true
	for _, base := range []int64{20, 30} {
		o.BaseOffset = base
		b := record.NewBuilder(o)
		b.Append(&record.Record{Key: []byte("k"), Value: []byte("v")})
		batch, err := b.Build(nil, l.pack)
		if err != nil {
			t.Fatal(err)
		}
		txns := NewTransactions()
		txns.Add([]AbortedTxn{{1, 5, 10}, {1, 25, 30}, {1, 25, 30}})
		if got, want := txns.Data(batch), base == 30; got != want {
			t.Errorf("the batch at %d is aborted: %v", base, got)
		}
	}
}

func (l *scriptLog) String() string {
	var out strings.Builder
	for _, b := range l.batches {
		fmt.Fprintf(&out, "%d-%d", b.BaseOffset(), b.LastOffset())
		if b.Codec() != record.None {
			fmt.Fprintf(&out, " %s", b.Codec())
		}
		if b.HasProducerID() {
			fmt.Fprintf(&out, " pid=%d epoch=%d", b.ProducerID(), b.ProducerEpoch())
			if !b.IsControl() {
				fmt.Fprintf(&out, " seq=%d..%d", b.BaseSequence(), b.LastSequence())
			}
		}
		if b.IsTransactional() {
			out.WriteString(" txn")
		}
		if b.HasDeleteHorizon() {
			fmt.Fprintf(&out, " horizon=%d", b.BaseTimestamp())
		}
		fmt.Fprintf(&out, " max=%d:", b.MaxTimestamp())
		l.printRecords(&out, b)
		out.WriteString("\n")
	}
	return out.String()
}

func (l *scriptLog) printRecords(out *strings.Builder, b record.Batch) {
	if m, ok := b.EndMarker(); ok {
		out.WriteString(map[bool]string{true: " COMMIT", false: " ABORT"}[m.Commit])
		return
	}
	if b.Count() == 0 {
		out.WriteString(" empty")
	}
	r := b.Records(l.unpack)
	defer r.Close()
	for r.Next() {
		rec := r.Record()
		value := string(rec.Value)
		if rec.Value == nil {
			value = "null"
		}
		fmt.Fprintf(out, " %d@%d:%s=%s", rec.Offset, rec.Timestamp, rec.Key, value)
	}
	if err := r.Err(); err != nil {
		l.t.Fatal(err)
	}
}

// TestFilter plays scripts against a log in memory: what compaction leaves of it.
func TestFilter(t *testing.T) {
	datadriven.Walk(t, "testdata/filter", func(t *testing.T, path string) {
		l := newScriptLog(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "append":
				l.add(scriptBatch(t, d, l))
				return ""
			case "marker":
				b := record.AppendEndMarker(nil, arg[int64](t, d, "pid", 1), arg[int16](t, d, "epoch", 0),
					record.EndMarker{Commit: d.HasArg("commit"), CoordinatorEpoch: 3}, arg[int64](t, d, "ts", 100))
				b.SetBaseOffset(l.next)
				l.add(b)
				return ""
			case "expire":
				delete(l.last, arg[int64](t, d, "pid", 1))
				return ""
			case "compact":
				note := l.compact(arg[int64](t, d, "from", 0), arg(t, d, "to", l.next), arg[int64](t, d, "now", 1000), arg[int64](t, d, "retention", 500),
					arg[int64](t, d, "slots", 100))
				return note + l.String()
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

// scriptBatch reads a batch: one record in each line, as key=value, key=null or =value.
func scriptBatch(t *testing.T, d *datadriven.TestData, l *scriptLog) record.Batch {
	t.Helper()
	name := "none"
	d.MaybeScanArgs(t, "codec", &name)
	codec, err := record.ParseCodec(name)
	if err != nil {
		t.Fatal(err)
	}
	o := record.NewOptions(codec)
	o.BaseOffset, o.PartitionLeaderEpoch = arg(t, d, "base", l.next), 7
	if d.HasArg("pid") {
		o.ProducerID, o.ProducerEpoch, o.BaseSequence = arg[int64](t, d, "pid", 0), arg[int16](t, d, "epoch", 0), arg[int32](t, d, "seq", 0)
	}
	o.Transactional = d.HasArg("txn")
	if at := arg[int64](t, d, "append-time", 0); at > 0 {
		o.TimestampType, o.AppendTime = record.LogAppendTime, at
	}
	builder := record.NewBuilder(o)
	ts := arg[int64](t, d, "ts", 100)
	for i, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		key, value, _ := strings.Cut(line, "=")
		r := &record.Record{Timestamp: ts + int64(i), Value: []byte(value), Headers: []record.Header{{Key: []byte("h"), Value: []byte(line)}}}
		if key != "" {
			r.Key = []byte(key)
		}
		if value == "null" {
			r.Value = nil
		}
		builder.Append(r)
	}
	b, err := builder.Build(nil, l.pack)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
