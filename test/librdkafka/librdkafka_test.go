//go:build librdkafka

package librdkafka

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"moldau/test/differences"
	"moldau/test/peers"
)

//go:embed differences.txt
var differencesText string

const (
	// source is the package that carries the suite.
	source = "@confluentinc/kafka-javascript@1.10.1"
	// patience is how long one test may take.
	patience = 4 * time.Minute
)

// TestLibrdkafka runs each numbered test and compares its outcome with the list.
func TestLibrdkafka(t *testing.T) {
	list, err := differences.Parse(differencesText)
	if err != nil {
		t.Fatal(err)
	}
	s := newSuite(t)
	passed, skipped, listed := 0, 0, 0
	for _, number := range s.numbers(t) {
		t.Run(number, func(t *testing.T) {
			d := list.Find(number)
			outcome, log := s.run(t, number)
			switch {
			case d != nil && outcome != failed && !d.Chance:
				t.Errorf("it is listed, but ends well: %s", d.Reason)
			case d != nil:
				d.Seen = true
				listed++
			case outcome == failed:
				t.Error(log)
			case outcome == skips:
				skipped++
			default:
				passed++
			}
		})
	}
	if t.Failed() {
		return
	}
	for _, number := range list.Unseen() {
		t.Errorf("%s is listed, but was not run", number)
	}
	t.Logf("%d passed, %d skipped by the suite itself, %d differ for a reason that is listed", passed, skipped, listed)
}

// suite is a built suite and the broker that it is run against.
type suite struct {
	dir string // of its tests
	env []string
}

func newSuite(t *testing.T) *suite {
	t.Helper()
	root := fetch(t)
	m := peers.StartMoldau(t, peers.BuildMoldau(t), "--set", "num.partitions=4")
	kafka := t.TempDir()
	if err := os.Mkdir(filepath.Join(kafka, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	peers.NewTools(t).WriteScript(t, filepath.Join(kafka, "bin", "kafka-topics.sh"), peers.TopicCommand)
	dir := filepath.Join(root, "tests")
	if err := os.WriteFile(filepath.Join(dir, "test.conf"), []byte("bootstrap.servers="+m.Kafka()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &suite{dir, append(os.Environ(),
		"LD_LIBRARY_PATH="+filepath.Join(root, "src")+":"+filepath.Join(root, "src-cpp"),
		"TEST_KAFKA_VERSION=4.0.0", "KAFKA_PATH="+kafka, "BROKERS="+m.Kafka(),
	)}
}

// fetch gets and builds the suite, unless that was done before, and answers its folder.
func fetch(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(os.TempDir(), "moldau-librdkafka-1.10.1")
	root := filepath.Join(dir, "package", "deps", "librdkafka")
	if _, err := os.Stat(filepath.Join(root, "tests", "test-runner")); err == nil {
		return root
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	call(t, dir, "npm", "pack", "--silent", source)
	packed, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(packed) != 1 {
		t.Fatalf("npm pack left %v, %v", packed, err)
	}
	call(t, dir, "tar", "xzf", packed[0])
	call(t, root, "./configure", "--disable-curl", "--disable-sasl", "--disable-ssl")
	call(t, root, "make", "-j2", "libs")
	call(t, root, "make", "-j2", "-C", "tests", "build")
	return root
}

func call(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, tail(string(out)))
	}
}

// numbers are those of all tests.
func (s *suite) numbers(t *testing.T) []string {
	t.Helper()
	files, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		if m := testFile.FindStringSubmatch(f.Name()); m != nil {
			out = append(out, m[1])
		}
	}
	if len(out) == 0 {
		t.Fatalf("there are no tests in %s", s.dir)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// testFile is the name of a numbered test. Those from 8000 on are started by hand, and do not end by themselves.
var testFile = regexp.MustCompile(`^(0\d{3})[-_].*\.(c|cpp)$`)

// outcome is how a test ended.
type outcome int

const (
	failed outcome = iota
	passes
	skips
)

// run runs one test.
func (s *suite) run(t *testing.T, number string) (outcome, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "./test-runner", "-p1", "-Q", "-E")
	cmd.Dir, cmd.Env = s.dir, append(s.env, "TESTS="+number)
	out, err := cmd.CombinedOutput()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("it took more than %s", patience)
	}
	log := colours.ReplaceAllString(string(out), "")
	switch {
	case err != nil:
		return failed, fmt.Sprintf("%v\n%s", err, tail(log))
	case passedLine.MatchString(log):
		return passes, ""
	case strings.Contains(log, " SKIPPED "):
		return skips, ""
	}
	return failed, "it says neither that it passed nor that it was skipped\n" + tail(log)
}

// What a test says at its end; the runner says of no test at all that all passed.
var (
	passedLine = regexp.MustCompile(`Test \d{4}\S* PASSED`)
	colours    = regexp.MustCompile(`\x1b\[[0-9;]*m`)
)

// tail is the end of a long text.
func tail(s string) string { return s[max(0, len(s)-4000):] }
