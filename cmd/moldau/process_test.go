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
