package main

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker/record"
	"moldau/cmd/moldau/internal/exit"
)

func TestClusterInfo(t *testing.T) {
	s := newShell(t)
	info := decode[clusterInfo](t, s.ok("", "cluster", "info", "-o", "json"))
	if info.ID == "" || len(info.Brokers) != 1 || info.Topics != 1 || info.Partitions != 3 || info.Brokers[0].Partitions != 3 {
		t.Errorf("%+v", info)
	}
	if got := s.ok("", "cluster", "info"); !strings.Contains(got, "(controller)") {
		t.Errorf("%s", got)
	}
}

func TestClusterConfig(t *testing.T) {
	s := newShell(t)
	all := decode[[]configValue](t, s.ok("", "cluster", "config", "get", "--all", "-o", "json"))
	if len(all) < 5 {
		t.Fatalf("%+v", all)
	}
	s.ok("", "cluster", "config", "set", "log.retention.ms=1000", "-y")
	got := decode[[]configValue](t, s.ok("", "cluster", "config", "get", "log.retention.ms", "-o", "json"))
	if len(got) != 1 || *got[0].Value != "1000" {
		t.Errorf("%+v", got)
	}
	if r := s.run("", "cluster", "config", "get", "no.such.key"); r.code != exit.NotFound {
		t.Errorf("%+v", r)
	}
	if r := s.run("", "cluster", "config", "get", "--broker", "9"); r.code != exit.NotFound {
		t.Errorf("%+v", r)
	}
}

func TestClusterHealth(t *testing.T) {
	s := newShell(t)
	if got := s.ok("", "cluster", "health"); !strings.HasPrefix(got, "healthy") {
		t.Errorf("%s", got)
	}
}

