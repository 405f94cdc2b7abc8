package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"moldau/cmd/moldau/internal/exit"
)

func TestTopicLifeCycle(t *testing.T) {
	s := newShell(t)
	if r := s.run("", "topic", "create", "orders", "-p", "2", "-r", "1", "-c", "retention.ms=1000"); r.code != exit.OK || !strings.Contains(r.err, "orders: made") || r.out != "" {
		t.Fatalf("create: %+v", r)
	}
	if r := s.run("", "topic", "create", "orders"); r.code != exit.Failed || !strings.Contains(r.err, "moldau topic describe orders") {
		t.Errorf("create again: %+v", r)
	}
	s.ok("", "topic", "create", "orders", "--if-not-exists")
	if got := s.ok("", "topic", "list", "-o", "name"); got != "orders\nseeded\n" {
		t.Errorf("list: %q", got)
	}
	rows := decode[[]topicRow](t, s.ok("", "topic", "list", "-r", "^ord", "-o", "json"))
	if len(rows) != 1 || rows[0].Name != "orders" || rows[0].Partitions != 2 || rows[0].ReplicationFactor != 1 || rows[0].ID == "" {
		t.Errorf("list -r: %+v", rows)
	}
	s.ok("", "topic", "alter", "orders", "--set", "retention.ms=2000", "-y")
	d := decode[[]topicDescription](t, s.ok("", "topic", "describe", "orders", "-o", "json"))
	i := slices.IndexFunc(d[0].Configs, func(c configValue) bool { return c.Name == "retention.ms" })
	if i < 0 || *d[0].Configs[i].Value != "2000" || len(d[0].Partitions) != 2 {
		t.Errorf("describe: %+v", d)
	}
	s.ok("", "topic", "add-partitions", "orders", "--add", "3", "-y")
	if r := s.run("", "topic", "add-partitions", "orders", "--to", "4", "-y"); r.code != exit.Usage {
		t.Errorf("fewer partitions: %+v", r)
	}
	if got := s.ok("", "topic", "describe", "orders"); !strings.Contains(got, "partitions    5") {
		t.Errorf("describe: %s", got)
	}
	s.ok("", "topic", "delete", "orders", "-y")
	if r := s.run("", "topic", "delete", "orders", "-y"); r.code != exit.NotFound || !strings.Contains(r.err, "moldau topic list") {
		t.Errorf("delete again: %+v", r)
	}
}

// TestChangesAsk: nothing is changed before somebody has agreed.
func TestChangesAsk(t *testing.T) {
	s := newShell(t)
	for stdin, code := range map[string]int{"n\n": exit.Failed, "": exit.Usage, "\n": exit.Failed} {
		if r := s.run(stdin, "topic", "delete", "seeded"); r.code != code || !strings.Contains(r.err, "delete with all records: seeded") {
			t.Errorf("answer %q: %+v", stdin, r)
		}
	}
	if r := s.run("", "topic", "delete", "-r", "see", "--dry-run"); r.code != exit.OK || !strings.Contains(r.err, "dry run") {
		t.Errorf("dry run: %+v", r)
	}
	if got := s.ok("", "topic", "list", "-o", "name"); got != "seeded\n" {
		t.Fatalf("the topic is gone: %q", got)
	}
	if r := s.run("yes\n", "topic", "delete", "seeded"); r.code != exit.OK {
		t.Errorf("yes: %+v", r)
	}
	if got := s.ok("", "topic", "list", "-o", "name"); got != "" {
		t.Errorf("the topic is still there: %q", got)
	}
}

func TestProduceAndConsume(t *testing.T) {
	s := newShell(t)
	var lines strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&lines, "line %d \xff\xfe \r tail\n", i)
	}
	text := lines.String() + "the last one has no line end"
	if r := s.run(text, "topic", "produce", "seeded", "-p", "1", "-z", "zstd"); r.code != exit.OK || !strings.HasPrefix(r.err, "1001 records") {
		t.Fatalf("produce: %+v", r)
	}
	if got := s.ok("", "topic", "consume", "seeded"); got != text+"\n" {
		t.Errorf("%d bytes came back of %d", len(got), len(text)+1)
	}
	for where, want := range map[string]string{
		"5:7":       "5 6 ",
		"-2:":       "",
		"+999:end":  "999 1000 ",
		"999:5000":  "999 1000 ",
		"@-1h:end":  "",
		"1001:end":  "",
		":1":        "0 ",
		"@:-1h":     "",
		"start:2":   "0 1 ",
		"-1001:-1:": "",
	} {
		args := []string{"topic", "consume", "seeded", "-p", "1", "-f", "%o ", "-o", where}
		switch where {
		case "-2:":
			args, want = append(args, "-n", "2"), "999 1000 "
		case "@-1h:end":
			args, want = append(args, "-n", "3"), "0 1 2 "
		case "-1001:-1:":
			if r := s.run("", args...); r.code != exit.Usage {
				t.Errorf("-o %s: %+v", where, r)
			}
			continue
		}
		if got := s.ok("", args...); got != want {
			t.Errorf("-o %s: got %q, want %q", where, got, want)
		}
	}
	if got := s.ok("", "topic", "consume", "seeded", "-p", "0"); got != "" {
		t.Errorf("an empty partition: %q", got)
	}
	if r := s.run("", "topic", "consume", "seeded", "-p", "7"); r.code != exit.NotFound {
		t.Errorf("no such partition: %+v", r)
	}
}

