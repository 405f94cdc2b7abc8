package metadatatest

import (
	"context"
	"errors"
	"testing"

	"moldau/broker/metadata"
)

func testCanceled(t *testing.T, f *fixture) {
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	if _, err := f.Txn(ctx, metadata.Txn{Ops: []metadata.Op{metadata.Put("a", nil)}}); !errors.Is(err, context.Canceled) {
		t.Errorf("txn: %v", err)
	}
	if _, _, err := f.Get(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("get: %v", err)
	}
	if _, _, err := f.List(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("list: %v", err)
	}
	f.absent("a")
}

func testClosed(t *testing.T, f *fixture) {
	rev := f.put("a", "1")
	session, err := f.OpenSession(f.ctx, metadata.MinSessionTTL)
	if err != nil {
		t.Fatal(err)
	}
	watch := f.watch("", rev)
	if err := f.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	select {
	case b, ok := <-watch:
		if ok {
			t.Errorf("watch of a closed store gave %+v", b)
		}
	case <-f.ctx.Done():
		t.Error("watch goes on after the store was closed")
	}
	select {
	case <-session.Lost():
	case <-f.ctx.Done():
		t.Error("session goes on after the store was closed")
	}
	_, txnErr := f.Txn(f.ctx, metadata.Txn{Ops: []metadata.Op{metadata.Put("a", nil)}})
	_, _, getErr := f.Get(f.ctx, "a")
	_, _, listErr := f.List(f.ctx, "")
	_, watchErr := f.Watch(f.ctx, "", rev)
	_, sessionErr := f.OpenSession(f.ctx, metadata.MinSessionTTL)
	for name, err := range map[string]error{"txn": txnErr, "get": getErr, "list": listErr, "watch": watchErr, "session": sessionErr} {
		if !errors.Is(err, metadata.ErrClosed) {
			t.Errorf("%s on a closed store: %v, want ErrClosed", name, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}
