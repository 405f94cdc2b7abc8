//go:build interop

package buf

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"moldau/test/peers"
)

// buildBuf builds the CLI once for all runs of these tests.
func buildBuf(t *testing.T) string {
	t.Helper()
	if bin := os.Getenv("BUF_BIN"); bin != "" {
		return bin
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(cache, "moldau-buf", "buf")
	build := exec.CommandContext(t.Context(), "go", "build", "-modfile=tools/buf/go.mod", "-o", bin, "github.com/bufbuild/buf/cmd/buf")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build buf: %v\n%s", err, out)
	}
	return bin
}

// server is a process whose registry stays at its address over restarts.
type server struct {
	t        *testing.T
	bin, dir string
	registry string // host:port
	args     []string
	cmd      *exec.Cmd
	done     chan struct{}
}

func start(t *testing.T, args ...string) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, bin: peers.BuildMoldau(t), dir: t.TempDir(), registry: l.Addr().String(), args: args}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	s.run()
	return s
}

func (s *server) run() {
	s.t.Helper()
	args := []string{
		"serve", "--data-dir", filepath.Join(s.dir, "data"), "--set", "listeners=PLAINTEXT://127.0.0.1:0", "--set", "http.listen=off",
		"--set", "grpc.listen=127.0.0.1:0", "--set", "registry.listen=" + s.registry,
	}
	s.cmd = exec.Command(s.bin, append(args, s.args...)...)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	log, err := os.OpenFile(filepath.Join(s.dir, "serve.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd.Stderr = log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ready := make(chan bool, 1)
	s.done = make(chan struct{})
	go func() { // ends with the process
		defer close(s.done)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "ready") {
				ready <- true
			}
		}
		_, _ = io.Copy(io.Discard, out)
		_ = s.cmd.Wait()
		_ = log.Close()
	}()
	select {
	case <-ready:
	case <-s.done:
		s.fatalLog("the server ended")
	case <-time.After(time.Minute):
		s.fatalLog("the server is not ready")
	}
}

func (s *server) fatalLog(what string) {
	s.t.Helper()
	b, _ := os.ReadFile(filepath.Join(s.dir, "serve.log"))
	s.t.Fatalf("%s\n%s", what, b)
}

// stop ends the process cleanly.
func (s *server) stop() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
	case <-time.After(time.Minute):
		_ = s.cmd.Process.Kill()
		<-s.done
		s.t.Error("the server did not end by itself")
	}
	s.cmd = nil
}

// rest asks the REST protocol and returns status and body.
func (s *server) rest(method, path, body string) (int, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+s.registry+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/vnd.schemaregistry.v1+json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// subjects are the names of all subjects, with their versions.
func (s *server) subjects() string {
	s.t.Helper()
	_, body := s.rest(http.MethodGet, "/subjects", "")
	var names []string
	if err := json.Unmarshal([]byte(body), &names); err != nil {
		s.t.Fatalf("%v: %s", err, body)
	}
	var out []string
	for _, n := range names {
		_, versions := s.rest(http.MethodGet, "/subjects/"+strings.ReplaceAll(n, "/", "%2F")+"/versions", "")
		out = append(out, n+versions)
	}
	return strings.Join(out, " ")
}

// cli is the buf CLI with folders of its own.
type cli struct {
	t   *testing.T
	bin string
	env []string
	dir string // where modules are
}

func newCLI(t *testing.T, tls string, env ...string) *cli {
	t.Helper()
	c := &cli{t: t, bin: buildBuf(t), dir: t.TempDir()}
	home := t.TempDir()
	for _, d := range []string{"config", "cache"} {
		if err := os.MkdirAll(filepath.Join(home, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "config", "config.yaml"), []byte("version: v1\ntls:\n"+tls), 0o600); err != nil {
		t.Fatal(err)
	}
	c.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "BUF_CONFIG_DIR=" + filepath.Join(home, "config"), "BUF_CACHE_DIR=" + filepath.Join(home, "cache"),
	}, env...)
	return c
}

const plain = "  use: \"false\"\n"

// forget drops what the CLI keeps of modules, so that it reads them from the registry again.
func (c *cli) forget() {
	c.t.Helper()
	dir := c.t.TempDir()
	c.env = append(c.env, "BUF_CACHE_DIR="+dir)
}

func (c *cli) write(path, text string) {
	c.t.Helper()
	path = filepath.Join(c.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cli) read(path string) string {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, path))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}

// try runs the CLI in a folder below its own.
func (c *cli) try(dir string, args ...string) (string, error) {
	c.t.Helper()
	return c.tryInput(dir, "", args...)
}

// tryInput does so with a file as input.
func (c *cli) tryInput(dir, input string, args ...string) (string, error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.bin, args...)
	cmd.Dir, cmd.Env = filepath.Join(c.dir, dir), c.env
	if input != "" {
		cmd.Stdin = strings.NewReader(c.read(input))
	}
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (c *cli) run(dir string, args ...string) string {
	c.t.Helper()
	out, err := c.try(dir, args...)
	if err != nil {
		c.t.Fatalf("buf %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// refused runs the CLI, which must fail and say all of this.
func (c *cli) refused(dir string, says []string, args ...string) {
	c.t.Helper()
	out, err := c.try(dir, args...)
	if err == nil {
		c.t.Fatalf("buf %s did not fail\n%s", strings.Join(args, " "), out)
	}
	for _, s := range says {
		if !strings.Contains(out, s) {
			c.t.Errorf("buf %s does not say %q:\n%s", strings.Join(args, " "), s, out)
		}
	}
}

// module writes the buf.yaml of a module.
func (c *cli) module(dir, name string, deps ...string) {
	c.t.Helper()
	text := fmt.Sprintf("version: v2\nname: %s\n", name)
	if len(deps) > 0 {
		text += "deps:\n"
		for _, d := range deps {
			text += "  - " + d + "\n"
		}
	}
	c.write(filepath.Join(dir, "buf.yaml"), text)
}
