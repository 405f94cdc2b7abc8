package metadatatest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"moldau/broker/metadata"
)

func (f *fixture) session() metadata.Session {
	f.t.Helper()
	s, err := f.OpenSession(f.ctx, 10*time.Second)
	if err != nil {
		f.t.Fatalf("open session: %v", err)
	}
	return s
}

// lost checks that a session ends.
func (f *fixture) lost(s metadata.Session) {
	f.t.Helper()
	select {
	case <-s.Lost():
	case <-f.ctx.Done():
		f.t.Fatal("session was not lost")
	}
}

func testSessionKeys(t *testing.T, f *fixture) {
	s := f.session()
	if s.ID() == 0 {
		t.Fatal("session without id")
	}
	if !s.Deadline().After(time.Now()) {
		t.Fatalf("deadline %s of a fresh session has passed", s.Deadline())
	}
	f.txn(nil, metadata.PutSession("mine", []byte("1"), s.ID()), metadata.Put("free", nil))
	f.txn(nil, metadata.PutSession("left", nil, s.ID()))
	f.put("left", "no longer tied")
	if kv := f.get("mine"); kv.Session != s.ID() {
		t.Fatalf("session key %+v", kv)
	}
	if kv := f.get("left"); kv.Session != 0 {
		t.Fatalf("key put without session is still tied: %+v", kv)
	}
	watch := f.watch("", f.rev())
	if err := s.Close(f.ctx); err != nil {
		t.Fatalf("close: %v", err)
	}
	f.lost(s)
	f.absent("mine")
	f.get("left")
	f.get("free")
	if e := f.take(watch, 1)[0]; e.Kind != metadata.EventDelete || e.KV.Key != "mine" {
		t.Fatalf("event %+v, want the deletion of mine", e)
	}
	if err := s.Close(f.ctx); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func testSessionExpiry(t *testing.T, f *fixture) {
	s, other := f.session(), f.session()
	f.txn(nil, metadata.PutSession("a", nil, s.ID()), metadata.PutSession("b", nil, other.ID()))
	created := f.get("a").CreateRev
	if err := f.ExpireSession(f.ctx, s.ID()); err != nil {
		t.Fatalf("expire: %v", err)
	}
	f.lost(s)
	f.absent("a")
	f.get("b")
	select {
	case <-other.Lost():
		t.Fatal("the other session was lost too")
	default:
	}
	if s.Deadline().After(time.Now()) {
		t.Errorf("lost session is alive until %s", s.Deadline())
	}
	_, err := f.Txn(f.ctx, metadata.Txn{Ops: []metadata.Op{metadata.PutSession("a", nil, s.ID())}})
	if !errors.Is(err, metadata.ErrSessionLost) {
		t.Fatalf("put with a lost session: %v, want ErrSessionLost", err)
	}
	f.absent("a")
	f.txn([]metadata.Cmp{metadata.Absent("a")}, metadata.PutSession("a", nil, other.ID()))
	if kv := f.get("a"); kv.CreateRev <= created {
		t.Fatalf("a new registration has create revision %d, the old one had %d", kv.CreateRev, created)
	}
	if err := f.ExpireSession(f.ctx, other.ID()); err != nil {
		t.Fatal(err)
	}
	f.absent("b")
}

func testSessionRules(t *testing.T, f *fixture) {
	for _, ttl := range []time.Duration{0, -time.Second, metadata.MinSessionTTL - 1, metadata.MaxSessionTTL + 1} {
		if _, err := f.OpenSession(f.ctx, ttl); !errors.Is(err, metadata.ErrInvalidTxn) {
			t.Errorf("ttl %s: %v, want ErrInvalidTxn", ttl, err)
		}
	}
	_, err := f.Txn(f.ctx, metadata.Txn{Ops: []metadata.Op{metadata.PutSession("a", nil, 4711)}})
	if !errors.Is(err, metadata.ErrSessionLost) {
		t.Errorf("unknown session: %v, want ErrSessionLost", err)
	}
	first, second := f.session(), f.session()
	if first.ID() == second.ID() {
		t.Fatal("two sessions share an id")
	}
	f.txn(nil, metadata.PutSession("k", nil, first.ID()))
	f.txn(nil, metadata.PutSession("k", nil, second.ID())) // changes hands
	if err := first.Close(f.ctx); err != nil {
		t.Fatal(err)
	}
	f.get("k")
	f.txn(nil, metadata.Delete("k"))
	f.put("k", "free")
	if err := second.Close(f.ctx); err != nil {
		t.Fatal(err)
	}
	f.get("k")
}

func testSessionManyKeys(t *testing.T, f *fixture) {
	s := f.session()
	const n = 3 * metadata.MaxOps
	for i := 0; i < n; i += metadata.MaxOps {
		var ops []metadata.Op
		for j := range metadata.MaxOps {
			ops = append(ops, metadata.PutSession(fmt.Sprintf("s/%04d", i+j), nil, s.ID()))
		}
		f.txn(nil, ops...)
	}
	watch := f.watch("s/", f.rev())
	if err := s.Close(f.ctx); err != nil {
		t.Fatal(err)
	}
	if kvs, _ := f.list("s/"); len(kvs) != 0 {
		t.Fatalf("%d keys outlived their session", len(kvs))
	}
	f.take(watch, n)
}
