package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"moldau/cmd/moldau/internal/exit"
)

// shell runs command lines against one cluster.
type shell struct {
	t       *testing.T
	brokers string
}

// newShell starts a cluster in this process that is not ours, with one topic.
func newShell(t *testing.T, opts ...kfake.Opt) *shell {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(3, "seeded")}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &shell{t, strings.Join(c.ListenAddrs(), ",")}
}

// result is what one command line did.
type result struct {
	out, err string
	code     int
}

// run executes a command line with the cluster's addresses added.
func (s *shell) run(stdin string, args ...string) result {
	s.t.Helper()
	s.t.Setenv("MOLDAU_BROKERS", s.brokers)
	return execute(s.t.Context(), stdin, args...)
}

// ok is run that must succeed; it returns what went to standard output.
func (s *shell) ok(stdin string, args ...string) string {
	s.t.Helper()
	r := s.run(stdin, args...)
	if r.code != exit.OK {
		s.t.Fatalf("moldau %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r.out
}

func execute(ctx context.Context, stdin string, args ...string) result {
	var out, err bytes.Buffer
	code := run(ctx, streams{strings.NewReader(stdin), &out, &err}, args)
	return result{out.String(), err.String(), code}
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestUsageErrors(t *testing.T) {
	for _, args := range [][]string{
		{"topics"},
		{"topic", "no-such"},
		{"completion", "nosh"},
		{"cluster", "config", "no-such"},
		{"debug", "dump", "x.log"},
		{"topic", "list", "-o", "template={{.name"},
		{"topic", "list", "--nope"},
		{"topic", "list", "-o", "xml"},
		{"topic", "create"},
		{"topic", "create", "x", "-c", "novalue"},
		{"topic", "create", "x", "-p", "many"},
		{"topic", "alter", "x"},
		{"topic", "add-partitions", "x"},
		{"topic", "add-partitions", "x", "--to", "3", "--add", "1"},
		{"topic", "trim", "x"},
		{"topic", "trim", "x", "--up-to", "5:9"},
		{"topic", "trim", "x", "--up-to", "soon"},
		{"topic", "produce", "x", "-z", "brotli"},
		{"topic", "produce", "x", "--acks", "2"},
		{"topic", "produce", "x", "--file", "/does/not/exist"},
		{"topic", "produce", "x", "--partitioner", "dice"},
		{"topic", "consume", "x", "-o", "9:3"},
		{"topic", "consume", "x", "-f", "%Q"},
		{"topic", "which-partition", "x"},
		{"bench", "e2e", "x", "--record-size", "3"},
		{"bench", "produce", "x", "--producer-props", "asks=1"},
		{"topic", "list", "-X", "security.protocol=TLS"},
		{"topic", "list", "-X", "bootstrap=1"},
		{"debug", "dump-log", "-o", "yaml", "x.log"},
	} {
		r := execute(t.Context(), "", args...)
		if r.code != exit.Usage || !strings.HasPrefix(r.err, "error: ") || !strings.Contains(r.err, "next:  moldau") || r.out != "" {
			t.Errorf("moldau %s: exit code %d, out %q, err %q; want code 2, an error and what to run next", strings.Join(args, " "), r.code, r.out, r.err)
		}
	}
}

// TestHelpEverywhere: every command explains itself on standard output.
func TestHelpEverywhere(t *testing.T) {
	root := newRoot(streams{strings.NewReader(""), io.Discard, io.Discard})
	var walk func(path []string)
	walk = func(path []string) {
		cmd, _, err := root.Find(path)
		if err != nil {
			t.Fatal(err)
		}
		r := execute(t.Context(), "", append(path, "--help")...)
		if r.code != exit.OK || !strings.Contains(r.out, "Usage:") {
			t.Errorf("moldau %s --help: %d %q", strings.Join(path, " "), r.code, r.err)
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("moldau %s: its short description is %q", strings.Join(path, " "), cmd.Short)
		}
		if !cmd.HasSubCommands() && cmd.Example == "" && len(path) > 0 && path[0] != "completion" {
			t.Errorf("moldau %s has no example", strings.Join(path, " "))
		}
		for _, sub := range cmd.Commands() {
			walk(append(path[:len(path):len(path)], sub.Name()))
		}
	}
	walk(nil)
}

func TestNoCluster(t *testing.T) {
	r := execute(t.Context(), "", "topic", "list", "-b", "127.0.0.1:1", "--timeout", "1s")
	if r.code != exit.Unhealthy || !strings.Contains(r.err, "no answer from the cluster") {
		t.Errorf("%d %s", r.code, r.err)
	}
}

func TestVersion(t *testing.T) {
	r := execute(t.Context(), "", "version", "-o", "json")
	v := decode[build](t, r.out)
	if r.code != exit.OK || v.Go == "" || v.Platform == "" {
		t.Errorf("%+v", r)
	}
	// What ApiVersions permits (KIP-511); other versions are refused by brokers.
	if !regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?$`).MatchString(v.Version) {
		t.Errorf("no broker takes the version %q", v.Version)
	}
}
