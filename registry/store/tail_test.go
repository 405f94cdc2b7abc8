package store

import (
	"log/slog"
	"strconv"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/registry/catalog"
)

// TestCompactedCommit: a commit whose last record is a removal loses that to compaction one day. What it wrote before was found to
// be kept back after a restart, until somebody wrote again.
func TestCompactedCommit(t *testing.T) {
	record := func(offset int64, key, value string, more int) *kgo.Record {
		r := &kgo.Record{Key: []byte(key), Value: []byte(value), Offset: offset, Headers: []kgo.RecordHeader{
			{Key: generationHeader, Value: []byte("1")}, {Key: commitHeader, Value: []byte("1")},
		}}
		if more > 0 {
			r.Headers = append(r.Headers, kgo.RecordHeader{Key: moreHeader, Value: []byte(strconv.Itoa(more))})
		}
		return r
	}
	m := newMetrics(nil)
	tail := &ledgerTail{topic: "t", state: newLedgerState(m), log: slog.New(slog.DiscardHandler), metrics: m, target: 9, catalog: new(catalog.Ledger), shown: new(catalog.Ledger)}
	size := func() int { return tail.state.load().catalog.Size() }
	tail.apply(fetched{records: []*kgo.Record{record(0, "a", "1", 1), record(1, "b", "1", 0), record(3, "c", "1", 2)}, next: 4})
	tail.apply(fetched{records: []*kgo.Record{record(4, "d", "1", 1)}, next: 9, end: true}) // offset 5 is gone
	if p := tail.state.load(); !p.loaded || p.catalog.Size() != 4 || p.catalog.Offset() != 9 {
		t.Errorf("loaded %t with %d keys up to %d", p.loaded, size(), p.catalog.Offset())
	}
	tail.apply(fetched{records: []*kgo.Record{record(9, "e", "1", 1)}, next: 10})
	if size() != 4 {
		t.Error("half a commit is seen")
	}
	tail.apply(fetched{records: []*kgo.Record{record(10, "f", "1", 0)}, next: 12, end: true})
	if size() != 6 {
		t.Errorf("%d keys after the commit", size())
	}
}
