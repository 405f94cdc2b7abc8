//go:build bench

package bench

import (
	"bufio"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"moldau/test/peers"
)

// TestStart prints how long an empty server takes from its exec to the line
// that says it is ready, and what memory it then holds.
func TestStart(t *testing.T) {
	bin := peers.BuildMoldau(t)
	table(t, "start and idle", "roles", "ms to ready", "anonymous RSS, MiB")
	var outcomes []string
	for _, of := range []struct {
		roles   string
		ms, mib float64 // the aims
	}{{"broker,registry,gateway", 120, 48}, {"broker", 60, 24}} {
		var took, memory []float64
		for range setting("BENCH_ROUNDS", defaultRounds) + 1 {
			ms, mib := startOnce(t, bin, of.roles)
			took, memory = append(took, ms), append(memory, mib)
		}
		// The first one reads the binary from the disk.
		ms, mib := SpreadOf(took[1:]), SpreadOf(memory[1:])
		line(t, of.roles, ms.String(), mib.String())
		outcomes = append(outcomes, atMost(of.roles+" ms", ms.Median, of.ms), atMost(of.roles+" MiB", mib.Median, of.mib))
	}
	aim(t, "start and idle", outcomes...)
}

func startOnce(t *testing.T, bin, roles string) (ms, mib float64) {
	t.Helper()
	cmd := exec.Command(bin, "serve", "--roles", roles, "--data-dir", t.TempDir(), "--set", "listeners=PLAINTEXT://127.0.0.1:0",
		"--set", "http.listen=127.0.0.1:0", "--set", "grpc.listen=127.0.0.1:0", "--set", "registry.listen=127.0.0.1:0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "ready") {
			ms = time.Since(begin).Seconds() * 1000
			break
		}
	}
	if ms == 0 {
		t.Fatalf("roles %s: never ready", roles)
	}
	time.Sleep(time.Second) // what a start leaves to do is done
	mib = float64(resident(t, cmd.Process.Pid)) / (1 << 20)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	return ms, mib
}
