//go:build bench

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Settings of every test and their defaults, which make the whole run end
// within twenty minutes on a quiet machine of two cores.
const (
	defaultRecords = 1_000_000 // BENCH_RECORDS, of a run with 100 B records
	defaultRounds  = 3         // BENCH_ROUNDS, not counting the one that warms up
	defaultSeconds = 4         // BENCH_SECONDS, of a run at a fixed rate
)

// table begins a table of docs/performance.md. Above it stands what is needed
// to measure it again, and how busy the machine was.
func table(t *testing.T, title string, columns ...string) {
	t.Helper()
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		t.Fatal(err)
	}
	printf(t, "\n### %s\n\nCommit %s, %s: `%s`. Load average %s.\n\n", title, commit(t), time.Now().Format(time.DateOnly), command(t),
		strings.Join(strings.Fields(string(load))[:3], " "))
	line(t, columns...)
	printf(t, "|%s\n", strings.Repeat("---|", len(columns)))
}

// line prints one line of a table.
func line(t *testing.T, cells ...string) {
	t.Helper()
	printf(t, "| %s |\n", strings.Join(cells, " | "))
}

// aim prints what a table is held against, and how that ended: see atLeast
// and atMost.
func aim(t *testing.T, what string, outcomes ...string) {
	t.Helper()
	printf(t, "\nAim, %s: %s.\n", what, strings.Join(outcomes, "; "))
}

func atLeast(name string, got, want float64) string {
	return outcome(name, "≥", got, want, got >= want)
}

func atMost(name string, got, want float64) string {
	return outcome(name, "≤", got, want, got <= want)
}

func outcome(name, sign string, got, want float64, met bool) string {
	verdict := "missed"
	if met {
		verdict = "met"
	}
	return fmt.Sprintf("%s %s %s with %s: %s", name, sign, number(want), number(got), verdict)
}

// number writes a figure with as many places as tell something.
func number(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// printf prints to the standard output, and to the end of the file that
// BENCH_REPORT names, if any.
func printf(t *testing.T, format string, args ...any) {
	t.Helper()
	fmt.Printf(format, args...)
	name := os.Getenv("BENCH_REPORT")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(f, format, args...); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// commit names what was measured, with -dirty if the tree differs from it.
func commit(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude", "*").Output()
	if err != nil {
		t.Fatalf("git describe: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// command is what runs this test alone, as it was run.
func command(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "BENCH_") && !strings.HasPrefix(v, "BENCH_REPORT=") {
			fmt.Fprintf(&b, "%s ", v)
		}
	}
	short := ""
	if testing.Short() {
		short = " -short"
	}
	fmt.Fprintf(&b, "go test -tags bench -count=1 -timeout 30m%s -run '^%s$' ./test/bench", short, t.Name())
	return b.String()
}
