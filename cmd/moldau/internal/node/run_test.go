package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"moldau/internal/config"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// server is a process under test, started in this one.
type server struct {
	t         *testing.T
	addresses map[string]string
	stop      context.CancelFunc
	ended     chan error
	out       *lines
}

// lines gathers what a server prints and tells when a line with a prefix came.
type lines struct {
	mu    sync.Mutex
	text  bytes.Buffer
	ready chan struct{}
	once  sync.Once
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	for line := range strings.Lines(l.text.String()) {
		if strings.HasPrefix(line, "ready") {
			l.once.Do(func() { close(l.ready) })
		}
	}
	return len(p), nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// options are those of a server on free ports of loopback.
func options(dir string, sets ...string) (Options, *lines) {
	out := &lines{ready: make(chan struct{})}
	return Options{
		Inputs: config.Inputs{Sets: append([]string{
			"data.dir=" + dir, "listeners=PLAINTEXT://127.0.0.1:0", "http.listen=127.0.0.1:0", "grpc.listen=127.0.0.1:0",
			"registry.listen=127.0.0.1:0", "peer.listen=off",
		}, sets...)},
		AddressesFile: filepath.Join(filepath.Dir(dir), "addresses.json"),
		Version:       "test", Stdout: out, Stderr: out,
	}, out
}

// start runs a server until the test ends or stops it.
func start(t *testing.T, o Options, out *lines) *server {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	s := &server{t: t, stop: stop, ended: make(chan error, 1), out: out}
	go func() { s.ended <- Run(ctx, o) }()
	select {
	case <-out.ready:
	case err := <-s.ended:
		t.Fatalf("the server ended: %v\n%s", err, out)
	case <-time.After(time.Minute):
		t.Fatalf("not ready after a minute:\n%s", out)
	}
	raw, err := os.ReadFile(o.AddressesFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &s.addresses); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.end)
	return s
}

// end stops the server as a signal does, and expects a clean end. It may be
// called again.
func (s *server) end() {
	s.t.Helper()
	s.stop()
	if s.ended == nil {
		return
	}
	if err := <-s.ended; err != nil {
		s.t.Errorf("stop: %v\n%s", err, s.out)
	}
	s.ended = nil
}

func (s *server) get(path string) (int, string) {
	s.t.Helper()
	tr := &http.Transport{DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: tr}).Get("http://" + s.addresses["http"] + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// consume reads n records of a topic.
func (s *server) consume(topic string, n int) []string {
	s.t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.addresses["kafka"]), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		s.t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	var out []string
	for len(out) < n {
		f := cl.PollFetches(ctx)
		if err := f.Err(); err != nil {
			s.t.Fatal(err)
		}
		f.EachRecord(func(r *kgo.Record) { out = append(out, string(r.Value)) })
	}
	return out
}

func (s *server) produce(topic, value string) {
	s.t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.addresses["kafka"]), kgo.AllowAutoTopicCreation())
	if err != nil {
		s.t.Fatal(err)
	}
	defer cl.Close()
	if err := cl.ProduceSync(s.t.Context(), &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr(); err != nil {
		s.t.Fatal(err)
	}
}

func TestServe(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	o, out := options(dir)
	s := start(t, o, out)
	for _, door := range []string{"kafka", "http", "grpc", "registry"} {
		if !strings.HasPrefix(s.addresses[door], "127.0.0.1:") || !strings.Contains(out.String(), s.addresses[door]) {
			t.Errorf("%s listens on %q; printed:\n%s", door, s.addresses[door], out)
		}
	}
	if len(s.addresses) != 4 {
		t.Errorf("addresses of parts that do not exist: %v", s.addresses)
	}
	code, body := s.get("/readyz?verbose")
	for deadline := time.Now().Add(time.Minute); code != 200 && time.Now().Before(deadline); { // the registry may still be reading its topic
		<-time.After(time.Millisecond)
		code, body = s.get("/readyz?verbose")
	}
	if code != 200 || body != "[+] broker\n[+] registry\n[+] gateway\nready\n" {
		t.Errorf("/readyz: %d %q", code, body)
	}
	if code, _ := s.get("/livez"); code != 200 {
		t.Errorf("/livez: %d", code)
	}
	s.produce("greetings", "hello")
	if got := s.consume("greetings", 1); got[0] != "hello" {
		t.Errorf("read %q", got)
	}
	if code, body := s.get("/v1/topics/greetings/records?from=earliest"); code != 200 || !strings.Contains(body, `"hello"`) {
		t.Errorf("by HTTP: %d %s", code, body)
	}
	if _, body := s.get("/metrics"); !strings.Contains(body, `moldau_build_info{version="test"} 1`) || !strings.Contains(body, "kafka_") {
		t.Error("/metrics lacks our own series")
	}

	// A second process on the same directory is refused, and names the first.
	o2, _ := options(dir)
	if err := Run(t.Context(), o2); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("in use by another process (pid %d)", os.Getpid())) {
		t.Errorf("a second server on the same directory: %v", err)
	}

	// What was written is there after a restart.
	s.end()
	o, out = options(dir)
	s = start(t, o, out)
	if got := s.consume("greetings", 1); got[0] != "hello" {
		t.Errorf("after a restart: %q", got)
	}
}

