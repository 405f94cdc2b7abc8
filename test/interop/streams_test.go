//go:build interop

package interop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/test/peers"
)

const (
	streamsLines = 6000
	streamsWords = 50
	streamsKills = 3
	brokerKills  = 2 // for each kill of the application
)

// TestStreams runs a word count of Kafka Streams under exactly_once_v2, whose words go through a repartition topic and whose counts
// have a changelog, and kills the application and, again and again, the broker. Each word has to be counted one, two, three and so
// on: none missing, none twice. SEED repeats the choice of words and of the times at which the broker dies.
func TestStreams(t *testing.T) {
	seed := streamsSeed(t)
	t.Logf("SEED=%d", seed)
	broker := startMortal(t)
	bootstrap := broker.Kafka()
	in, out, app := "lines", "counts", "word-count"
	createTopic(t, bootstrap, in)
	createTopic(t, bootstrap, out)
	command := append(streamsCommand(t), bootstrap, app, in, out, filepath.Join(t.TempDir(), "state"))
	var log bytes.Buffer
	t.Cleanup(func() {
		if b := log.Bytes(); t.Failed() {
			t.Logf("the application's log ends:\n%s", b[max(0, len(b)-4000):])
		}
	})
	running := startStreams(t, command, &log)
	want := map[string]int64{}
	rng := rand.New(rand.NewPCG(seed, 2))
	counts := followCounts(t, bootstrap, out)
	for range streamsKills {
		writeLines(t, bootstrap, in, streamsLines/streamsKills, rng, want)
		counts.until(t, want, 1, 3) // it is in the midst of it
		for range brokerKills {
			broker.restart(t)
			time.Sleep(time.Duration(rng.IntN(1500)) * time.Millisecond)
		}
		counts.until(t, want, 2, 3)
		running()
		running = startStreams(t, command, &log)
	}
	counts.until(t, want, 1, 1)
	t.Logf("%d words counted, %d kills of the broker, %d of the application", sum(want), streamsKills*brokerKills, streamsKills)
	running()
	expectInternalTopics(t, bootstrap, app)
}

func streamsSeed(t *testing.T) uint64 {
	t.Helper()
	v := os.Getenv("SEED")
	if v == "" {
		return uint64(time.Now().UnixNano())
	}
	seed, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		t.Fatalf("SEED=%q: %v", v, err)
	}
	return seed
}

// mortal is a broker that is killed and comes back with the same address and data.
type mortal struct {
	*peers.Moldau
	args []string
}

func startMortal(t *testing.T) *mortal {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	m := &mortal{args: []string{"--roles", "broker", "--data-dir", filepath.Join(t.TempDir(), "data"), "--set", "listeners=PLAINTEXT://" + addr}}
	m.Moldau = peers.StartMoldau(t, peers.BuildMoldau(t), m.args...)
	return m
}

// restart sends SIGKILL, waits until the process is gone and starts the next one.
func (m *mortal) restart(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(m.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); syscall.Kill(m.Pid, 0) == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the broker does not end")
		}
	}
	m.Moldau = peers.StartMoldau(t, m.Binary, m.args...)
}

func streamsCommand(t *testing.T) []string {
	t.Helper()
	dir := filepath.Join(cache(t), "streams")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	copyFile(t, source(t, "streams", "pom.xml"), filepath.Join(dir, "pom.xml"))
	file := filepath.Join(dir, "classpath.txt")
	run(t, dir, "mvn", "-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile="+file)
	classpath, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return []string{"java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", strings.TrimSpace(string(classpath)), source(t, "streams", "WordCount.java")}
}

// startStreams starts the application and returns how to kill it.
func startStreams(t *testing.T, command []string, log *bytes.Buffer) (kill func()) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	t.Cleanup(kill)
	return kill
}

func writeLines(t *testing.T, bootstrap, topic string, lines int, rng *rand.Rand, want map[string]int64) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.DefaultProduceTopic(topic))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for i := range lines {
		var words []string
		for range 5 {
			w := fmt.Sprint("word", rng.IntN(streamsWords))
			words = append(words, w)
			want[w]++
		}
		cl.Produce(t.Context(), kgo.KeyStringRecord(strconv.Itoa(i), strings.Join(words, " ")), func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	if err := cl.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// wordCounts reads committed counts.
type wordCounts struct {
	cl   *kgo.Client
	last map[string]int64
}

func followCounts(t *testing.T, bootstrap, topic string) *wordCounts {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return &wordCounts{cl, map[string]int64{}}
}

// until reads until a part of the words is counted, and checks each count. The whole is read to its end: nothing may follow.
func (c *wordCounts) until(t *testing.T, want map[string]int64, part, of int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for sum(c.last)*of < sum(want)*part {
		fetches := c.cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%d of %d words are counted: %v", sum(c.last), sum(want), err)
		}
		c.check(t, fetches)
	}
	if part < of {
		return
	}
	quiet, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	for quiet.Err() == nil {
		fetches := c.cl.PollFetches(quiet)
		if err := fetches.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		c.check(t, fetches)
	}
	for w, n := range want {
		if c.last[w] != n {
			t.Errorf("%s was counted %d times, is there %d times", w, c.last[w], n)
		}
	}
}

func (c *wordCounts) check(t *testing.T, fetches kgo.Fetches) {
	t.Helper()
	for _, r := range fetches.Records() {
		w := string(r.Key)
		n, err := strconv.ParseInt(string(r.Value), 10, 64)
		if err != nil || n != c.last[w]+1 {
			t.Fatalf("%s is counted %q after %d at %d/%d", w, r.Value, c.last[w], r.Partition, r.Offset)
		}
		c.last[w] = n
	}
}

func sum(counts map[string]int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

func expectInternalTopics(t *testing.T, bootstrap, app string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	topics, err := kadm.NewClient(cl).ListTopics(t.Context(), app+"-words-repartition", app+"-counts-changelog")
	if err != nil {
		t.Fatal(err)
	}
	if err := topics.Error(); err != nil {
		t.Error(err)
	}
}
