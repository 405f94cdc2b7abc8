package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"moldau/cmd/moldau/internal/exit"
	"moldau/test/input"
)

// asProcess makes this test binary behave as moldau, so that tests can signal
// and kill a real process without building another.
const asProcess = "MOLDAU_TEST_AS_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(asProcess) != "" {
		os.Exit(run(context.Background(), streams{os.Stdin, os.Stdout, os.Stderr}, os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// process is `moldau serve` in a process of its own.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	kafka string // its address
	log   string // the file with its log
}

// serve starts a server on free ports and waits until it is ready.
func serve(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	args = append([]string{
		"serve", "--data-dir", dir, "--roles", "broker", "--set", "listeners=PLAINTEXT://127.0.0.1:0", "--set", "http.listen=off",
	}, args...)
	p := &process{t: t, cmd: exec.Command(os.Args[0], args...)}
	p.cmd.Env = append(os.Environ(), asProcess+"=1")
	logFile, err := os.CreateTemp(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	defer logFile.Close()
	p.log, p.cmd.Stderr = logFile.Name(), logFile
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	for s := bufio.NewScanner(out); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "kafka"); ok {
			p.kafka = strings.Fields(rest)[0]
		}
		if strings.HasPrefix(s.Text(), "ready") {
			return p
		}
	}
	raw, _ := os.ReadFile(p.log)
	t.Fatalf("the server ended before it was ready:\n%s", raw)
	return nil
}

// signal sends a signal and returns how the process ended.
func (p *process) signal(sig os.Signal) error {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
	return p.cmd.Wait()
}

func TestSignals(t *testing.T) {
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		p := serve(t, filepath.Join(t.TempDir(), "data"))
		if err := p.signal(sig); err != nil {
			raw, _ := os.ReadFile(p.log)
			t.Errorf("%v: %v\n%s", sig, err, raw)
		}
	}
}

// TestKillLosesNothing kills a server with SIGKILL after every batch of
// acknowledged records and reads all of them back from the next one.
func TestKillLosesNothing(t *testing.T) {
	rounds := 3
	if os.Getenv("MOLDAU_CRASH") != "" {
		rounds = 20
	}
	dir := filepath.Join(t.TempDir(), "data")
	var want strings.Builder
	for round := range rounds {
		p := serve(t, dir)
		var lines strings.Builder
		for i := range 500 {
			fmt.Fprintf(&lines, "round %d line %d\n", round, i)
		}
		r := execute(t.Context(), lines.String(), "topic", "produce", "kept", "-b", p.kafka, "-z", "lz4")
		if r.code != exit.OK {
			t.Fatalf("round %d: %s", round, r.err)
		}
		want.WriteString(lines.String())
		var ended *exec.ExitError
		if err := p.signal(os.Kill); !errors.As(err, &ended) {
			t.Fatalf("killed: %v", err)
		}
	}
	p := serve(t, dir)
	r := execute(t.Context(), "", "topic", "consume", "kept", "-b", p.kafka)
	if r.code != exit.OK || r.out != want.String() {
		t.Errorf("exit code %d, %d bytes came back of %d\n%s", r.code, len(r.out), want.Len(), r.err)
	}
	if err := p.signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if r := execute(t.Context(), "", "debug", "verify-log", dir); r.code != exit.OK {
		t.Errorf("%+v", r)
	}
}

// TestProduceNamesRefused: of the lines that the broker refuses each is named with the reason, and the others are written in order. It was
// found by a tutorial whose reader saw INVALID_RECORD and nothing else.
func TestProduceNamesRefused(t *testing.T) {
	p := serve(t, filepath.Join(t.TempDir(), "data"))
	t.Setenv("MOLDAU_BROKERS", p.kafka)
	if r := execute(t.Context(), "", "topic", "create", "compacted", "-p", "1", "-c", "cleanup.policy=compact"); r.code != exit.OK {
		t.Fatalf("create: %+v", r)
	}
	why := "topic compacted, partition 0: INVALID_RECORD: Compacted topic cannot accept message without key."
	r := execute(t.Context(), "one\n", "topic", "produce", "compacted")
	if r.code != exit.Failed || !strings.Contains(r.err, "error: record 1 of the input: "+why) {
		t.Errorf("one line: %+v", r)
	}
	// An empty key of the input is null.
	r = execute(t.Context(), "a:1\n:2\nb:3\n:4\nc:5\n", "topic", "produce", "compacted", "-f", `%k:%v\n`, "--output-format", `%o %v\n`)
	if r.code != exit.Failed || r.out != "0 1\n1 3\n2 5\n" {
		t.Errorf("some lines: %+v", r)
	}
	for _, want := range []string{"3 records, 6 bytes", "record 2 of the input: " + why, "record 4 of the input: " + why, "error: 2 of 5 records were not written"} {
		if !strings.Contains(r.err, want) {
			t.Errorf("%q is not in %s", want, r.err)
		}
	}
	if r = execute(t.Context(), strings.Repeat("x\n", 100), "topic", "produce", "compacted"); strings.Count(r.err, why) != maxFailures ||
		!strings.Contains(r.err, "and 80 more\nerror: 100 of 100") {
		t.Errorf("many lines: %+v", r)
	}
	if r = execute(t.Context(), "", "topic", "consume", "compacted", "-f", `%k%v `); r.out != "a1 b3 c5 " {
		t.Errorf("the topic holds %q", r.out)
	}
}

// TestRealLinesRoundTrip sends every line of the real input through a real
// process and compares the bytes.
func TestRealLinesRoundTrip(t *testing.T) {
	file := input.AccessLog(t)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := serve(t, filepath.Join(t.TempDir(), "data"))
	for _, z := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		if r := execute(t.Context(), "", "topic", "produce", "real-"+z, "-b", p.kafka, "-z", z, "--file", file); r.code != exit.OK {
			t.Fatalf("%s: %s", z, r.err)
		}
		if r := execute(t.Context(), "", "topic", "consume", "real-"+z, "-b", p.kafka); r.out != string(raw) {
			t.Errorf("%s: %d bytes came back of %d", z, len(r.out), len(raw))
		}
	}
	if err := p.signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}
