//go:build system

package system

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"moldau/test/peers"
)

// freePort is a port that nothing listens at.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// answer is what the registry said: a status and a body, or nothing when it was not there.
type answer struct {
	status int
	body   []byte
}

func (a answer) id() int {
	var j struct{ ID int }
	if a.status != http.StatusOK || json.Unmarshal(a.body, &j) != nil {
		return 0
	}
	return j.ID
}

func ask(ctx context.Context, method, url, body string) answer {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		return answer{}
	}
	req.Header.Set("Content-Type", "application/vnd.schemaregistry.v1+json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}
	}
	return answer{resp.StatusCode, b}
}

// record is the body that registers the n-th schema.
func record(n int) string {
	text := fmt.Sprintf(`{"type":"record","name":"R%d","fields":[{"name":"a","type":"string"}]}`, n)
	b, _ := json.Marshal(map[string]string{"schema": text})
	return string(b)
}

// awaitRegistry waits until the registry answers.
func awaitRegistry(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	for ask(ctx, "GET", url+"/subjects", "").status != http.StatusOK {
		select {
		case <-ctx.Done():
			t.Fatal("the registry does not answer")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// ledger is what clients were told.
type ledger struct {
	mu    sync.Mutex
	ids   map[int]int // by schema
	owner map[int]int // schema by id, those too that are gone
	wrong []string
}

func (l *ledger) told(schema, id int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if have, ok := l.ids[schema]; ok && have != id {
		l.wrong = append(l.wrong, fmt.Sprintf("schema %d has id %d, it was told to have %d", schema, id, have))
	}
	if other, ok := l.owner[id]; ok && other != schema {
		l.wrong = append(l.wrong, fmt.Sprintf("id %d is of schema %d, it was of schema %d", id, schema, other))
	}
	l.ids[schema], l.owner[id] = id, schema
}

// TestRegistryKill9 kills broker and registry again and again under registrations and pushes: no id is given twice, nothing that
// was acknowledged is lost, who asks again is told the same id or commit, and a push is there whole, with commit, label and all its
// subjects, or not at all. KILLS and SEED are as in TestKill9.
func TestRegistryKill9(t *testing.T) {
	kills := int(number(t, "KILLS", 5))
	seed := number(t, "SEED", uint64(time.Now().UnixNano()))
	t.Logf("SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	port := freePort(t)
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	args := []string{"--roles", "registry", "--set", fmt.Sprintf("registry.listen=127.0.0.1:%d", port), "--set", "registry.buf.auto_subjects=record"}
	p := newProcess(t, peers.BuildMoldau(t))
	p.start(args...)
	awaitRegistry(t, url)

	l := &ledger{ids: map[int]int{}, owner: map[int]int{}}
	pushers := []*pusher{{module: "one"}, {module: "two"}}
	createModules(t, url, "one", "two")
	var halt atomic.Bool
	var next atomic.Int64
	var wg sync.WaitGroup
	for _, p := range pushers {
		wg.Go(func() {
			for !halt.Load() {
				p.push(url, &halt)
			}
		})
	}
	for range 4 {
		wg.Go(func() {
			for !halt.Load() {
				n := int(next.Add(1))
				for !halt.Load() { // until it is told
					ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
					id := ask(ctx, "POST", fmt.Sprintf("%s/subjects/s%d/versions", url, n), record(n)).id()
					cancel()
					if id != 0 {
						l.told(n, id)
						break
					}
					time.Sleep(5 * time.Millisecond)
				}
			}
		})
	}
	wg.Go(func() { // removes for good what was just registered: ids must not come back with it
		for !halt.Load() {
			time.Sleep(20 * time.Millisecond)
			s := fmt.Sprintf("%s/subjects/s%d", url, next.Load()-4)
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			if ask(ctx, "DELETE", s, "").status == http.StatusOK {
				ask(ctx, "DELETE", s+"?permanent=true", "")
			}
			cancel()
		}
	})
	for range kills {
		time.Sleep(300*time.Millisecond + time.Duration(rng.Int64N(int64(time.Second))))
		p.kill()
		p.start(args...)
	}
	awaitRegistry(t, url)
	time.Sleep(time.Second)
	halt.Store(true)
	wg.Wait()
	l.verify(t, url)
	for _, p := range pushers {
		p.verify(t, url, l)
	}
	a, b := len(pushers[0].told), len(pushers[1].told)
	if len(l.ids) < 50 || a < 5 || b < 5 {
		t.Errorf("only %d schemas were registered, %d and %d times was pushed: the test proved nothing", len(l.ids), a, b)
	}
	if n := generations(t, p.addr(), "_schemas"); n < 2 {
		t.Errorf("%d writers wrote", n)
	}
	generations(t, p.addr(), "__moldau_modules")
	t.Logf("%d kills, %d schemas registered, %d and %d times pushed", kills, len(l.ids), a, b)
}

// verify checks what the clients were told against what the registry says now.
func (l *ledger) verify(t *testing.T, url string) {
	t.Helper()
	for _, w := range l.wrong {
		t.Error(w)
	}
	for schema, id := range l.ids {
		s := fmt.Sprintf("%s/subjects/s%d", url, schema)
		a := ask(t.Context(), "GET", s+"/versions?deleted=true", "")
		if a.status == http.StatusNotFound {
			continue // removed for good; whether rightly is not known
		}
		if got := ask(t.Context(), "POST", s+"/versions", record(schema)).id(); got != id {
			t.Errorf("schema %d has id %d now, it was told to have %d", schema, got, id)
		}
		b := ask(t.Context(), "GET", fmt.Sprintf("%s/schemas/ids/%d", url, id), "")
		if b.status != http.StatusOK || !bytes.Contains(b.body, fmt.Appendf(nil, `\"R%d\"`, schema)) {
			t.Errorf("id %d of schema %d is %d %s", id, schema, b.status, b.body)
		}
	}
}

// replica is a registry in a process of its own.
type replica struct {
	t    *testing.T
	url  string
	cmd  *exec.Cmd
	done chan struct{}
}

func startReplica(t *testing.T, bin, brokers string) *replica {
	t.Helper()
	dir := t.TempDir()
	port := freePort(t)
	r := &replica{t: t, url: fmt.Sprintf("http://127.0.0.1:%d", port), done: make(chan struct{})}
	log, err := os.Create(filepath.Join(dir, "serve.log"))
	if err != nil {
		t.Fatal(err)
	}
	r.cmd = exec.Command(bin, "serve", "--roles", "registry", "--data-dir", filepath.Join(dir, "data"),
		"--set", "bootstrap.servers="+brokers, "--set", fmt.Sprintf("registry.listen=127.0.0.1:%d", port),
		"--set", "http.listen=off", "--set", "registry.session.timeout.ms=6000", "--set", "registry.buf.auto_subjects=record")
	r.cmd.Stdout, r.cmd.Stderr = log, log
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.done)
		_ = r.cmd.Wait()
		_ = log.Close()
	}()
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		<-r.done
		if t.Failed() {
			b, _ := os.ReadFile(log.Name())
			t.Logf("the log of %s ends:\n%s", r.url, tail(b, 4000))
		}
	})
	awaitRegistry(t, r.url)
	return r
}

