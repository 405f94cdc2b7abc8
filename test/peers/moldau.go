package peers

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Moldau is one running process of the product, built from this checkout. It
// ends with the test that started it.
type Moldau struct {
	// Addresses is what the process wrote to its addresses file: "kafka",
	// "http", "grpc" and so on to host:port.
	Addresses map[string]string
	// Binary is the built command, for its command line.
	Binary string
	// Dir is the data directory.
	Dir string
	// Pid is the process id.
	Pid int
}

// BuildMoldau builds the binary into the test's temporary folder.
func BuildMoldau(tb testing.TB) string {
	tb.Helper()
	bin := filepath.Join(tb.TempDir(), "moldau")
	if out, err := exec.Command("go", "build", "-o", bin, "moldau/cmd/moldau").CombinedOutput(); err != nil {
		tb.Fatalf("peers: build moldau: %v\n%s", err, out)
	}
	return bin
}

// StartMoldau starts `moldau serve` with every door on a free loopback port
// and returns when it is ready.
func StartMoldau(tb testing.TB, bin string, args ...string) *Moldau {
	tb.Helper()
	dir := tb.TempDir()
	addresses := filepath.Join(dir, "addresses.json")
	logFile, err := os.Create(filepath.Join(dir, "serve.log"))
	if err != nil {
		tb.Fatalf("peers: %v", err)
	}
	base := []string{
		"serve", "--data-dir", filepath.Join(dir, "data"), "--addresses-file", addresses,
		"--set", "listeners=PLAINTEXT://127.0.0.1:0", "--set", "node.id=1",
	}
	for _, door := range []string{"http", "grpc", "registry", "rest.proxy", "connect"} {
		base = append(base, "--set", door+".listen=127.0.0.1:0")
	}
	cmd := exec.Command(bin, append(base, args...)...)
	cmd.Stdout, cmd.Stderr = logFile, logFile
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		tb.Fatalf("peers: start moldau: %v", err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = cmd.Wait(); _ = logFile.Close() }()
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-done
	})
	m := &Moldau{Binary: bin, Dir: filepath.Join(dir, "data"), Pid: cmd.Process.Pid}
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		if b, err := os.ReadFile(addresses); err == nil && json.Unmarshal(b, &m.Addresses) == nil && len(m.Addresses) > 0 {
			return m
		}
		select {
		case <-done:
			b, _ := os.ReadFile(logFile.Name())
			tb.Fatalf("peers: moldau ended while starting:\n%s", b)
		case <-time.After(10 * time.Millisecond):
		}
	}
	tb.Fatal("peers: moldau was not ready in 20 s")
	return nil
}

// Kafka answers the bootstrap address.
func (m *Moldau) Kafka() string { return m.Addresses["kafka"] }
