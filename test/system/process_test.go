//go:build system

package system

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// process is one data directory and the broker that runs on it, on a port
// that stays the same over restarts.
type process struct {
	t    *testing.T
	bin  string
	dir  string
	port int
	cmd  *exec.Cmd
	done chan struct{}
}

func newProcess(t *testing.T, bin string) *process {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, bin: bin, dir: t.TempDir(), port: port}
	t.Cleanup(func() {
		if p.cmd != nil {
			p.kill()
		}
		if t.Failed() {
			b, _ := os.ReadFile(filepath.Join(p.dir, "serve.log"))
			t.Logf("the broker's log ends:\n%s", tail(b, 4000))
		}
	})
	return p
}

func (p *process) addr() string { return fmt.Sprintf("127.0.0.1:%d", p.port) }

// start runs the broker and returns the time until it answered Metadata.
func (p *process) start(args ...string) time.Duration {
	p.t.Helper()
	begin := time.Now()
	logFile, err := os.OpenFile(filepath.Join(p.dir, "serve.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	base := []string{"serve", "--roles", "broker", "--data-dir", filepath.Join(p.dir, "data"), "--set", "listeners=PLAINTEXT://" + p.addr(), "--set", "http.listen=off"}
	p.cmd = exec.Command(p.bin, append(base, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = logFile, logFile
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.done = make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) {
		defer close(done)
		_ = cmd.Wait()
		_ = logFile.Close()
	}(p.cmd, p.done)
	p.awaitAnswer()
	return time.Since(begin)
}

func (p *process) awaitAnswer() {
	p.t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.addr()), kgo.RetryBackoffFn(func(int) time.Duration { return 5 * time.Millisecond }))
	if err != nil {
		p.t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	for {
		if _, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, cl); err == nil {
			return
		}
		select {
		case <-p.done:
			p.t.Fatal("the broker ended while starting")
		case <-ctx.Done():
			p.t.Fatal("the broker did not answer in 30 s")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// kill sends SIGKILL and waits until the process is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
	p.cmd = nil
}

func tail(b []byte, n int) []byte {
	if len(b) > n {
		return b[len(b)-n:]
	}
	return b
}
