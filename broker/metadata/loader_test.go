package metadata_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"moldau/broker/metadata"
	"moldau/broker/metadata/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

// fakeStore is a store whose lists and watches a test answers by hand.
type fakeStore struct {
	metadata.Store
	list  func() ([]metadata.KV, metadata.Rev, error)
	watch func(after metadata.Rev) (<-chan metadata.Batch, error)
}

func (f *fakeStore) List(context.Context, string) ([]metadata.KV, metadata.Rev, error) {
	return f.list()
}

func (f *fakeStore) Watch(_ context.Context, _ string, after metadata.Rev) (<-chan metadata.Batch, error) {
	return f.watch(after)
}

func configKV(name string, rev metadata.Rev) metadata.KV {
	return metadata.KV{
		Key:       metadata.ConfigKey(metadata.Resource{Type: metadata.GroupResource, Name: name}),
		Value:     metadata.Encode(&metadata.ConfigRecord{Config: map[string]string{"rev": fmt.Sprint(rev)}}),
		CreateRev: rev, ModRev: rev,
	}
}

func batchOf(kvs ...metadata.KV) metadata.Batch {
	b := metadata.Batch{Rev: kvs[len(kvs)-1].ModRev}
	for _, kv := range kvs {
		b.Events = append(b.Events, metadata.Event{KV: kv})
	}
	return b
}

// recorder writes down what a subscriber is told.
type recorder struct {
	mu   sync.Mutex
	seen []string
}

func (r *recorder) take(prev, next *metadata.Image, d metadata.Delta) {
	r.mu.Lock()
	defer r.mu.Unlock()
	line := fmt.Sprintf("%d to %d:", prev.Rev(), next.Rev())
	for _, c := range d.Configs {
		line += " " + c.Name
	}
	r.seen = append(r.seen, line)
}

func (r *recorder) want(t *testing.T, lines ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if fmt.Sprint(r.seen) != fmt.Sprint(lines) {
		t.Errorf("subscriber was told\n%q, want\n%q", r.seen, lines)
	}
}

// TestLoaderFollows checks the order of images, deltas, subscribers and waiters through a list, changes, a watch that fell
// behind, a store that cannot be read for a while, and the end.
func TestLoaderFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		batches := make(chan metadata.Batch)
		listed := 0
		store := &fakeStore{
			list: func() ([]metadata.KV, metadata.Rev, error) {
				switch listed++; listed {
				case 1:
					return []metadata.KV{configKV("a", 3)}, 5, nil
				case 2, 3:
					return nil, 0, errors.New("store is away")
				default:
					return []metadata.KV{configKV("a", 3), configKV("c", 12)}, 20, nil
				}
			},
			watch: func(metadata.Rev) (<-chan metadata.Batch, error) { return batches, nil },
		}
		l := metadata.NewLoader(store, quiet)
		var early, late recorder
		l.Subscribe(early.take)
		if rev := l.Image().Rev(); rev != 0 {
			t.Fatalf("image before Run has revision %d", rev)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.Run(ctx) }()
		must(t, l.WaitFor(ctx, 5))
		early.want(t, "0 to 5: a")

		l.Subscribe(late.take)
		synctest.Wait()
		late.want(t, "0 to 5: a")

		waited := make(chan error, 1)
		go func() { waited <- l.WaitFor(ctx, 7) }()
		batches <- batchOf(configKV("b", 6))
		synctest.Wait()
		if len(waited) != 0 {
			t.Fatal("WaitFor(7) returned at revision 6")
		}
		batches <- batchOf(configKV("b", 7), configKV("c", 8))
		must(t, <-waited)
		late.want(t, "0 to 5: a", "5 to 6: b", "6 to 8: b c")

		start := time.Now()
		batches <- metadata.Batch{Err: metadata.ErrCompacted}
		must(t, l.WaitFor(ctx, 20)) // lists 2 and 3 fail
		if time.Since(start) < 300*time.Millisecond {
			t.Errorf("two failed reads took %s: no pause between them", time.Since(start))
		}
		late.want(t, "0 to 5: a", "5 to 6: b", "6 to 8: b c", "8 to 20: b c")
		early.want(t, "0 to 5: a", "5 to 6: b", "6 to 8: b c", "8 to 20: b c")
		if got := l.Image().Config(metadata.GroupResource, "c")["rev"]; got != "12" {
			t.Errorf("image after the second list has c of revision %s", got)
		}

		short, stop := context.WithTimeout(ctx, time.Second)
		defer stop()
		if err := l.WaitFor(short, 21); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("wait that timed out: %v", err)
		}
		go func() { waited <- l.WaitFor(t.Context(), 21) }()
		synctest.Wait()
		cancel()
		must(t, <-ended)
		if err := <-waited; !errors.Is(err, metadata.ErrClosed) {
			t.Errorf("wait at the end: %v, want ErrClosed", err)
		}
		must(t, l.WaitFor(t.Context(), 20))
	})
}