func (r *replica) signal(s syscall.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

func (r *replica) register(n int, patience time.Duration) int {
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	return ask(ctx, "POST", fmt.Sprintf("%s/subjects/s%d/versions", r.url, n), record(n)).id()
}

// TestPausedRegistryIsFenced stops the replica that writes, with registrations and pushes on their way, until another one has taken
// over, and lets it go on: what it had begun must not be written any more by it, and both agree in the end.
func TestPausedRegistryIsFenced(t *testing.T) {
	bin := peers.BuildMoldau(t)
	p := newProcess(t, bin)
	p.start()
	a := startReplica(t, bin, p.addr())
	if a.register(1, 30*time.Second) != 1 {
		t.Fatal("the first schema was not registered")
	}
	b := startReplica(t, bin, p.addr())
	if b.register(2, 30*time.Second) != 2 {
		t.Fatal("the second replica does not forward")
	}
	l := &ledger{ids: map[int]int{1: 1, 2: 2}, owner: map[int]int{1: 1, 2: 2}}
	createModules(t, b.url, "one", "two")
	busy, other := &pusher{module: "one"}, &pusher{module: "two"}
	var halt atomic.Bool
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for !halt.Load() {
			busy.push(a.url, &halt)
		}
	})
	for worker := range 4 { // keep the first replica busy: some requests are in the middle of a transaction when it stops
		wg.Go(func() {
			for n := 1000 * (worker + 1); ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if id := a.register(n, 40*time.Second); id != 0 {
					l.told(n, id)
				}
			}
		})
	}
	time.Sleep(500 * time.Millisecond)
	a.signal(syscall.SIGSTOP)
	for n := 100; n < 120; n++ {
		id := b.register(n, 30*time.Second)
		if id == 0 {
			t.Fatalf("schema %d was not registered while the first replica was stopped", n)
		}
		l.told(n, id)
		if n%4 == 0 {
			other.push(b.url, &halt)
		}
	}
	a.signal(syscall.SIGCONT)
	time.Sleep(2 * time.Second)
	close(stop)
	halt.Store(true)
	wg.Wait()
	for _, r := range []*replica{a, b} {
		l.verify(t, r.url)
		busy.verify(t, r.url, l)
		other.verify(t, r.url, l)
	}
	if len(other.told) != 5 || len(busy.told) == 0 {
		t.Errorf("%d and %d times was pushed", len(busy.told), len(other.told))
	}
	for _, topic := range []string{"_schemas", "__moldau_modules"} {
		if n := generations(t, p.addr(), topic); n != 2 {
			t.Errorf("%d writers wrote to %s", n, topic)
		}
	}
	t.Logf("%d schemas, %d and %d times pushed", len(l.ids), len(busy.told), len(other.told))
}