// TestHealthOfDirs: a disk without space is a problem, one with little is a risk, and a broker that tells nothing is neither.
func TestHealthOfDirs(t *testing.T) {
	h := healthOf(kadm.Metadata{})
	h.Problems = nil
	h.judgeDirs(1, []kmsg.DescribeLogDirsResponseDir{
		{Dir: "/full", TotalBytes: 1 << 40, UsableBytes: 15 << 20},
		{Dir: "/low", TotalBytes: 1 << 40, UsableBytes: 1 << 34},
		{Dir: "/good", TotalBytes: 1 << 30, UsableBytes: 1 << 29},
		{Dir: "/silent", TotalBytes: -1, UsableBytes: -1},
		{Dir: "/offline", ErrorCode: kerr.KafkaStorageError.Code, TotalBytes: -1, UsableBytes: -1},
	}, nil)
	h.judgeDirs(2, nil, errors.New("no answer"))
	var got []string
	for _, p := range append(h.Problems, h.Risks...) {
		got = append(got, p.Kind+" "+p.Detail)
	}
	want := []string{
		"disk_full broker 1: /full has 15 MiB free: records are refused, or soon will be",
		"log_dir_error broker 1: /offline: " + kerr.KafkaStorageError.Error(),
		"broker_silent broker 2: it does not tell of its log directories: no answer",
		"disk_low broker 1: /low has 16384 MiB free, 1.6 %",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestHealthOf(t *testing.T) {
	part := func(leader int32, replicas, isr []int32, err error) kadm.PartitionDetails {
		return kadm.PartitionDetails{0: {Topic: "t", Leader: leader, Replicas: replicas, ISR: isr, Err: err}}
	}
	for _, tt := range []struct {
		name       string
		brokers    int
		controller int32
		parts      kadm.PartitionDetails
		problems   []string
		risks      []string
	}{
		{"good", 3, 1, part(1, []int32{1, 2, 3}, []int32{1, 2, 3}, nil), nil, nil},
		{"alone on one broker", 1, 1, part(1, []int32{1}, []int32{1}, nil), nil, nil},
		{"one copy among many brokers", 3, 1, part(1, []int32{1}, []int32{1}, nil), nil, []string{"one_replica"}},
		{"no leader", 3, 1, part(-1, []int32{1, 2}, []int32{1}, nil), []string{"no_leader"}, nil},
		{"behind", 3, 1, part(1, []int32{1, 2}, []int32{1}, nil), []string{"under_replicated"}, nil},
		{"error", 3, 1, part(1, []int32{1, 2}, []int32{1, 2}, errors.New("x")), []string{"partition_error"}, nil},
		{"no controller", 1, -1, nil, []string{"no_controller"}, nil},
	} {
		m := kadm.Metadata{Controller: tt.controller, Brokers: make(kadm.BrokerDetails, tt.brokers), Topics: kadm.TopicDetails{"t": {Topic: "t", Partitions: tt.parts}}}
		h := healthOf(m)
		kinds := func(ps []problem) (out []string) {
			for _, p := range ps {
				out = append(out, p.Kind)
			}
			return out
		}
		if !slices.Equal(kinds(h.Problems), tt.problems) || !slices.Equal(kinds(h.Risks), tt.risks) || h.Healthy != (len(tt.problems) == 0) {
			t.Errorf("%s: %+v", tt.name, h)
		}
	}
}

func TestAPIVersions(t *testing.T) {
	s := newShell(t)
	rows := decode[[]apiRow](t, s.ok("", "debug", "api-versions", "-o", "json"))
	if i := slices.IndexFunc(rows, func(r apiRow) bool { return r.Name == "Produce" && r.Key == 0 }); i < 0 || rows[i].Max < 9 {
		t.Errorf("%+v", rows)
	}
}

func TestBench(t *testing.T) {
	s := newShell(t)
	p := decode[produceResult](t, s.ok("", "bench", "produce", "made", "--num-records", "2000", "--record-size", "50", "--partitions", "2", "--producer-props", "linger.ms=0 acks=1", "-o", "json"))
	if p.Records != 2000 || p.Failed != 0 || p.RecordsPerSecond <= 0 || p.Latency.Max <= 0 || p.Partitions != 2 || p.Acks != "1" {
		t.Errorf("produce: %+v", p)
	}
	c := decode[consumeResult](t, s.ok("", "bench", "consume", "made", "-o", "json"))
	if c.Records != 2000 || c.RecordsPerSecond <= 0 {
		t.Errorf("consume: %+v", c)
	}
	e := decode[e2eResult](t, s.ok("", "bench", "e2e", "made", "--num-records", "200", "--throughput", "2000", "-o", "json"))
	if e.Sent != 200 || e.Received != 200 || e.EndToEnd.P50 <= 0 || e.EndToEnd.Max < e.Produce.P50 {
		t.Errorf("e2e: %+v", e)
	}
	file := filepath.Join(t.TempDir(), "payload")
	if err := os.WriteFile(file, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.ok("", "bench", "produce", "lines", "--num-records", "4", "--partitions", "1", "--payload-file", file); !strings.Contains(got, "4 records sent") {
		t.Errorf("%s", got)
	}
	if got := s.ok("", "topic", "consume", "lines"); got != "one\ntwo\none\ntwo\n" {
		t.Errorf("payload: %q", got)
	}
}

func TestDumpAndVerify(t *testing.T) {
	o := record.NewOptions(record.Zstd)
	b := record.NewBuilder(o)
	b.Append(&record.Record{Timestamp: 1, Key: []byte("k"), Value: []byte("v<")})
	raw, err := b.Build(nil, record.NewCompressor())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "00000000000000000000.log")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	r := execute(t.Context(), "", "debug", "dump-log", "--records", path)
	for _, want := range []string{"# " + path, "batch position: 0 ", "compression: zstd", "valid: true", `offset: 0 time: 1970-01-01T00:00:00.001Z key: "k" value: "v<"`} {
		if !strings.Contains(r.out, want) {
			t.Errorf("missing %q in %s%s", want, r.out, r.err)
		}
	}
	if r := execute(t.Context(), "", "debug", "dump-log", "-o", "ndjson", "--records", path); strings.Count(r.out, "\n") != 2 || !strings.Contains(r.out, `"value":"djw="`) {
		t.Errorf("%+v", r)
	}
	if r := execute(t.Context(), "", "debug", "verify-log", dir); r.code != exit.OK || !strings.Contains(r.out, "1 segments, 1 batches, 1 records") {
		t.Errorf("%+v", r)
	}
	raw[len(raw)-1] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := execute(t.Context(), "", "debug", "verify-log", dir); r.code != exit.Unhealthy || !strings.Contains(r.out, "checksum") {
		t.Errorf("%+v", r)
	}
}

// TestGaps: the answers that tell the end of a stretch which compaction
// emptied.
func TestGaps(t *testing.T) {
	// A batch of the offsets base to base+9, whose header says that n are left.
	build := func(base int64, n uint32) []byte {
		o := record.NewOptions(record.None)
		o.BaseOffset = base
		b := record.NewBuilder(o)
		b.Append(&record.Record{Value: []byte("v")})
		b.PadTo(base + 9)
		raw, err := b.Build(nil, record.NewCompressor())
		if err != nil {
			t.Fatal(err)
		}
		binary.BigEndian.PutUint32(raw[batchCount:], n)
		return raw
	}
	for name, tt := range map[string]struct {
		batch      []byte
		from, high int64
		want       int64
	}{
		"nothing up to the high watermark": {nil, 3, 20, 20},
		"nothing at the end":               {nil, 20, 20, 20},
		"a batch with records":             {build(10, 2), 10, 30, 10},
		"a batch that was emptied":         {build(10, 0), 10, 30, 20},
		"a piece of a batch":               {build(10, 2)[:40], 10, 30, 10},
	} {
		if got := behind(tt.batch, tt.from, tt.high); got != tt.want {
			t.Errorf("%s: got %d, want %d", name, got, tt.want)
		}
	}
}
