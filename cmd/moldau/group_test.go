package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/cmd/moldau/internal/exit"
)

// consume lets one member of a group read everything in the seeded topic, and returns it.
func (s *shell) consume(group string, records int, opts ...kgo.Opt) *kgo.Client {
	s.t.Helper()
	cl, err := kgo.NewClient(append(opts,
		kgo.SeedBrokers(s.brokers), kgo.ConsumerGroup(group), kgo.ConsumeTopics("seeded"), kgo.ClientID("reader"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(),
	)...)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	for n := 0; n < records; {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			s.t.Fatal(err)
		}
		n += fetches.NumRecords()
	}
	if err := cl.CommitUncommittedOffsets(ctx); err != nil {
		s.t.Fatal(err)
	}
	return cl
}

// The broker assigns the members of this group; the commands show it all the same, with what is its own.
func TestConsumerGroupCommands(t *testing.T) {
	s := &shell{t: t, brokers: serve(t, t.TempDir()).kafka}
	s.ok("", "topic", "create", "seeded", "-p", "3")
	s.ok("a\nb\n", "topic", "produce", "seeded", "-p", "0")
	cl := s.consume("modern", 2, kgo.ServerSideBalancer())
	defer cl.Close()
	s.ok("c\n", "topic", "produce", "seeded", "-p", "1")
	if got := s.ok("", "group", "list", "--type", "consumer", "-o", "name"); got != "modern\n" {
		t.Errorf("list: %q", got)
	}
	if got := s.ok("", "group", "list", "--type", "classic", "-o", "name"); got != "" {
		t.Errorf("list of classic groups: %q", got)
	}
	groups := decode[[]groupDescription](t, s.ok("", "group", "describe", "modern", "-o", "json"))
	if d := groups[0]; d.State != "Stable" || d.Type != "consumer" || d.Protocol != "uniform" || d.Epoch == nil || *d.Epoch < 2 || d.Lag != 1 || len(d.Partitions) != 3 {
		t.Errorf("describe: %+v", d)
	}
	members := decode[[]memberRow](t, s.ok("", "group", "members", "modern", "-o", "json"))
	if len(members) != 1 || len(members[0].Partitions["seeded"]) != 3 || members[0].Epoch == nil || members[0].Protocol != "consumer" || members[0].Client != "reader" {
		t.Errorf("members: %+v", members)
	}
	lags := decode[[]lagRow](t, s.ok("", "group", "lag", "modern", "-o", "json"))
	i := slices.IndexFunc(lags, func(r lagRow) bool { return r.Partition == 1 })
	if i < 0 || lags[i].Committed != nil || lags[i].Lag != 1 || lags[i].Client != "reader" {
		t.Errorf("lag: %+v", lags)
	}
	if got := s.ok("", "group", "describe", "modern"); !strings.Contains(got, "type          consumer, epoch") {
		t.Errorf("describe for people:\n%s", got)
	}
}

// What was deleted is behind nobody: the lag of a group that had not read it counts from where the partition begins.
func TestLagBelowTheStart(t *testing.T) {
	s := &shell{t: t, brokers: serve(t, t.TempDir()).kafka}
	s.ok("", "topic", "create", "seeded", "-p", "1")
	s.ok("a\n", "topic", "produce", "seeded")
	s.consume("slow", 1).Close()
	s.ok("b\nc\nd\ne\n", "topic", "produce", "seeded")
	lag := func() lagRow {
		lags := decode[[]lagRow](t, s.ok("", "group", "lag", "slow", "-o", "json"))
		if len(lags) != 1 || lags[0].Committed == nil || *lags[0].Committed != 1 {
			t.Fatalf("lag: %+v", lags)
		}
		return lags[0]
	}
	if got := lag(); got.Lag != 4 {
		t.Errorf("before the deletion: %+v", got)
	}
	s.ok("", "topic", "trim", "seeded", "--up-to", "3", "-y")
	if got := lag(); got.Lag != 2 || got.End != 5 {
		t.Errorf("after the deletion: %+v", got)
	}
	s.ok("", "topic", "trim", "seeded", "--up-to", "end", "-y")
	if got := lag(); got.Lag != 0 {
		t.Errorf("after the deletion of everything: %+v", got)
	}
}

// A partition of which only the start or only the end could be learnt has its row, with the reason in it.
func TestLagOfWhatCannotBeRead(t *testing.T) {
	for _, l := range []kadm.GroupMemberLag{
		{Topic: "t", Start: kadm.ListedOffset{Err: kerr.KafkaStorageError}},
		{Topic: "t", End: kadm.ListedOffset{Err: kerr.KafkaStorageError}},
		{Topic: "t", Err: kerr.KafkaStorageError},
	} {
		rows := lagRowsOf(kadm.DescribedGroupLag{Group: "g", Lag: kadm.GroupLag{"t": {0: l}}})
		if len(rows) != 1 || !strings.Contains(rows[0].lagText(), "KAFKA_STORAGE_ERROR") {
			t.Errorf("%+v becomes %+v", l, rows)
		}
	}
}

