package metadatatest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"moldau/broker/metadata"
)

func testWatchOrder(t *testing.T, f *fixture) {
	watch := f.watch("", f.rev())
	r1 := f.put("a", "1")
	r2 := f.txn(nil, metadata.Put("a", []byte("2")), metadata.Put("b", []byte("2")))
	r3 := f.txn(nil, metadata.Delete("a"))
	events := f.take(watch, 4)
	if e := events[0]; e.Kind != metadata.EventPut || e.KV.Key != "a" || string(e.KV.Value) != "1" || e.KV.ModRev != r1 || e.KV.CreateRev != r1 {
		t.Errorf("first event %+v", e)
	}
	for i, key := range []string{"a", "b"} {
		if e := events[1+i]; e.KV.Key != key || string(e.KV.Value) != "2" || e.KV.ModRev != r2 {
			t.Errorf("event %d is %+v", 1+i, e)
		}
	}
	if e := events[1]; e.KV.CreateRev != r1 {
		t.Errorf("changed key has create revision %d, want %d", e.KV.CreateRev, r1)
	}
	if e := events[3]; e.Kind != metadata.EventDelete || e.KV.Key != "a" || e.KV.ModRev != r3 || e.KV.Value != nil || e.KV.CreateRev != 0 {
		t.Errorf("deletion %+v", e)
	}
}

func testWatchPrefix(t *testing.T, f *fixture) {
	watch := f.watch("in/", f.rev())
	f.put("out/1", "x")
	f.txn(nil, metadata.Put("out/2", nil), metadata.Put("in/1", []byte("y")))
	f.txn(nil, metadata.Delete("out/1"))
	f.txn(nil, metadata.DeletePrefix("in"))
	events := f.take(watch, 2)
	if events[0].KV.Key != "in/1" || events[1].KV.Key != "in/1" || events[1].Kind != metadata.EventDelete {
		t.Fatalf("events %+v", events)
	}
	f.quiet(watch, "in/marker")
}

// testWatchPast begins a watch at every revision of the past: each must see exactly what came after.
func testWatchPast(t *testing.T, f *fixture) {
	const n = 20
	first := f.rev()
	for i := range n {
		f.put("k", fmt.Sprint(i))
	}
	for i := range n {
		events := f.take(f.watch("", first+metadata.Rev(i)), n-i)
		for j, e := range events {
			if string(e.KV.Value) != fmt.Sprint(i+j) {
				t.Fatalf("watch after change %d begins with %q", i, e.KV.Value)
			}
		}
	}
	f.quiet(f.watch("", f.rev()), "marker")
}

// testWatchWriters runs writers beside watchers, which begin with a list at any moment: list and watch together must give
// what a list gives at the end, and no revision may be missing.
func testWatchWriters(t *testing.T, f *fixture) {
	const writers, each, watchers = 4, 100, 4
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				key := fmt.Sprintf("w/%d/%d", w, i%7)
				op := metadata.Put(key, []byte(fmt.Sprint(i)))
				if i%11 == 10 {
					op = metadata.Delete(key)
				}
				if _, err := f.Txn(f.ctx, metadata.Txn{Ops: []metadata.Op{op}}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	states := make([]map[string]string, watchers)
	for i := range watchers {
		group.Go(func() { states[i] = f.follow(t) })
	}
	group.Wait()
	want := map[string]string{}
	kvs, _ := f.list("w/")
	for _, kv := range kvs {
		want[kv.Key] = string(kv.Value)
	}
	for i, state := range states {
		if fmt.Sprint(state) != fmt.Sprint(want) {
			t.Errorf("watcher %d ended with %v, want %v", i, state, want)
		}
	}
}

// follow lists, watches until every writer has made its last change, and returns the state it arrived at. Every writer's
// transactions change something, so revisions must be without gaps.
func (f *fixture) follow(t *testing.T) map[string]string {
	state := map[string]string{}
	kvs, rev, err := f.List(f.ctx, "")
	if err != nil {
		t.Error(err)
		return nil
	}
	for _, kv := range kvs {
		state[kv.Key] = string(kv.Value)
	}
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	batches, err := f.Watch(ctx, "", rev)
	if err != nil {
		t.Error(err)
		return nil
	}
	for rev < 4*100 {
		b, ok := <-batches
		if !ok || b.Err != nil {
			t.Errorf("watch ended at revision %d: %v", rev, b.Err)
			return nil
		}
		for _, e := range b.Events {
			if e.KV.ModRev != rev && e.KV.ModRev != rev+1 {
				t.Errorf("revision %d follows %d", e.KV.ModRev, rev)
			}
			rev = e.KV.ModRev
			if e.Kind == metadata.EventDelete {
				delete(state, e.KV.Key)
			} else {
				state[e.KV.Key] = string(e.KV.Value)
			}
		}
	}
	return state
}

func testWatchContext(t *testing.T, f *fixture) {
	ctx, cancel := context.WithCancel(f.ctx)
	batches, err := f.Watch(ctx, "", f.rev())
	if err != nil {
		t.Fatal(err)
	}
	f.put("a", "1")
	cancel()
	for range 3 { // what was on its way may still come
		select {
		case b, ok := <-batches:
			if !ok {
				return
			}
			if b.Err != nil {
				t.Fatalf("canceled watch gave %v", b.Err)
			}
		case <-f.ctx.Done():
			t.Fatal("canceled watch goes on")
		}
	}
	t.Fatal("canceled watch still gives batches")
}

// testSlowWatcher writes much more than a store may remember for a watcher that takes nothing. Either the watcher gets
// everything in order, or it is told that it fell behind; and a list sets it right. The store must not wait for it.
func testSlowWatcher(t *testing.T, f *fixture) {
	rev := f.rev()
	slow := f.watch("", rev)
	value := []byte(strings.Repeat("v", metadata.MaxValueBytes))
	const n = 100 // 12.5 MiB
	for range n {
		f.txn(nil, metadata.Put("k", value))
	}
	for last := rev; last < rev+n; {
		b, ok := <-slow
		if errors.Is(b.Err, metadata.ErrCompacted) {
			break
		}
		if !ok || b.Err != nil {
			t.Fatalf("slow watch ended at revision %d: %v", last, b.Err)
		}
		for _, e := range b.Events {
			if e.KV.ModRev != last+1 {
				t.Fatalf("slow watch skipped from %d to %d", last, e.KV.ModRev)
			}
			last = e.KV.ModRev
		}
	}
	_, now := f.list("k")
	f.quiet(f.watch("", now), "marker")
}
