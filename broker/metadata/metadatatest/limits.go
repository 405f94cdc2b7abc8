package metadatatest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"moldau/broker/metadata"
)

func testLimits(t *testing.T, f *fixture) {
	ops := make([]metadata.Op, metadata.MaxOps)
	cmps := make([]metadata.Cmp, metadata.MaxOps)
	for i := range ops {
		key := fmt.Sprintf("limit/%03d", i)
		ops[i], cmps[i] = metadata.Put(key, bytes.Repeat([]byte("v"), 2<<10)), metadata.Absent(key)
	}
	f.txn(cmps, ops...)
	f.txn(nil, metadata.Put("value", make([]byte, metadata.MaxValueBytes)))
	if kv := f.get("value"); len(kv.Value) != metadata.MaxValueBytes {
		t.Fatalf("largest value came back with %d bytes", len(kv.Value))
	}
	f.put(strings.Repeat("k", metadata.MaxKeyBytes), "v")
	big := make([]byte, metadata.MaxValueBytes)
	tooLarge := map[string]metadata.Txn{
		"ops":   {Ops: append(ops, metadata.Put("one more", nil))},
		"cmps":  {Cmps: append(cmps, metadata.Absent("one more")), Ops: ops[:1]},
		"key":   {Ops: []metadata.Op{metadata.Put(strings.Repeat("k", metadata.MaxKeyBytes+1), nil)}},
		"value": {Ops: []metadata.Op{metadata.Put("x", make([]byte, metadata.MaxValueBytes+1))}},
		"bytes": {Ops: []metadata.Op{metadata.Put("1", big), metadata.Put("2", big), metadata.Put("3", big), metadata.Put("4", nil)}},
	}
	for name, txn := range tooLarge {
		if _, err := f.Txn(f.ctx, txn); !errors.Is(err, metadata.ErrTooLarge) {
			t.Errorf("too many %s: %v, want ErrTooLarge", name, err)
		}
	}
	f.absent("x")
	f.prefixLimit()
}

// prefixLimit checks that a prefix of MaxPrefixKeys keys can be deleted, and one of more cannot.
func (f *fixture) prefixLimit() {
	f.t.Helper()
	for i := 0; i <= metadata.MaxPrefixKeys; i += metadata.MaxOps {
		var ops []metadata.Op
		for j := i; j < min(i+metadata.MaxOps, metadata.MaxPrefixKeys+1); j++ {
			ops = append(ops, metadata.Put(fmt.Sprintf("many/%021d/%08d", 0, j), []byte("v")))
		}
		f.txn(nil, ops...)
	}
	if _, err := f.Txn(f.ctx, metadata.Txn{Ops: []metadata.Op{metadata.DeletePrefix("many/")}}); !errors.Is(err, metadata.ErrTooLarge) {
		f.t.Fatalf("prefix of %d keys: %v, want ErrTooLarge", metadata.MaxPrefixKeys+1, err)
	}
	f.txn(nil, metadata.Delete(fmt.Sprintf("many/%021d/%08d", 0, 7)))
	f.txn(nil, metadata.DeletePrefix("many/"))
	if kvs, _ := f.list("many/"); len(kvs) != 0 {
		f.t.Fatalf("%d keys left below the deleted prefix", len(kvs))
	}
}

func testInvalidTxns(t *testing.T, f *fixture) {
	put := metadata.Put("a/b", []byte("v"))
	tests := map[string]metadata.Txn{
		"no operation":      {Cmps: []metadata.Cmp{metadata.Absent("a")}},
		"empty key":         {Ops: []metadata.Op{metadata.Put("", nil)}},
		"empty prefix":      {Ops: []metadata.Op{metadata.DeletePrefix("")}},
		"empty compare key": {Cmps: []metadata.Cmp{metadata.Absent("")}, Ops: []metadata.Op{put}},
		"key twice":         {Ops: []metadata.Op{put, metadata.Delete("a/b")}},
		"key below prefix":  {Ops: []metadata.Op{put, metadata.DeletePrefix("a/")}},
	}
	for name, txn := range tests {
		if _, err := f.Txn(f.ctx, txn); !errors.Is(err, metadata.ErrInvalidTxn) {
			t.Errorf("%s: %v, want ErrInvalidTxn", name, err)
		}
	}
	if kvs, rev := f.list(""); len(kvs) != 0 || rev != 0 {
		t.Fatalf("invalid transactions left %v at revision %d", kvs, rev)
	}
}
