package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/registry/catalog"
)

// owner waits until one of the replicas says that it owns the topic and all agree.
func owner(ctx context.Context, t *testing.T, replicas ...*Store) *Store {
	t.Helper()
	for {
		var self *Store
		agree := true
		first, err := replicas[0].Owner(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range replicas {
			o, err := s.Owner(ctx)
			if err != nil {
				t.Fatal(err)
			}
			agree = agree && o.URL == first.URL
			if o.Self {
				self = s
			}
		}
		if self != nil && agree {
			return self
		}
		select {
		case <-replicas[0].seat.look().changed:
		case <-time.After(50 * time.Millisecond): // another one's view changed
		}
	}
}

func TestOneReplicaWrites(t *testing.T) {
	c := cluster(t)
	ctx := within(t, 60*time.Second)
	a := open(t, c, "a")
	if owner(ctx, t, a) != a {
		t.Fatal("a alone does not own the topic")
	}
	if _, err := a.Commit(ctx, register("one")); err != nil {
		t.Fatal(err)
	}
	b := open(t, c, "b")
	if owner(ctx, t, a, b) != a {
		t.Fatal("the owner changed when another one came")
	}
	if _, err := b.Commit(ctx, register("two")); !errors.Is(err, ErrNotOwner) {
		t.Fatalf("the other one writes: %v", err)
	}
	offset, err := a.Commit(ctx, register("two"))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.WaitFor(ctx, offset); err != nil {
		t.Fatal(err)
	}
	if s := b.Catalog().Latest("two"); s == nil || s.ID != 2 {
		t.Fatalf("b sees %+v", s)
	}
	// The owner leaves, the other one takes over and goes on where it was.
	if err := a.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for {
		if o, err := b.Owner(ctx); err != nil {
			t.Fatal(err)
		} else if o.Self {
			break
		}
		<-b.seat.look().changed
	}
	if _, err := b.Commit(ctx, register("three")); err != nil {
		t.Fatal(err)
	}
	if s := b.Catalog().Latest("three"); s.ID != 3 || b.Catalog().Generation() != 2 {
		t.Fatalf("id %d, generation %d", s.ID, b.Catalog().Generation())
	}
}

// A replica that was away while another one took over can no longer write, though it does not know yet.
func TestSupersededReplicaIsFenced(t *testing.T) {
	c := cluster(t)
	ctx := within(t, 60*time.Second)
	a := open(t, c, "a")
	owner(ctx, t, a)
	if _, err := a.Commit(ctx, register("one")); err != nil {
		t.Fatal(err)
	}
	thief := intruder(t, c.ListenAddrs())
	if _, _, err := thief.ProducerID(ctx); err != nil {
		t.Fatal(err)
	}
	_, err := a.Commit(ctx, register("two"))
	if !errors.Is(err, ErrNotOwner) {
		t.Fatalf("it still writes: %v", err)
	}
	// The group says it is the owner after all: it goes on with a generation of its own.
	for {
		if _, err = a.Commit(ctx, register("two")); !errors.Is(err, ErrNotOwner) {
			break
		}
		if _, err := a.Owner(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if a.Catalog().Latest("two").ID != 2 || a.Catalog().Generation() != 2 {
		t.Fatalf("id %d, generation %d", a.Catalog().Latest("two").ID, a.Catalog().Generation())
	}
}

func intruder(t *testing.T, addrs []string) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addrs...), kgo.TransactionalID("schema-registry-writer"),
		kgo.DefaultProduceTopic("_schemas"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// What a superseded owner wrote but did not commit is not seen, and what others wrote without any generation is.
func TestForeignRecordsAndOpenTransactions(t *testing.T) {
	c := cluster(t)
	ctx := within(t, 60*time.Second)
	a := open(t, c, "a")
	owner(ctx, t, a)
	if _, err := a.Commit(ctx, register("one")); err != nil {
		t.Fatal(err)
	}
	thief := intruder(t, c.ListenAddrs())
	if err := thief.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	ch := catalog.PutSchema(&catalog.Schema{Subject: "uncommitted", Version: 1, ID: 9, Type: "AVRO", Text: "x"})
	if err := thief.ProduceSync(ctx, &kgo.Record{Key: ch.Key, Value: ch.Value}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := a.Commit(ctx, register("two")); err == nil {
			break
		} else if !errors.Is(err, ErrNotOwner) {
			t.Fatal(err)
		}
		if _, err := a.Owner(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if a.Catalog().Latest("uncommitted") != nil || a.Catalog().Latest("two").ID != 2 {
		t.Fatal("an open transaction counts")
	}
	other, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.DefaultProduceTopic("_schemas"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	rec := &kgo.Record{
		Key:   []byte(`{"keytype":"SCHEMA","subject":"mirrored","version":4,"magic":1}`),
		Value: []byte(`{"subject":"mirrored","version":4,"id":40,"schema":"\"int\"","deleted":false}`),
	}
	if err := other.ProduceSync(ctx, rec).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if err := a.WaitFor(ctx, rec.Offset+1); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Commit(ctx, register("three")); err != nil {
		t.Fatal(err)
	}
	if s := a.Catalog().Latest("three"); a.Catalog().Latest("mirrored") == nil || s.ID != 41 {
		t.Fatalf("%+v", s)
	}
}

// A topic that Confluent's registry wrote is taken as it is: these records were written by hand in its form, with all
// types of keys and both magics.
func TestTopicOfAnotherRegistry(t *testing.T) {
	c := cluster(t)
	ctx := within(t, 60*time.Second)
	setup := &admin{client(t, c.ListenAddrs())}
	if err := setup.make(ctx, "_schemas", 1); err != nil {
		t.Fatal(err)
	}
	for _, r := range [][2]string{
		{`{"keytype":"NOOP","magic":0}`, ``},
		{`{"keytype":"CONFIG","subject":null,"magic":0}`, `{"compatibilityLevel":"NONE"}`},
		{`{"keytype":"CONTEXT","tenant":"default","context":".ctx","magic":0}`, `{"tenant":"default","context":".ctx"}`},
		{`{"keytype":"SCHEMA","subject":"a","version":1,"magic":0}`, `{"subject":"a","version":1,"id":1,"schema":"\"int\"","deleted":false}`},
		{`{"keytype":"SCHEMA","subject":"a","version":2,"magic":1}`, `{"subject":"a","version":2,"id":2,"schemaType":"AVRO","schema":"\"long\"","deleted":false,"later":1}`},
		{`{"keytype":"DELETE_SUBJECT","subject":"a","magic":0}`, `{"subject":"a","version":1}`},
		{`{"keytype":"SCHEMA","subject":":.ctx:p","version":1,"magic":1}`, `{"subject":":.ctx:p","version":1,"id":1,"schemaType":"PROTOBUF","references":[{"name":"a.proto","subject":"a","version":2}],"schema":"syntax = \"proto3\";\n","deleted":false}`},
		{`{"keytype":"MODE","subject":":.ctx:","magic":0}`, `{"subject":":.ctx:","mode":"READONLY"}`},
		{`{"keytype":"ASSOC","tenant":"default"}`, `{}`},
	} {
		rec := &kgo.Record{Topic: "_schemas", Key: []byte(r[0])}
		if r[1] != "" {
			rec.Value = []byte(r[1])
		}
		if err := setup.client.ProduceSync(ctx, rec).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, c, "a")
	if err := s.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	got := s.Catalog()
	if got.Latest("a").Version != 2 || !got.Version("a", 1).Deleted || got.Latest(":.ctx:p").Type != "PROTOBUF" ||
		got.OwnConfig("").CompatibilityLevel != "NONE" || got.Mode(":.ctx:x") != "READONLY" || !got.Declared(".ctx") || got.Offset() != 9 {
		t.Errorf("%+v", got)
	}
}

func client(t *testing.T, addrs []string) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addrs...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func TestSignatures(t *testing.T) {
	c := cluster(t)
	ctx := within(t, 60*time.Second)
	a, b := open(t, c, "a"), open(t, c, "b")
	message := []byte("POST /subjects")
	if err := b.Verify(ctx, "a", []byte("nonsense"), message); !errors.Is(err, ErrSignature) {
		t.Fatal(err)
	}
	if c.TopicInfo("__moldau_registry_keys") != nil {
		t.Fatal("verifying made the topic")
	}
	name, proof, err := a.Sign(ctx, message)
	if err != nil || name != "a" {
		t.Fatal(name, err)
	}
	b.keys.mu.Lock()
	b.keys.read = time.Time{} // as if the topic had not been read a moment ago
	b.keys.mu.Unlock()
	if err := b.Verify(ctx, name, proof, message); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"another message": b.Verify(ctx, name, proof, []byte("DELETE /subjects")),
		"another name":    b.Verify(ctx, "b", proof, message),
		"no proof":        b.Verify(ctx, name, nil, message),
	} {
		if !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// After the key's life a new one is used; the one before still counts for what is under way.
	a.keys.mu.Lock()
	a.keys.own.Created = time.Now().Add(-2 * time.Hour).UnixMilli()
	a.keys.mu.Unlock()
	_, later, err := a.Sign(ctx, message)
	if err != nil || string(later) == string(proof) {
		t.Fatal("the key was not changed", err)
	}
	b.keys.mu.Lock()
	b.keys.read = time.Time{}
	b.keys.mu.Unlock()
	for _, p := range [][]byte{later, proof} {
		if err := b.Verify(ctx, name, p, message); err != nil {
			t.Error(err)
		}
	}
}

// Records that others write are replayed, and a commit of several records is never seen in part.
func TestCommitIsSeenWhole(t *testing.T) {
	s := open(t, cluster(t), "a")
	ctx := within(t, 60*time.Second)
	owner(ctx, t, s)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c := s.Catalog()
			if n := len(c.Versions("pair")); n%2 != 0 {
				t.Errorf("%d versions: a commit was seen in part", n)
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	for i := range int32(20) {
		_, err := s.Commit(ctx, func(*catalog.Catalog) ([]catalog.Change, error) {
			var out []catalog.Change
			for v := 2*i + 1; v <= 2*i+2; v++ {
				out = append(out, catalog.PutSchema(&catalog.Schema{Subject: "pair", Version: v, ID: v, Type: "AVRO", Text: fmt.Sprint(v)}))
			}
			return out, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
}

func TestTooLarge(t *testing.T) {
	s := open(t, cluster(t), "a")
	ctx := within(t, 60*time.Second)
	owner(ctx, t, s)
	_, err := s.Commit(ctx, func(*catalog.Catalog) ([]catalog.Change, error) {
		return []catalog.Change{catalog.PutSchema(&catalog.Schema{Subject: "s", Version: 1, ID: 1, Type: "AVRO", Text: strings.Repeat("x", 9<<20)})}, nil
	})
	if !errors.Is(err, ErrTooLarge) {
		t.Fatal(err)
	}
	if _, err := s.Commit(ctx, register("after")); err != nil {
		t.Fatal(err)
	}
}
