//go:build bench

package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"moldau/test/peers"
)

// The schemas of TestRegistry. A number in the name makes each another one.
var registrySchemas = []struct{ kind, text string }{
	{"AVRO", `{"type":"record","name":"Order%d","namespace":"shop","fields":[{"name":"id","type":"string"},{"name":"units","type":"long"},{"name":"note","type":["null","string"],"default":null}]}`},
	{"PROTOBUF", `syntax = "proto3"; package shop; message Order%d { string id = 1; int64 units = 2; optional string note = 3; }`},
	{"JSON", `{"title":"Order%d","type":"object","properties":{"id":{"type":"string"},"units":{"type":"integer"},"note":{"type":"string"}},"required":["id"]}`},
}

// TestRegistry prints what the registry takes over 64 connections: reads by id, registrations of what is there already, and of
// new schemas, each under a subject of its own, with strict durability. The clients run in this process; the processor
// time is the server's. Then it starts a second registry in front of the same broker and prints how long that loads.
func TestRegistry(t *testing.T) {
	if testing.Short() {
		t.Skip("-short runs the rows that matter most")
	}
	bin := peers.BuildMoldau(t)
	m := peers.StartMoldau(t, bin, "--set", "durability=strict")
	b := broker{"moldau", m.Kafka(), m.Pid}
	r := &registryLoad{t: t, bin: bin, url: "http://" + m.Addresses["registry"]}
	r.post(0, 0) // makes the topic
	table(t, "registry, 64 connections", "request", "requests/s", "server CPU, µs/request", "requests a core-second", "p99, ms")
	reads, writes := setting("BENCH_REQUESTS", 50_000), setting("BENCH_SCHEMAS", 4_000)
	get := r.row(b, "GET /schemas/ids/{id}", func() int { return r.load(reads, func(int) { r.get("/schemas/ids/1") }) })
	outcomes := []string{atLeast("GET by id a core-second", get.perCore, 30_000), atMost("its p99 in ms", get.p99, 5)}
	r.row(b, "GET /subjects/{subject}/versions/latest", func() int {
		return r.load(reads, func(int) { r.get("/subjects/AVRO-0/versions/latest") })
	})
	r.row(b, "POST the same", func() int { return r.load(reads, func(int) { r.post(0, 0) }) })
	next := 1
	for kind, s := range registrySchemas {
		made := r.row(b, "POST new, "+s.kind, func() int {
			first := next
			next += writes
			return r.load(writes, func(i int) { r.post(kind, first+i) })
		})
		outcomes = append(outcomes, atLeast("new "+s.kind+" schemas/s", made.rate, 1_000))
	}
	aim(t, "registry", outcomes...)
	r.reload(b)
}

// registryLoad is a client of a registry that notes how long its requests took.
type registryLoad struct {
	t      *testing.T
	bin    string
	url    string
	client http.Client

	mu   sync.Mutex
	took []time.Duration
}

const registryConnections = 64

// registryFigures are the medians of a workload, and its p99 in ms.
type registryFigures struct{ rate, perCore, p99 float64 }

// row runs a workload several times and prints it. The first run only warms up.
func (r *registryLoad) row(b broker, name string, run func() int) registryFigures {
	r.client.Transport = &http.Transport{MaxIdleConnsPerHost: registryConnections}
	defer r.client.CloseIdleConnections()
	var samples []Sample
	for round := range setting("BENCH_ROUNDS", defaultRounds) + 1 {
		s := sampled(r.t, b, run)
		if round > 0 {
			samples = append(samples, s)
		} else {
			r.took = nil
		}
	}
	slices.Sort(r.took)
	p99 := r.took[len(r.took)*99/100].Seconds() * 1000
	r.took = nil
	rate, cpu := Summarize(samples, Sample.Rate), Summarize(samples, Sample.PerRecord)
	line(r.t, name, rate.String(), cpu.String(), number(1e6/cpu.Median), number(p99))
	return registryFigures{rate.Median, 1e6 / cpu.Median, p99}
}

// load makes n requests over the connections and returns how many it made.
func (r *registryLoad) load(n int, request func(i int)) int {
	var wg sync.WaitGroup
	for c := range registryConnections {
		wg.Go(func() {
			var took []time.Duration
			for i := c; i < n; i += registryConnections {
				start := time.Now()
				request(i)
				took = append(took, time.Since(start))
			}
			r.mu.Lock()
			r.took = append(r.took, took...)
			r.mu.Unlock()
		})
	}
	wg.Wait()
	return n
}

func (r *registryLoad) get(path string) []byte {
	resp, err := r.client.Get(r.url + path)
	return r.answer(resp, err)
}

// post registers the nth schema of a language.
func (r *registryLoad) post(kind, n int) {
	s := registrySchemas[kind]
	text, err := json.Marshal(fmt.Sprintf(s.text, n))
	if err != nil {
		r.t.Error(err)
		return
	}
	body := fmt.Appendf(nil, `{"schemaType":%q,"schema":%s}`, s.kind, text)
	resp, err := r.client.Post(fmt.Sprintf("%s/subjects/%s-%d/versions", r.url, s.kind, n), "application/json", bytes.NewReader(body))
	r.answer(resp, err)
}

func (r *registryLoad) answer(resp *http.Response, err error) []byte {
	if err != nil {
		r.t.Error(err)
		return nil
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK {
		r.t.Errorf("status %d, %v: %s", resp.StatusCode, err, body)
	}
	return body
}

// reload starts a registry of its own and prints how long after its exec it lists all subjects.
func (r *registryLoad) reload(b broker) {
	want := r.get("/subjects")
	addresses := filepath.Join(r.t.TempDir(), "addresses.json")
	cmd := exec.Command(r.bin, "serve", "--roles", "registry", "--data-dir", r.t.TempDir(), "--addresses-file", addresses,
		"--set", "bootstrap.servers="+b.addr, "--set", "registry.listen=127.0.0.1:0", "--set", "http.listen=off")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	other := &registryLoad{t: r.t}
	for time.Since(start) < time.Minute {
		var doors map[string]string
		if text, err := os.ReadFile(addresses); other.url == "" && err == nil && json.Unmarshal(text, &doors) == nil {
			other.url = "http://" + doors["registry"]
		}
		if other.url != "" && bytes.Equal(other.get("/subjects"), want) {
			printf(r.t, "\nA second registry lists all %d subjects %.2f s after its start.\n",
				bytes.Count(want, []byte(","))+1, time.Since(start).Seconds())
			return
		}
		runtime.Gosched()
	}
	r.t.Error("the second registry has not all subjects after a minute")
}
