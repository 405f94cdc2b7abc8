package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/cmd/moldau/internal/exit"
)

// transact begins a transaction of one record and returns its producer.
func (s *shell) transact(id string) *kgo.Client {
	s.t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.brokers), kgo.TransactionalID(id), kgo.DefaultProduceTopic("seeded"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(cl.Close)
	if err := cl.BeginTransaction(); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	if err := cl.ProduceSync(ctx, kgo.StringRecord("x")).FirstErr(); err != nil {
		s.t.Fatal(err)
	}
	return cl
}

func TestClusterTxn(t *testing.T) {
	s := newShell(t)
	if got := s.ok("", "cluster", "txn", "list"); strings.Count(got, "\n") > 1 {
		t.Errorf("transactions of an empty cluster: %q", got)
	}
	first := s.transact("first")
	s.transact("second")
	if err := first.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	rows := decode[[]txnRow](t, s.ok("", "cluster", "txn", "list", "--state", "Ongoing", "-o", "json"))
	if len(rows) != 1 || rows[0].ID != "second" || rows[0].State != "Ongoing" {
		t.Errorf("open transactions: %+v", rows)
	}
	d := decode[[]txnDescription](t, s.ok("", "cluster", "txn", "describe", "second", "-o", "json"))
	if len(d) != 1 || d[0].State != "Ongoing" || len(d[0].Partitions["seeded"]) != 1 || d[0].StartMs == 0 {
		t.Errorf("described: %+v", d)
	}
	if got := s.ok("", "cluster", "txn", "describe", "second", "first"); !strings.Contains(got, "seeded[0]") || !strings.Contains(got, "ago") {
		t.Errorf("described: %s", got)
	}
	if r := s.run("", "cluster", "txn", "describe", "nobody"); r.code != exit.NotFound {
		t.Errorf("an unknown id: %+v", r)
	}
}

func TestClusterTxnAbort(t *testing.T) {
	s := newShell(t)
	s.transact("zombie")
	if r := s.run("", "cluster", "txn", "abort", "zombie", "--dry-run"); r.code != exit.OK || !strings.Contains(r.err, "zombie (Ongoing): abort, and fence producer") {
		t.Errorf("dry run: %+v", r)
	}
	s.ok("", "cluster", "txn", "abort", "zombie", "-y")
	d := decode[[]txnDescription](t, s.ok("", "cluster", "txn", "describe", "zombie", "-o", "json"))
	if d[0].State == "Ongoing" || len(d[0].Partitions) != 0 {
		t.Errorf("after the abort: %+v", d)
	}
	if r := s.run("", "cluster", "txn", "abort", "nobody", "-y"); r.code != exit.NotFound {
		t.Errorf("an unknown id: %+v", r)
	}
}

func TestClusterTxnAbortHanging(t *testing.T) {
	s := newShell(t)
	s.transact("zombie")
	at := []string{"cluster", "txn", "abort", "--topic", "seeded", "--partition", "0", "--offset"}
	if r := s.run("", append(at, "7", "-y")...); r.code != exit.NotFound {
		t.Errorf("no transaction begins there: %+v", r)
	}
	if r := s.run("", append(at, "0", "-y")...); r.code != exit.OK || !strings.Contains(r.err, "seeded, partition 0: aborted\n") {
		t.Errorf("abort: %+v", r)
	}
}

func TestClusterTxnUsage(t *testing.T) {
	s := newShell(t)
	for _, args := range [][]string{
		{"abort"},
		{"abort", "id", "--topic", "seeded"},
		{"abort", "--topic", "seeded", "--offset", "3"},
		{"list", "--state", "Lazy"},
		{"describe"},
	} {
		if r := s.run("", append([]string{"cluster", "txn"}, args...)...); r.code != exit.Usage {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

func TestConsumeEndsBeforeAnOpenTransaction(t *testing.T) {
	s := newShell(t)
	before := s.ok("", "topic", "consume", "seeded", "--read-committed", "-f", `%p:%o\n`)
	s.transact("open")
	if got := s.ok("", "topic", "consume", "seeded", "--read-committed", "-f", `%p:%o\n`); got != before {
		t.Errorf("read %q, and before the transaction %q", got, before)
	}
}