// TestLoaderRefusesDamage: what cannot be understood ends Run, in a list and in a watch, and waiters are told why.
func TestLoaderRefusesDamage(t *testing.T) {
	newer := metadata.KV{Key: "cluster", Value: []byte(`{"v":99}`), CreateRev: 2, ModRev: 2}
	t.Run("list", func(t *testing.T) {
		l := metadata.NewLoader(&fakeStore{
			list: func() ([]metadata.KV, metadata.Rev, error) { return []metadata.KV{newer}, 2, nil },
		}, quiet)
		if err := l.Run(t.Context()); !errors.Is(err, metadata.ErrNewerFormat) {
			t.Errorf("run: %v, want ErrNewerFormat", err)
		}
		if err := l.WaitFor(t.Context(), 0); !errors.Is(err, metadata.ErrNewerFormat) {
			t.Errorf("wait: %v, want ErrNewerFormat", err)
		}
	})
	t.Run("watch", func(t *testing.T) {
		batches := make(chan metadata.Batch, 1)
		batches <- batchOf(newer)
		l := metadata.NewLoader(&fakeStore{
			list:  func() ([]metadata.KV, metadata.Rev, error) { return nil, 1, nil },
			watch: func(metadata.Rev) (<-chan metadata.Batch, error) { return batches, nil },
		}, quiet)
		if err := l.Run(t.Context()); !errors.Is(err, metadata.ErrNewerFormat) {
			t.Errorf("run: %v, want ErrNewerFormat", err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		batches := make(chan metadata.Batch)
		close(batches)
		l := metadata.NewLoader(&fakeStore{
			list:  func() ([]metadata.KV, metadata.Rev, error) { return nil, 1, nil },
			watch: func(metadata.Rev) (<-chan metadata.Batch, error) { return batches, nil },
		}, quiet)
		if err := l.Run(t.Context()); !errors.Is(err, metadata.ErrClosed) {
			t.Errorf("run: %v, want ErrClosed", err)
		}
	})
}

// TestLoaderOnStore follows a real store while writers change it, and must end with what the store holds.
func TestLoaderOnStore(t *testing.T) {
	store, err := embedded.Open(t.TempDir(), embedded.Options{HistoryBytes: 4 << 10}) // little: the loader falls behind
	must(t, err)
	l := metadata.NewLoader(store, quiet)
	var mu sync.Mutex
	var last *metadata.Image
	l.Subscribe(func(prev, next *metadata.Image, _ metadata.Delta) {
		mu.Lock()
		defer mu.Unlock()
		if last != nil && prev != last || next.Rev() < prev.Rev() {
			t.Errorf("image of revision %d follows %d out of order", next.Rev(), prev.Rev())
		}
		last = next
	})
	ended := make(chan error, 1)
	go func() { ended <- l.Run(t.Context()) }()
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 100 {
				kv := configKV(fmt.Sprintf("%d/%d", w, i%10), metadata.Rev(i))
				result, err := store.Txn(t.Context(), metadata.Txn{Ops: []metadata.Op{metadata.Put(kv.Key, kv.Value)}})
				if err != nil {
					t.Error(err)
					return
				}
				if i%25 == 0 {
					must(t, l.WaitFor(t.Context(), result.Rev))
				}
			}
		})
	}
	writers.Wait()
	kvs, rev, err := store.List(t.Context(), "")
	must(t, err)
	must(t, l.WaitFor(t.Context(), rev))
	want, err := metadata.BuildImage(rev, kvs)
	must(t, err)
	for _, kv := range kvs {
		name := kv.Key[len("cfg/group/"):]
		if a, b := l.Image().Config(metadata.GroupResource, name)["rev"], want.Config(metadata.GroupResource, name)["rev"]; a != b {
			t.Errorf("%s is of revision %s, want %s", name, a, b)
		}
	}
	must(t, store.Close())
	if err := <-ended; !errors.Is(err, metadata.ErrClosed) {
		t.Errorf("run after the store was closed: %v, want ErrClosed", err)
	}
}

func TestEnsureClusterID(t *testing.T) {
	store, err := embedded.Open(t.TempDir(), embedded.Options{})
	must(t, err)
	defer store.Close()
	ids := make(chan metadata.ClusterID, 8)
	var group sync.WaitGroup
	for range cap(ids) {
		group.Go(func() {
			id, err := metadata.EnsureClusterID(t.Context(), store, "")
			must(t, err)
			ids <- id
		})
	}
	group.Wait()
	first := <-ids
	if len(first) != 22 {
		t.Fatalf("cluster id %q", first)
	}
	for range cap(ids) - 1 {
		if id := <-ids; id != first {
			t.Fatalf("cluster ids %s and %s", first, id)
		}
	}
	if id, err := metadata.EnsureClusterID(t.Context(), store, first); id != first || err != nil {
		t.Errorf("same id again: %v %v", id, err)
	}
	if _, err := metadata.EnsureClusterID(t.Context(), store, metadata.ClusterID(metadata.NewTopicID().String())); err == nil {
		t.Error("another id was taken")
	}
	fresh, err := embedded.Open(t.TempDir(), embedded.Options{})
	must(t, err)
	defer fresh.Close()
	if _, err := metadata.EnsureClusterID(t.Context(), fresh, "nonsense"); err == nil {
		t.Error("nonsense was taken for an id")
	}
	if id, err := metadata.EnsureClusterID(t.Context(), fresh, first); id != first || err != nil {
		t.Errorf("wanted id: %v %v", id, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}
