package metadatatest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"moldau/broker/metadata"
)

func testKeyLife(t *testing.T, f *fixture) {
	f.absent("a")
	r1 := f.put("a", "1")
	if kv := f.get("a"); string(kv.Value) != "1" || kv.CreateRev != r1 || kv.ModRev != r1 || kv.Session != 0 {
		t.Fatalf("after creation at %d: %+v", r1, kv)
	}
	r2 := f.put("a", "2")
	if r2 <= r1 {
		t.Fatalf("revision %d after %d", r2, r1)
	}
	if kv := f.get("a"); string(kv.Value) != "2" || kv.CreateRev != r1 || kv.ModRev != r2 {
		t.Fatalf("after change at %d: %+v", r2, kv)
	}
	f.txn(nil, metadata.Delete("a"))
	f.absent("a")
	r4 := f.put("a", "3")
	if kv := f.get("a"); kv.CreateRev != r4 || kv.ModRev != r4 {
		t.Fatalf("after recreation at %d: %+v", r4, kv)
	}
	if _, rev, _ := f.Get(f.ctx, "none"); rev != r4 {
		t.Fatalf("revision of a failed get: %d, want %d", rev, r4)
	}
}

func testTxnAtomicity(t *testing.T, f *fixture) {
	f.put("old", "1")
	rev := f.txn(nil, metadata.Put("a", []byte("1")), metadata.Put("b", []byte("2")), metadata.Delete("old"))
	for _, key := range []string{"a", "b"} {
		if kv := f.get(key); kv.ModRev != rev || kv.CreateRev != rev {
			t.Fatalf("%s is not of revision %d: %+v", key, rev, kv)
		}
	}
	f.absent("old")
	result, err := f.Txn(f.ctx, metadata.Txn{
		Cmps: []metadata.Cmp{metadata.Exists("a"), metadata.Absent("b")},
		Ops:  []metadata.Op{metadata.Put("a", []byte("x")), metadata.Put("c", []byte("x"))},
	})
	if err != nil || result.Succeeded || result.Rev != rev {
		t.Fatalf("txn with a false compare: %+v %v, want failed at revision %d", result, err, rev)
	}
	f.absent("c")
	if kv := f.get("a"); string(kv.Value) != "1" {
		t.Fatalf("failed txn changed a: %q", kv.Value)
	}
}

func testCompares(t *testing.T, f *fixture) {
	created := f.put("k", "1")
	modified := f.put("k", "2")
	tests := []struct {
		cmp  metadata.Cmp
		want bool
	}{
		{metadata.Exists("k"), true},
		{metadata.Exists("none"), false},
		{metadata.Absent("none"), true},
		{metadata.Absent("k"), false},
		{metadata.CreatedAt("k", created), true},
		{metadata.CreatedAt("k", modified), false},
		{metadata.CreatedAt("none", 0), true},
		{metadata.CreatedAt("none", created), false},
		{metadata.ModifiedAt("k", modified), true},
		{metadata.ModifiedAt("k", created), false},
		{metadata.ModifiedAt("k", modified+1), false},
		{metadata.ModifiedAt("none", 0), true},
	}
	for i, tt := range tests {
		key := fmt.Sprintf("result/%d", i)
		result, err := f.Txn(f.ctx, metadata.Txn{Cmps: []metadata.Cmp{tt.cmp}, Ops: []metadata.Op{metadata.Put(key, nil)}})
		if err != nil || result.Succeeded != tt.want {
			t.Errorf("%+v: %+v %v, want %v", tt.cmp, result, err, tt.want)
		}
	}
}

func testNoChange(t *testing.T, f *fixture) {
	rev := f.put("a", "1")
	if got := f.txn(nil, metadata.Delete("none"), metadata.DeletePrefix("none/")); got != rev {
		t.Fatalf("a txn that changed nothing has revision %d, want %d", got, rev)
	}
	watch := f.watch("", rev)
	f.quiet(watch, "marker")
	if got := f.put("a", "1"); got != rev+2 {
		t.Fatalf("a put of the same value has revision %d, want %d", got, rev+2)
	}
}

func testDeletePrefix(t *testing.T, f *fixture) {
	var ops []metadata.Op
	for _, key := range []string{"p", "p/", "p/1", "p/2/x", "p0", "o/9", "q"} {
		ops = append(ops, metadata.Put(key, []byte("v")))
	}
	f.txn(nil, ops...)
	rev := f.rev()
	watch := f.watch("", rev)
	deleted := f.txn(nil, metadata.DeletePrefix("p/"))
	kvs, _ := f.list("")
	if got := keysOf(kvs); got != "o/9 p p0 q" {
		t.Fatalf("left are %s", got)
	}
	var gone []string
	for _, e := range f.take(watch, 3) {
		if e.Kind != metadata.EventDelete || e.KV.ModRev != deleted || e.KV.Value != nil {
			t.Fatalf("event %+v, want a deletion at %d", e, deleted)
		}
		gone = append(gone, e.KV.Key)
	}
	if got := strings.Join(gone, " "); got != "p/ p/1 p/2/x" {
		t.Fatalf("events for %s", got)
	}
}