func TestProduceFormats(t *testing.T) {
	s := newShell(t)
	s.ok("a=1\nb=\n", "topic", "produce", "seeded", "-f", `%k=%v\n`, "-p", "0", "-H", "h:x:y", "-Z")
	s.ok("null key\n", "topic", "produce", "seeded", "-p", "0")
	if got := s.ok("z\n", "topic", "produce", "seeded", "-k", "", "-p", "0", "--output-format", `%p %o\n`); got != "0 3\n" {
		t.Errorf("--output-format: %q", got)
	}
	var got []jsonRecord
	for line := range strings.Lines(s.ok("", "topic", "consume", "seeded", "-f", "json")) {
		got = append(got, decode[jsonRecord](t, line))
	}
	if len(got) != 4 {
		t.Fatalf("%d records", len(got))
	}
	show := func(s *string) string {
		if s == nil {
			return "null"
		}
		return *s
	}
	for i, want := range []string{"a 1", "b null", "null null key", " z"} {
		if have := show(got[i].Key) + " " + show(got[i].Value); have != want {
			t.Errorf("record %d: got %q, want %q", i, have, want)
		}
	}
	if h := got[0].Headers; len(h) != 1 || h[0].Key != "h" || show(h[0].Value) != "x:y" {
		t.Errorf("headers: %+v", h)
	}
	if r := s.run("x\n", "topic", "produce", "seeded", "-f", "%v{json}"); r.code != exit.Failed || !strings.Contains(r.err, "record 1 of the input") {
		t.Errorf("input that is no JSON: %+v", r)
	}
}

func TestTrim(t *testing.T) {
	s := newShell(t)
	s.ok("a\nb\nc\n", "topic", "produce", "seeded", "-p", "2")
	if r := s.run("", "topic", "trim", "seeded", "--up-to", "2", "--dry-run"); r.code != exit.OK || !strings.Contains(r.err, "partition 2: delete the records from 0 up to 2") {
		t.Errorf("dry run: %+v", r)
	}
	s.ok("", "topic", "trim", "seeded", "--up-to", "2", "-y")
	if got := s.ok("", "topic", "consume", "seeded"); got != "c\n" {
		t.Errorf("left: %q", got)
	}
	if r := s.run("", "topic", "trim", "seeded", "--up-to", "2", "-y"); r.code != exit.OK || !strings.Contains(r.err, "no records before") {
		t.Errorf("again: %+v", r)
	}
}

// TestWhichPartition compares with values of the Java client and of librdkafka:
// murmur2 of "21" is -973932308, of "foobar" -790332482, both masked to be
// positive; CRC-32 is zlib's.
func TestWhichPartition(t *testing.T) {
	r := execute(t.Context(), "", "topic", "which-partition", "-", "21", "foobar", "--partitions", "1000003", "-o", "json")
	got := decode[[]keyPlace](t, r.out)
	positive := func(hash int32) int { return int(hash&0x7fffffff) % 1000003 }
	want := []keyPlace{
		{"21", positive(-973932308), int(uint32(0x3c2d7a3a) % 1000003)},
		{"foobar", positive(-790332482), int(uint32(0x9ef61f95) % 1000003)},
	}
	if got[0].Murmur2 != want[0].Murmur2 || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
	s := newShell(t)
	s.ok("x\n", "topic", "produce", "seeded", "-k", "foobar")
	place := decode[[]keyPlace](t, s.ok("", "topic", "which-partition", "seeded", "foobar", "-o", "json"))
	if got := s.ok("", "topic", "consume", "seeded", "-f", "%p"); got != fmt.Sprint(place[0].Murmur2) {
		t.Errorf("it lies in partition %s, not in %d", got, place[0].Murmur2)
	}
}

func TestCompletion(t *testing.T) {
	s := newShell(t)
	if got := s.ok("", "__complete", "topic", "describe", "se"); !strings.HasPrefix(got, "seeded\n") {
		t.Errorf("topics: %q", got)
	}
	if got := s.ok("", "__complete", "topic", "list", "-o", ""); !strings.Contains(got, "ndjson\n") {
		t.Errorf("formats: %q", got)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := s.ok("", "completion", shell); !strings.Contains(got, "moldau") {
			t.Errorf("%s: %q", shell, got)
		}
	}
}

func TestLastLine(t *testing.T) {
	for in, want := range map[string]string{"": "", "\n": "\n", "a": "a\n", "a\n": "a\n", "a\nb": "a\nb\n"} {
		for name, r := range map[string]io.Reader{
			"whole":       strings.NewReader(in),
			"by bytes":    iotest.OneByteReader(strings.NewReader(in)),
			"end at once": iotest.DataErrReader(strings.NewReader(in)),
		} {
			if err := iotest.TestReader(&lastLine{in: r}, []byte(want)); err != nil {
				t.Errorf("%q, %s: %v", in, name, err)
			}
		}
	}
}
