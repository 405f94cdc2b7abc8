//go:build interop

package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"moldau/test/peers"
)

// The bounds of TestNestRequestReply are for stalls, and hold on a loaded host. docs/proofs.md has what was measured.
const (
	nestRounds      = 300
	nestHopMedianMs = 30
	nestLongestMs   = 3000
)

// TestNestRequestReply has six NestJS microservices ask each other over Kafka, the kafkajs way: a request topic and a reply topic for
// each. One of them fails in every tenth round, and the error comes back to who asked first.
func TestNestRequestReply(t *testing.T) {
	bootstrap := peers.StartMoldau(t, peers.BuildMoldau(t)).Kafka()
	for n := range 6 {
		createTopic(t, bootstrap, fmt.Sprintf("hop.%d", n+1))
		createTopic(t, bootstrap, fmt.Sprintf("hop.%d.reply", n+1))
	}
	cmd := exec.CommandContext(t.Context(), "node", nest(t), bootstrap, fmt.Sprint(nestRounds))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.Bytes())
	}
	var got struct {
		Rounds    int     `json:"rounds"`
		Errors    int     `json:"errors"`
		MedianHop float64 `json:"median_hop_ms"`
		P99       float64 `json:"p99_ms"`
		Max       float64 `json:"max_ms"`
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%d rounds of six hops and %d errors: median %.2f ms a hop; a round takes %.1f ms at the 99th percentile, %.1f ms at most",
		got.Rounds, got.Errors, got.MedianHop, got.P99, got.Max)
	if got.Rounds+got.Errors < nestRounds || got.Errors < nestRounds/10 {
		t.Errorf("%d rounds and %d errors", got.Rounds, got.Errors)
	}
	if got.MedianHop > nestHopMedianMs || got.Max > nestLongestMs {
		t.Errorf("median %.2f ms a hop, longest round %.1f ms", got.MedianHop, got.Max)
	}
}

// nest installs NestJS and returns the program.
func nest(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(cache(t), "node-nest")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "hops.mjs"} {
		copyFile(t, source(t, "node-nest", name), filepath.Join(dir, name))
	}
	run(t, dir, "npm", "install", "--no-audit", "--no-fund", "--silent")
	return filepath.Join(dir, "hops.mjs")
}