func testBinary(t *testing.T, f *fixture) {
	key, value := "\x00\xff/\n\xc3", []byte{0, 255, 10, 0}
	f.txn(nil, metadata.Put(key, value), metadata.Put("empty", nil))
	if kv := f.get(key); !bytes.Equal(kv.Value, value) {
		t.Fatalf("value %x, want %x", kv.Value, value)
	}
	if kv := f.get("empty"); len(kv.Value) != 0 {
		t.Fatalf("empty value came back as %x", kv.Value)
	}
	if kvs, _ := f.list("\x00"); len(kvs) != 1 || kvs[0].Key != key {
		t.Fatalf("list of a binary prefix: %v", kvs)
	}
}

func testBigList(t *testing.T, f *fixture) {
	const n = 5000
	for i := 0; i < n; i += metadata.MaxOps {
		var ops []metadata.Op
		for j := i; j < min(i+metadata.MaxOps, n); j++ {
			ops = append(ops, metadata.Put(fmt.Sprintf("big/%06d", n-1-j), []byte(fmt.Sprint(n-1-j))))
		}
		f.txn(nil, ops...)
	}
	f.put("bih", "x")
	kvs, rev := f.list("big/")
	if len(kvs) != n {
		t.Fatalf("%d keys, want %d", len(kvs), n)
	}
	for i, kv := range kvs {
		if kv.Key != fmt.Sprintf("big/%06d", i) || string(kv.Value) != fmt.Sprint(i) || kv.ModRev < 1 || kv.ModRev > rev {
			t.Fatalf("entry %d is %+v", i, kv)
		}
	}
	if kvs, _ := f.list("big/00499"); len(kvs) != 10 {
		t.Fatalf("narrow prefix has %d keys, want 10", len(kvs))
	}
	if kvs, _ := f.list("none/"); len(kvs) != 0 {
		t.Fatalf("absent prefix has %d keys", len(kvs))
	}
}

// testListSnapshot moves a token between two keys in every transaction: a list must always see it exactly once, and its
// revision must be the token's.
func testListSnapshot(t *testing.T, f *fixture) {
	f.put("token/a", "x")
	done := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		defer close(done)
		for range 100 {
			if _, err := f.Txn(f.ctx, metadata.Txn{Ops: []metadata.Op{metadata.Put("token/b", nil), metadata.Delete("token/a")}}); err != nil {
				t.Error(err)
				return
			}
			if _, err := f.Txn(f.ctx, metadata.Txn{Ops: []metadata.Op{metadata.Put("token/a", nil), metadata.Delete("token/b")}}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	defer writer.Wait()
	for {
		kvs, rev := f.list("token/")
		if len(kvs) != 1 || kvs[0].ModRev != rev {
			t.Fatalf("list at revision %d shows %+v", rev, kvs)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

// testCASRace counts with compare-and-swap from many goroutines: no increment may be lost.
func testCASRace(t *testing.T, f *fixture) {
	const writers, each = 8, 25
	f.put("counter", "0")
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for done := 0; done < each; {
				kv, _, err := f.Get(f.ctx, "counter")
				if err != nil {
					t.Error(err)
					return
				}
				n, err := strconv.Atoi(string(kv.Value))
				if err != nil {
					t.Error(err)
					return
				}
				result, err := f.Txn(f.ctx, metadata.Txn{
					Cmps: []metadata.Cmp{metadata.ModifiedAt("counter", kv.ModRev)},
					Ops:  []metadata.Op{metadata.Put("counter", []byte(fmt.Sprint(n+1)))},
				})
				if err != nil {
					t.Error(err)
					return
				}
				if result.Succeeded {
					done++
				} else if result.Rev <= kv.ModRev {
					t.Errorf("compare with revision %d failed at revision %d", kv.ModRev, result.Rev)
					return
				}
			}
		})
	}
	group.Wait()
	if kv := f.get("counter"); string(kv.Value) != fmt.Sprint(writers*each) {
		t.Fatalf("counter is %s, want %d", kv.Value, writers*each)
	}
}

// testCreateRace lets many goroutines create one key: exactly one may win, and the key is the winner's.
func testCreateRace(t *testing.T, f *fixture) {
	for round := range 10 {
		key := fmt.Sprintf("round/%d", round)
		winners := make(chan int, 16)
		var group sync.WaitGroup
		for i := range 16 {
			group.Go(func() {
				result, err := f.Txn(f.ctx, metadata.Txn{
					Cmps: []metadata.Cmp{metadata.Absent(key)},
					Ops:  []metadata.Op{metadata.Put(key, []byte(fmt.Sprint(i)))},
				})
				if err != nil {
					t.Error(err)
				}
				if result.Succeeded {
					winners <- i
				}
			})
		}
		group.Wait()
		close(winners)
		var won []int
		for w := range winners {
			won = append(won, w)
		}
		if len(won) != 1 || string(f.get(key).Value) != fmt.Sprint(won[0]) {
			t.Fatalf("round %d: winners %v, value %s", round, won, f.get(key).Value)
		}
	}
}

func keysOf(kvs []metadata.KV) string {
	keys := make([]string, len(kvs))
	for i, kv := range kvs {
		keys[i] = kv.Key
	}
	return strings.Join(keys, " ")
}
