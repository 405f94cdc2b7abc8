//go:build kgosuite

package kgosuite

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"moldau/test/peers"
)

// suite is the package whose tests are run.
const suite = "github.com/twmb/franz-go/pkg/kgo"

var (
	suiteRun     = flag.String("suite.run", "", "run only these tests of the suite")
	suiteRecords = flag.Int("suite.records", 20_000, "how many records the heavy tests move")
	suiteBinary  = flag.String("suite.binary", "", "the server to test; built if empty")
)

// TestSuite runs all tests of the client and holds what became of them against the list.
func TestSuite(t *testing.T) {
	listed, err := parseSkips(skipsText)
	if err != nil {
		t.Fatal(err)
	}
	binary := *suiteBinary
	if binary == "" {
		binary = peers.BuildMoldau(t)
	}
	tests := filepath.Join(t.TempDir(), "kgo.test")
	goTool(t, "test", "-c", "-o", tests, suite)
	moldau := peers.StartMoldau(t, binary, "--set", "num.partitions=3")

	// Some tests read the sources beside them, so they run where those are.
	cmd := exec.CommandContext(t.Context(), tests, "-test.v", "-test.timeout", "19m", "-test.run", *suiteRun)
	cmd.Dir = goTool(t, "list", "-f", "{{.Dir}}", suite)
	cmd.Env = append(os.Environ(), "KGO_SEEDS="+moldau.Kafka(), "KGO_TEST_RF=1", "KGO_LOG_LEVEL=none",
		"KGO_TEST_RECORDS="+strconv.Itoa(*suiteRecords))
	out, runErr := cmd.CombinedOutput()
	all, finished, err := parseOutcomes(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	wrong := judge(all, listed, *suiteRun == "")
	if runErr != nil && len(wrong) == 0 || !finished {
		t.Errorf("the suite ended early: %v", runErr)
	}
	for _, w := range wrong {
		t.Error(w)
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
	count := map[outcome]int{}
	for name, o := range all {
		if !strings.Contains(name, "/") {
			count[o]++
		}
	}
	t.Logf("%d passed, %d were skipped for a reason that is listed, %d failed", count["PASS"], count["SKIP"], count["FAIL"])
	if count["PASS"] == 0 {
		t.Error("no test was run")
	}
}

// goTool runs the go command and returns what it prints.
func goTool(t *testing.T, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}
