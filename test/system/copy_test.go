//go:build system

package system

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/test/peers"
)

const (
	copySource, copyTarget = "copy-source", "copy-target"
	copyGroup              = "copiers"
	copyPartitions         = 3
	copiers                = 2
)

// TestCopy copies records from one topic to another under transactions, with the offsets of the source in them, while the
// broker and the copiers are killed again and again: what a reader of committed records finds in the end is every record
// once. RECORDS sets how many there are, SEED repeats the choice of victims.
func TestCopy(t *testing.T) {
	records := int(number(t, "RECORDS", 100_000))
	seed := number(t, "SEED", uint64(time.Now().UnixNano()))
	t.Logf("SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	p := newProcess(t, peers.BuildMoldau(t))
	p.start()
	seedCopy(t, p.addr(), records)

	var running [copiers]*copier
	for i := range running {
		running[i] = startCopier(t, p.addr(), i)
	}
	brokerKills, copierKills := 0, 0
	for deadline := time.Now().Add(4 * time.Minute); !copied(t, p.addr(), records); {
		if time.Now().After(deadline) {
			t.Fatal("the copy does not come to its end")
		}
		time.Sleep(time.Duration(200+rng.IntN(1200)) * time.Millisecond)
		if i := rng.IntN(copiers + 1); i < copiers {
			running[i].kill()
			running[i] = startCopier(t, p.addr(), i)
			copierKills++
		} else {
			p.kill()
			p.start()
			brokerKills++
		}
	}
	for _, c := range running {
		c.kill()
	}
	p.kill()
	p.start()
	checkCopy(t, p.addr(), records)
	t.Logf("%d records; %d kills of the broker, %d of copiers", records, brokerKills, copierKills)
	if brokerKills+copierKills < 10 && os.Getenv("RECORDS") == "" {
		t.Errorf("only %d kills: the test proved nothing", brokerKills+copierKills)
	}
}

// seedCopy makes the topics and fills the source with numbers.
func seedCopy(t *testing.T, addr string, records int) {
	t.Helper()
	cl := copyClient(t, kgo.SeedBrokers(addr), kgo.DefaultProduceTopic(copySource))
	defer cl.Close()
	if _, err := kadm.NewClient(cl).CreateTopics(t.Context(), copyPartitions, 1, nil, copySource, copyTarget); err != nil {
		t.Fatal(err)
	}
	for i := range records {
		cl.Produce(t.Context(), kgo.StringRecord(strconv.Itoa(i)), func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	if err := cl.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func copyClient(t *testing.T, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

// copied tells whether the group has committed the whole source.
func copied(t *testing.T, addr string, records int) bool {
	t.Helper()
	return committedOf(t, addr, copyGroup, copySource) == int64(records)
}

// committedOf returns how many records of a topic a group has committed, -1 if it cannot be learnt now.
func committedOf(t *testing.T, addr, group, topic string) int64 {
	t.Helper()
	cl := copyClient(t, kgo.SeedBrokers(addr))
	defer cl.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	offsets, err := kadm.NewClient(cl).FetchOffsets(ctx, group)
	if err != nil {
		return -1
	}
	sum := int64(0)
	offsets.Each(func(o kadm.OffsetResponse) {
		if o.Err == nil && o.Topic == topic {
			sum += o.At
		}
	})
	return sum
}

// checkCopy reads the target as a reader of committed records does.
func checkCopy(t *testing.T, addr string, records int) {
	t.Helper()
	cl := copyClient(t, kgo.SeedBrokers(addr), kgo.ConsumeTopics(copyTarget), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.KeepControlRecords())
	defer cl.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	adm := kadm.NewClient(cl)
	ends := awaitNothingOpen(ctx, t, adm, copyTarget)
	seen := make([]int, records)
	for done := 0; done < copyPartitions; {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			end, _ := ends.Lookup(copyTarget, r.Partition)
			if r.Offset == end.Offset-1 { // the last one is the marker of the last transaction
				done++
			}
			if r.Attrs.IsControl() {
				return
			}
			n, err := strconv.Atoi(string(r.Value))
			if err != nil || n < 0 || n >= records {
				t.Fatalf("a record that nobody wrote: %q", r.Value)
			}
			seen[n]++
		})
	}
	lost, twice := 0, 0
	for _, n := range seen {
		switch {
		case n == 0:
			lost++
		case n > 1:
			twice++
		}
	}
	if lost > 0 || twice > 0 {
		t.Errorf("of %d records %d are missing and %d came more than once", records, lost, twice)
	}
}

// awaitNothingOpen waits until transactions that died with their producers have timed out, and returns where a topic ends.
func awaitNothingOpen(ctx context.Context, t *testing.T, adm *kadm.Client, topic string) kadm.ListedOffsets {
	t.Helper()
	for {
		committed, err := adm.ListCommittedOffsets(ctx, topic)
		if err != nil {
			t.Fatal(err)
		}
		ends, err := adm.ListEndOffsets(ctx, topic)
		if err != nil {
			t.Fatal(err)
		}
		open := false
		ends.Each(func(o kadm.ListedOffset) {
			c, _ := committed.Lookup(o.Topic, o.Partition)
			open = open || c.Offset != o.Offset
		})
		if !open {
			return ends
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			describeOpen(t, adm, topic)
			t.Fatalf("transactions stay open: stable are %v of %v", committed, ends)
		}
	}
}

// describeOpen logs what the broker knows of the producers of a topic and of all transactions.
func describeOpen(t *testing.T, adm *kadm.Client, topic string) {
	t.Helper()
	producers, err := adm.DescribeProducers(t.Context(), kadm.TopicsSet{topic: nil})
	t.Logf("producers: %+v %v", producers, err)
	txns, err := adm.ListTransactions(t.Context(), nil, nil)
	if err != nil {
		t.Log(err)
		return
	}
	described, err := adm.DescribeTransactions(t.Context(), txns.TransactionalIDs()...)
	t.Logf("transactions: %+v %v", described, err)
}

// copier is a process that copies.
type copier struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// copierEnv tells this test binary that it is copier number n of a broker.
const copierEnv = "MOLDAU_COPIER"

func startCopier(t *testing.T, addr string, n int) *copier {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^TestCopierProcess$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", copierEnv, addr, n))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &copier{cmd, make(chan struct{})}
	go func() { // ends with the process
		defer close(c.done)
		_ = cmd.Wait()
	}()
	t.Cleanup(c.kill)
	return c
}

// kill sends SIGKILL and waits until the process is gone.
func (c *copier) kill() {
	_ = c.cmd.Process.Kill()
	<-c.done
}

// TestCopierProcess is what a copier runs; it is nothing without TestCopy.
func TestCopierProcess(t *testing.T) {
	var addr string
	var n int
	if _, err := fmt.Sscanf(os.Getenv(copierEnv), "%s %d", &addr, &n); err != nil {
		t.Skip("runs as a process of TestCopy only")
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	s, err := kgo.NewGroupTransactSession(
		kgo.SeedBrokers(addr), kgo.TransactionalID(fmt.Sprintf("copier-%d", n)), kgo.TransactionTimeout(5*time.Second),
		kgo.ConsumerGroup(copyGroup), kgo.ConsumeTopics(copySource), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.InstanceID(fmt.Sprintf("copier-%d", n)), kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(500*time.Millisecond),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for ctx.Err() == nil {
		if err := copyOnce(ctx, s); err != nil && !errors.Is(err, context.Canceled) {
			fmt.Fprintf(os.Stderr, "copier %d: %v\n", n, err)
			return // its successor goes on
		}
	}
}

// copyOnce copies some records in one transaction.
func copyOnce(ctx context.Context, s *kgo.GroupTransactSession) error {
	fetches := s.PollRecords(ctx, 100)
	if fetches.Empty() {
		return fetches.Err()
	}
	if err := s.Begin(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	var records []*kgo.Record
	fetches.EachRecord(func(r *kgo.Record) { records = append(records, &kgo.Record{Topic: copyTarget, Value: r.Value}) })
	failed := s.ProduceSync(ctx, records...).FirstErr()
	time.Sleep(20 * time.Millisecond) // most kills find an open transaction
	_, err := s.End(ctx, kgo.TransactionEndTry(failed == nil))
	if err = errors.Join(failed, err); err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	return nil
}
