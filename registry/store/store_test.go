package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"moldau/registry/catalog"
)

func cluster(t *testing.T, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{
		kfake.NumBrokers(1), kfake.BrokerConfigs(map[string]string{"group.initial.rebalance.delay.ms": "0"}),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func open(t *testing.T, c *kfake.Cluster, name string) *Store {
	t.Helper()
	s, err := Open(Options{
		Bootstrap: c.ListenAddrs(), Topic: "_schemas", LedgerTopic: "__moldau_modules", KeyTopic: "__moldau_registry_keys", Group: "schema-registry",
		Instance: name, URL: "http://" + name, ReplicationFactor: 1,
		SessionTimeout: 6 * time.Second, WriteTimeout: 10 * time.Second, KeyLifetime: time.Hour,
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// register is a decision that gives each subject one version with the next id.
func register(subject string) Decide {
	return func(c *catalog.Catalog) ([]catalog.Change, error) {
		if c.Latest(subject) != nil {
			return nil, nil
		}
		id := c.MaxID(catalog.DefaultContext) + 1
		return []catalog.Change{catalog.PutSchema(&catalog.Schema{
			Subject: subject, Version: 1, ID: id, Type: "AVRO", Text: fmt.Sprintf("%q", subject),
		})}, nil
	}
}

func TestCommit(t *testing.T) {
	c := cluster(t)
	s := open(t, c, "a")
	ctx := within(t, 30*time.Second)
	if err := s.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if topics := c.TopicInfo("_schemas"); topics != nil {
		t.Fatal("a start made the topic")
	}
	o, err := s.Owner(ctx)
	if err != nil || !o.Self {
		t.Fatalf("owner %+v, %v", o, err)
	}
	start := time.Now()
	if _, err := s.Commit(ctx, register("one")); err != nil {
		t.Fatal(err)
	}
	t.Log("commit", time.Since(start))
	if got := s.Catalog().Latest("one"); got == nil || got.ID != 1 {
		t.Fatalf("%+v", got)
	}
	refusal := errors.New("no")
	if _, err := s.Commit(ctx, func(*catalog.Catalog) ([]catalog.Change, error) { return nil, refusal }); !errors.Is(err, refusal) {
		t.Fatal(err)
	}
}

// TestCommitReturnsAfterItsDecision: a decision works on variables of its caller. One whose time was up was found to return, and
// to look at them, while the writer was still deciding.
func TestCommitReturnsAfterItsDecision(t *testing.T) {
	s := open(t, cluster(t), "a")
	if _, err := s.Owner(within(t, 30*time.Second)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(within(t, 30*time.Second))
	calls, returned := 0, make(chan error, 1)
	go func() { // ends with the commit
		_, err := s.Commit(ctx, func(c *catalog.Catalog) ([]catalog.Change, error) {
			if calls++; calls == 2 { // the writer's
				cancel()
				select {
				case err := <-returned:
					returned <- err
					t.Error("it returned while the decision was made")
				case <-time.After(50 * time.Millisecond):
				}
			}
			return register("one")(c)
		})
		returned <- err
	}()
	if err := <-returned; calls != 2 || !errors.Is(err, ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func TestConcurrentCommitsShareIDs(t *testing.T) {
	s := open(t, cluster(t), "a")
	ctx := within(t, 60*time.Second)
	if _, err := s.Owner(ctx); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			if _, err := s.Commit(ctx, register(fmt.Sprint("s", i%50))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	t.Log("100 commits", time.Since(start))
	seen := map[int32]bool{}
	for _, versions := range s.Catalog().Find("") {
		seen[versions[0].ID] = true
	}
	if len(seen) != 50 || s.Catalog().MaxID(".") != 50 {
		t.Fatalf("%d ids, the highest is %d", len(seen), s.Catalog().MaxID("."))
	}
}

func TestReload(t *testing.T) {
	c := cluster(t)
	ctx := within(t, 120*time.Second)
	s := open(t, c, "a")
	if _, err := s.Owner(ctx); err != nil {
		t.Fatal(err)
	}
	const subjects = 10_000
	for i := 0; i < subjects; i += 500 {
		_, err := s.Commit(ctx, func(c *catalog.Catalog) ([]catalog.Change, error) {
			var out []catalog.Change
			for n := i; n < i+500; n++ {
				out = append(out, catalog.PutSchema(&catalog.Schema{
					Subject: fmt.Sprintf("topic-%d-value", n), Version: 1, ID: int32(n) + 1, Type: "AVRO",
					Text: fmt.Sprintf(`{"type":"record","name":"R%d","namespace":"com.example","fields":[{"name":"a","type":"string"},{"name":"b","type":"long"},{"name":"c","type":["null","string"],"default":null}]}`, n),
				}))
			}
			return out, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	b := open(t, c, "b")
	if err := b.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d subjects loaded in %v", subjects, time.Since(start))
	if b.Catalog().Size() != subjects || b.Catalog().MaxID(".") != subjects {
		t.Fatalf("%d subjects, highest id %d", b.Catalog().Size(), b.Catalog().MaxID("."))
	}
}

func TestNoCluster(t *testing.T) {
	s, err := Open(Options{
		Bootstrap: []string{"127.0.0.1:1"}, Topic: "_schemas", LedgerTopic: "l", KeyTopic: "k", Group: "g", URL: "http://x", ReplicationFactor: 1,
		SessionTimeout: 6 * time.Second, WriteTimeout: time.Second, KeyLifetime: time.Hour,
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := s.Wait(ctx); !errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
	if _, err := s.Owner(ctx); !errors.Is(err, ErrNotOwner) {
		t.Error(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