func TestGroupCommands(t *testing.T) {
	s := newShell(t)
	s.ok("a\nb\nc\n", "topic", "produce", "seeded", "-p", "0")
	s.ok("d\n", "topic", "produce", "seeded", "-p", "1")
	cl := s.consume("readers", 4)
	s.ok("e\nf\n", "topic", "produce", "seeded", "-p", "0")

	if got := s.ok("", "group", "list", "-o", "name"); got != "readers\n" {
		t.Errorf("list: %q", got)
	}
	if got := s.ok("", "group", "list", "--state", "Empty", "-o", "name"); got != "" {
		t.Errorf("list of empty groups: %q", got)
	}
	lags := decode[[]lagRow](t, s.ok("", "group", "lag", "readers", "-o", "json"))
	i := slices.IndexFunc(lags, func(r lagRow) bool { return r.Partition == 0 })
	if i < 0 || *lags[i].Committed != 3 || lags[i].End != 5 || lags[i].Lag != 2 || lags[i].Client != "reader" {
		t.Errorf("lag: %+v", lags)
	}
	members := decode[[]memberRow](t, s.ok("", "group", "members", "readers", "-o", "json"))
	if len(members) != 1 || len(members[0].Partitions["seeded"]) != 3 {
		t.Errorf("members: %+v", members)
	}
	d := decode[[]groupDescription](t, s.ok("", "group", "describe", "readers", "-o", "json"))
	if len(d) != 1 || d[0].State != "Stable" || d[0].Lag != 2 || d[0].WithoutPartition != 0 {
		t.Errorf("describe: %+v", d)
	}
	if r := s.run("", "group", "seek", "readers", "--to", "start", "-y"); r.code != exit.Failed || !strings.Contains(r.err, "has members") {
		t.Errorf("seek under members: %+v", r)
	}
	if r := s.run("", "group", "delete", "readers", "-y"); r.code != exit.Failed || !strings.Contains(r.err, "group members readers") {
		t.Errorf("delete under members: %+v", r)
	}
	cl.Close()
	s.seekAndCopy()
	s.ok("", "group", "delete", "readers", "copy", "-y")
	if r := s.run("", "group", "delete", "readers", "-y"); r.code != exit.NotFound {
		t.Errorf("delete again: %+v", r)
	}
	if r := s.run("", "group", "describe", "readers"); r.code != exit.NotFound {
		t.Errorf("describe what is gone: %+v", r)
	}
}

// seekAndCopy moves the offsets of the group of TestGroupCommands, which is empty by now, and copies them.
func (s *shell) seekAndCopy() {
	s.t.Helper()
	if r := s.run("", "group", "seek", "readers", "--to", "start", "-p", "0", "--dry-run"); r.code != exit.OK || !strings.Contains(r.err, "seeded, partition 0: 3 -> 0\n") || strings.Contains(r.err, "partition 1") {
		s.t.Errorf("dry run: %+v", r)
	}
	if got := s.ok("", "group", "export", "readers"); !strings.Contains(got, "seeded,0,3\n") {
		s.t.Errorf("the dry run did something: %q", got)
	}
	s.ok("", "group", "seek", "readers", "--to", "-1", "-p", "0", "-y")
	exported := s.ok("", "group", "export", "readers")
	if !strings.Contains(exported, "seeded,0,4\n") {
		s.t.Errorf("export after a seek: %q", exported)
	}
	if r := s.run("", "group", "seek", "readers", "--to", "-1", "-p", "0", "-y"); !strings.Contains(r.err, "there already") {
		s.t.Errorf("seek to where it is: %+v", r)
	}
	s.ok(exported, "group", "import", "copy", "-y")
	if got := s.ok("", "group", "export", "copy"); got != exported {
		s.t.Errorf("the copy is %q, want %q", got, exported)
	}
	s.ok("", "group", "seek", "copy", "--to", "end", "-p", "0,1", "-y")
	s.ok("", "group", "seek", "copy", "--to-group", "readers", "-y")
	if got := s.ok("", "group", "export", "copy"); got != exported {
		s.t.Errorf("the copy is %q, want %q", got, exported)
	}
	s.ok("", "group", "offset-delete", "copy", "--topic", "seeded", "-p", "1", "-y")
	if got := s.ok("", "group", "export", "copy"); strings.Contains(got, "seeded,1,") {
		s.t.Errorf("a deleted offset: %q", got)
	}
}

func TestGroupUsage(t *testing.T) {
	s := newShell(t)
	for _, args := range [][]string{
		{"seek", "g"},
		{"seek", "g", "--to", "start", "--to-group", "h"},
		{"seek", "g", "--to", "1:2", "-t", "seeded"},
		{"seek", "g", "--to", "start"},
		{"lag", "--interval", "1ms"},
	} {
		if r := s.run("", append([]string{"group"}, args...)...); r.code != exit.Usage {
			t.Errorf("%v: %+v", args, r)
		}
	}
	for _, input := range []string{"a,b,c\n", "a,1\n", "a,0,-1\n", "a,0,1\na,0,2\n", ",0,1\n"} {
		if r := s.run(input, "group", "import", "g", "-y"); r.code != exit.Usage {
			t.Errorf("import of %q: %+v", input, r)
		}
	}
	if r := s.run("", "group", "export", "nobody"); r.code != exit.NotFound {
		t.Errorf("export of nothing: %+v", r)
	}
	if r := s.run("", "group", "lag", "nobody"); r.code != exit.NotFound {
		t.Errorf("lag of nothing: %+v", r)
	}
}

// FuzzParseOffsets: whatever a file holds, it is read or refused.
func FuzzParseOffsets(f *testing.F) {
	f.Add("orders,0,12\n# note\norders,1,5")
	f.Add("\"a,b\",0,1\n")
	f.Fuzz(func(t *testing.T, text string) {
		offsets, err := parseOffsets(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, o := range offsets.Sorted() {
			if o.Partition < 0 || o.At < 0 || o.Topic == "" {
				t.Errorf("%+v", o)
			}
		}
	})
}