func TestRoles(t *testing.T) {
	o, out := options(filepath.Join(t.TempDir(), "data"))
	o.Roles = []string{roleBroker}
	s := start(t, o, out)
	if _, ok := s.addresses["grpc"]; ok || len(s.addresses) != 2 {
		t.Errorf("addresses of a broker alone: %v", s.addresses)
	}
	if code, body := s.get("/v1/topics"); code != 404 {
		t.Errorf("the API of a process without a gateway: %d %s", code, body)
	}
	s.produce("t", "from the broker")

	// A gateway in a process of its own, in front of that broker.
	o2, out2 := options(filepath.Join(t.TempDir(), "data"), "bootstrap.servers="+s.addresses["kafka"])
	o2.Roles = []string{roleGateway}
	gw := start(t, o2, out2)
	if _, ok := gw.addresses["kafka"]; ok {
		t.Errorf("addresses of a gateway alone: %v", gw.addresses)
	}
	if code, body := gw.get("/v1/topics/t/records?from=earliest"); code != 200 || !strings.Contains(body, "from the broker") {
		t.Errorf("through a gateway alone: %d %s", code, body)
	}
	gw.end()
}

func TestDoorsOff(t *testing.T) {
	o, out := options(filepath.Join(t.TempDir(), "data"), "http.listen=off", "grpc.listen=off", "registry.listen=off", "listeners=OUT://:0,IN://127.0.0.1:0",
		"listener.security.protocol.map=OUT:PLAINTEXT,IN:PLAINTEXT")
	s := start(t, o, out)
	if len(s.addresses) != 1 || !strings.Contains(out.String(), "OUT") || !strings.Contains(out.String(), "IN") {
		t.Errorf("%v\n%s", s.addresses, out)
	}
	s.produce("t", "x")
}

func TestSettingsErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"a role that does not exist": {func(o *Options) { o.Roles = []string{"broker", "connect"} }, "the roles of this build are: broker, registry, gateway"},
		"open to others":             {func(o *Options) { o.Inputs.Sets = append(o.Inputs.Sets, "http.listen=0.0.0.0:0") }, "--insecure-no-auth"},
		"a protocol not built":       {func(o *Options) { o.Inputs.Sets = append(o.Inputs.Sets, "listeners=SSL://:0") }, "this build has PLAINTEXT only"},
		"a key of a room":            {func(o *Options) { o.Inputs.Sets = append(o.Inputs.Sets, "num.io.threads=0") }, "num.io.threads"},
		"a topic default":            {func(o *Options) { o.Inputs.Sets = append(o.Inputs.Sets, "log.retention.ms=soon") }, "log.retention.ms"},
		"a misspelt key":             {func(o *Options) { o.Inputs.Sets = append(o.Inputs.Sets, "num.partition=3") }, "did you mean num.partitions?"},
		"a log level":                {func(o *Options) { o.Inputs.Sets = append(o.Inputs.Sets, "log.level=loud") }, "log.level"},
		"an address":                 {func(o *Options) { o.Inputs.Sets = append(o.Inputs.Sets, "connect.listen=here") }, "connect.listen"},
		"inter.broker.listener.name": {func(o *Options) { o.Inputs.Sets = append(o.Inputs.Sets, "inter.broker.listener.name=X") }, "not among listeners"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			o, _ := options(dir)
			tt.change(&o)
			err := Run(t.Context(), o)
			var wrong SettingsError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want a SettingsError with %q", err, tt.want)
			}
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("something was written: %v", err)
			}
		})
	}
}

// TestTakenPort: it is found before the broker starts, and everything that was
// opened is closed again (goleak, and the directory can be locked again).
func TestTakenPort(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	taken, err := config.Listen(t.Context(), "127.0.0.1", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer taken[0].Close()
	o, _ := options(dir, "http.listen="+taken[0].Addr().String())
	if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "taken by another process") {
		t.Fatalf("a taken port: %v", err)
	}
	o, out := options(dir)
	start(t, o, out)
}

// TestEndpoints: what clients are told, by what is bound and advertised.
func TestEndpoints(t *testing.T) {
	p := &process{}
	sockets, err := config.Listen(t.Context(), config.Loopback, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.bound = []bound{
		{"kafka", config.Listener{Name: "A", Protocol: "PLAINTEXT", Host: config.Loopback}, sockets},
		{"kafka", config.Listener{Name: "B", Protocol: "PLAINTEXT", Host: "127.0.0.1", AdvertisedHost: "kafka.example.com", AdvertisedPort: 443}, sockets[:1]},
		{"kafka", config.Listener{Name: "C", Protocol: "PLAINTEXT", Host: config.Loopback}, sockets[:1]},
		{"http", config.Listener{}, sockets},
	}
	defer func() {
		if err := p.closeSockets(); err != nil {
			t.Error(err)
		}
	}()
	got := p.endpoints()
	port := int32(p.bound[0].port())
	if len(got) != 3 || got[0].Port != port || got[1].Host != "kafka.example.com" || got[1].Port != 443 || got[2].Host != "127.0.0.1" {
		t.Errorf("%+v", got)
	}
	if len(sockets) == 2 && got[0].Host != "localhost" {
		t.Errorf("both families are bound, and clients are told %s", got[0].Host)
	}
}

func TestSettingsPage(t *testing.T) {
	var b strings.Builder
	if err := WriteSettings(&b); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"listeners", "http.listen", "peer.listen", "num.partitions", "log.retention.ms", "durability", "data.dir"} {
		if !strings.Contains(b.String(), "| `"+key+"` |") {
			t.Errorf("%s is not on the page", key)
		}
	}
}
