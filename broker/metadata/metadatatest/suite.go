package metadatatest

import (
	"context"
	"errors"
	"testing"
	"time"

	"moldau/broker/metadata"
)

// Store is what the suite needs of an engine: the contract, and a way to end a session from outside, as the loss of its
// holder would (for etcd: revoke the lease).
type Store interface {
	metadata.Store
	ExpireSession(ctx context.Context, id metadata.SessionID) error
}

// Run runs the suite. Open returns an empty store; the suite closes it.
func Run(t *testing.T, open func(t *testing.T) Store) {
	tests := []struct {
		name string
		run  func(*testing.T, *fixture)
	}{
		{"KeyLife", testKeyLife},
		{"TxnAtomicity", testTxnAtomicity},
		{"Compares", testCompares},
		{"NoChangeNoRevision", testNoChange},
		{"DeletePrefix", testDeletePrefix},
		{"Limits", testLimits},
		{"InvalidTxns", testInvalidTxns},
		{"BinaryKeysAndValues", testBinary},
		{"BigList", testBigList},
		{"ListIsASnapshot", testListSnapshot},
		{"CompareAndSwapRace", testCASRace},
		{"CreateRace", testCreateRace},
		{"WatchOrder", testWatchOrder},
		{"WatchPrefix", testWatchPrefix},
		{"WatchFromThePast", testWatchPast},
		{"WatchFollowsWriters", testWatchWriters},
		{"WatchEndsWithContext", testWatchContext},
		{"SlowWatcher", testSlowWatcher},
		{"SessionKeys", testSessionKeys},
		{"SessionExpiry", testSessionExpiry},
		{"SessionRules", testSessionRules},
		{"SessionWithManyKeys", testSessionManyKeys},
		{"CanceledContext", testCanceled},
		{"Closed", testClosed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
			defer cancel()
			s := open(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			tt.run(t, &fixture{Store: s, t: t, ctx: ctx})
		})
	}
}

// fixture is a store with calls that must succeed.
type fixture struct {
	Store
	t   *testing.T
	ctx context.Context
}

// txn runs a transaction whose compares must hold.
func (f *fixture) txn(cmps []metadata.Cmp, ops ...metadata.Op) metadata.Rev {
	f.t.Helper()
	result, err := f.Txn(f.ctx, metadata.Txn{Cmps: cmps, Ops: ops})
	if err != nil {
		f.t.Fatalf("txn: %v", err)
	}
	if !result.Succeeded {
		f.t.Fatalf("txn: a compare of %v failed at revision %d", cmps, result.Rev)
	}
	return result.Rev
}

func (f *fixture) put(key, value string) metadata.Rev {
	f.t.Helper()
	return f.txn(nil, metadata.Put(key, []byte(value)))
}

// get reads a key that must exist.
func (f *fixture) get(key string) metadata.KV {
	f.t.Helper()
	kv, _, err := f.Get(f.ctx, key)
	if err != nil {
		f.t.Fatalf("get %q: %v", key, err)
	}
	return kv
}

// absent checks that a key does not exist.
func (f *fixture) absent(key string) {
	f.t.Helper()
	if kv, _, err := f.Get(f.ctx, key); !errors.Is(err, metadata.ErrNotFound) {
		f.t.Fatalf("get %q: %v %v, want ErrNotFound", key, kv, err)
	}
}

func (f *fixture) list(prefix string) ([]metadata.KV, metadata.Rev) {
	f.t.Helper()
	kvs, rev, err := f.List(f.ctx, prefix)
	if err != nil {
		f.t.Fatalf("list %q: %v", prefix, err)
	}
	return kvs, rev
}

// rev is the revision of the store.
func (f *fixture) rev() metadata.Rev {
	f.t.Helper()
	_, rev := f.list("none/")
	return rev
}

func (f *fixture) watch(prefix string, after metadata.Rev) <-chan metadata.Batch {
	f.t.Helper()
	batches, err := f.Watch(f.ctx, prefix, after)
	if err != nil {
		f.t.Fatalf("watch %q after %d: %v", prefix, after, err)
	}
	return batches
}

// take reads n events of a watch and checks what holds for every watch: revisions ascend, and a batch ends with the last
// revision of its events.
func (f *fixture) take(batches <-chan metadata.Batch, n int) []metadata.Event {
	f.t.Helper()
	var events []metadata.Event
	for len(events) < n {
		select {
		case b, ok := <-batches:
			if !ok || b.Err != nil {
				f.t.Fatalf("watch ended after %d of %d events: %v", len(events), n, b.Err)
			}
			f.checkBatch(b, events)
			events = append(events, b.Events...)
		case <-f.ctx.Done():
			f.t.Fatalf("watch gave %d of %d events", len(events), n)
		}
	}
	if len(events) > n {
		f.t.Fatalf("watch gave %d events, want %d", len(events), n)
	}
	return events
}

func (f *fixture) checkBatch(b metadata.Batch, before []metadata.Event) {
	f.t.Helper()
	if len(b.Events) == 0 {
		f.t.Fatalf("batch of revision %d without events", b.Rev)
	}
	var last metadata.Rev
	if len(before) > 0 {
		last = before[len(before)-1].KV.ModRev + 1 // a batch has whole revisions
	}
	for _, e := range b.Events {
		if e.KV.ModRev < last {
			f.t.Fatalf("event of revision %d after %d", e.KV.ModRev, last)
		}
		last = e.KV.ModRev
	}
	if b.Rev != last {
		f.t.Fatalf("batch of revision %d ends with an event of revision %d", b.Rev, last)
	}
}

// quiet checks that a watch has nothing to say up to now: a marker that it must deliver comes next.
func (f *fixture) quiet(batches <-chan metadata.Batch, markerKey string) {
	f.t.Helper()
	rev := f.put(markerKey, "marker")
	events := f.take(batches, 1)
	if e := events[0]; e.KV.Key != markerKey || e.KV.ModRev != rev {
		f.t.Fatalf("watch gave %v, want nothing before the marker", e)
	}
}
