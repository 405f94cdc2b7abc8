package producer

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// An answer that gets lost does not make a record come twice: the broker knows the batch by its sequence number.
func TestLostAnswer(t *testing.T) {
	e := newEnv(t, nil)
	e.ok("t", "first")
	for i := range 3 {
		e.lose.Store(2)
		w := call(fmt.Sprint(i))
		e.producer.Produce(e.topic("t"), &w.Call)
		if err := w.errs(t)[0]; err != nil || w.Records[0].Offset != int64(1+i) {
			t.Errorf("%v, offset %d", err, w.Records[0].Offset)
		}
	}
	e.wantLog("first", "0", "1", "2")
}

// So it is with several batches under way, whether they reached the broker or not.
func TestLostAnswers(t *testing.T) {
	e := newEnv(t, nil)
	e.ok("t", "first")
	for i := range 3 {
		var calls []*waited
		for j := range maxFlying {
			calls = append(calls, call(fmt.Sprintf("%d-%d", i, j)))
		}
		e.lose.Store(1)
		e.fly(calls...)
		for j, c := range calls {
			if err := c.errs(t)[0]; err != nil || c.Records[0].Offset != int64(1+i*maxFlying+j) {
				t.Errorf("%v, offset %d", err, c.Records[0].Offset)
			}
		}
	}
}

// An error that the broker has for the first of several batches only.
func TestTroubleWithOthersBehind(t *testing.T) {
	for _, k := range []*kerr.Error{kerr.NotEnoughReplicas, kerr.RequestTimedOut, kerr.OutOfOrderSequenceNumber, kerr.NotLeaderForPartition, kerr.PolicyViolation} {
		t.Run(k.Message, func(t *testing.T) {
			e := newEnv(t, nil)
			e.ok("t", "first")
			e.answer(1, k.Code)
			calls := []*waited{call("a"), call("b"), call("c")}
			e.fly(calls...)
			want := []string{"first", "a", "b", "c"}
			for i, c := range calls {
				err := c.errs(t)[0]
				if i == 0 && k == kerr.PolicyViolation {
					want = []string{"first", "b", "c"}
					if !errors.Is(err, k) {
						t.Errorf("%v", err)
					}
				} else if err != nil {
					t.Errorf("call %d: %v", i, err)
				}
			}
			e.ok("t", "last")
			e.wantLog(append(want, "last")...)
		})
	}
}

// Errors that pass are waited out.
func TestPassingErrors(t *testing.T) {
	for _, k := range []*kerr.Error{
		kerr.NotLeaderForPartition, kerr.LeaderNotAvailable, kerr.UnknownTopicOrPartition, kerr.NotEnoughReplicas, kerr.RequestTimedOut, kerr.KafkaStorageError,
		kerr.OutOfOrderSequenceNumber, kerr.UnknownProducerID,
	} {
		t.Run(k.Message, func(t *testing.T) {
			e := newEnv(t, nil)
			e.ok("t", "first")
			e.answer(2, k.Code)
			errs := e.produce("t", "a", "b")
			e.ok("t", "last")
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			e.wantLog("first", "a", "b", "last")
		})
	}
}

// A broker that can't take records in time is named as the reason, where nothing can have been written.
func TestDueBeforeWritten(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Delivery = 200 * time.Millisecond })
	e.answer(1<<30, kerr.NotEnoughReplicas.Code)
	for _, err := range e.produce("t", "a", "b") {
		if !errors.Is(err, kerr.NotEnoughReplicas) || errors.Is(err, ErrUnacknowledged) {
			t.Errorf("%v", err)
		}
	}
	e.answer(0, kerr.NotEnoughReplicas.Code)
	e.wantLog()
}

// What may have been written is told as such when it is due, with the reason; the partition goes on, and what comes late under the old
// numbers is not mixed up with it.
func TestDueAndUnsure(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Delivery = 300 * time.Millisecond })
	e.ok("t", "first")
	e.answer(1<<30, kerr.NotEnoughReplicasAfterAppend.Code)
	for _, err := range e.produce("t", "a", "b") {
		if !errors.Is(err, ErrUnacknowledged) || !strings.Contains(err.Error(), "NOT_ENOUGH_REPLICAS_AFTER_APPEND") {
			t.Errorf("%v", err)
		}
	}
	e.answer(0, kerr.NotEnoughReplicasAfterAppend.Code)
	e.ok("t", "c")
	e.ok("t", "d")
	e.wantLog("first", "c", "d")
}

// A batch that is given up may be in the log all the same. The next one must not be taken for a copy of it.
func TestDueAndWritten(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Delivery = 300 * time.Millisecond })
	e.ok("t", "first")
	var attempts, calm atomic.Int64
	e.refuse(func([]string) (int16, string, []recordError) {
		if attempts.Add(1) == 1 || calm.Load() > 0 {
			return 0, "", nil
		}
		return kerr.NotEnoughReplicasAfterAppend.Code, "", nil
	})
	e.lose.Store(1)
	for _, err := range e.produce("t", "a", "b") {
		if !errors.Is(err, ErrUnacknowledged) {
			t.Errorf("%v", err)
		}
	}
	calm.Store(1)
	e.ok("t", "c", "d")
	e.wantLog("first", "a", "b", "c", "d")
}

// When the answer to a batch got lost, and the batch is refused when it is sent again, what is left of it must not be written a second
// time: its sequence numbers tell the broker that it has it already.
func TestLostAnswerThenRefused(t *testing.T) {
	for name, most := range map[string]int{"named": 1000, "not named": 0} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, nil)
			e.ok("t", "first")
			var strict atomic.Bool
			e.refuse(func(values []string) (int16, string, []recordError) {
				if strict.Swap(true) { // the first attempt passes
					return naming(most)(values)
				}
				return 0, "", nil
			})
			e.lose.Store(1)
			errs := e.produce("t", "a", "bad1", "b", "c")
			if !errors.Is(errs[0], ErrUnacknowledged) || !errors.Is(errs[2], ErrUnacknowledged) || !errors.Is(errs[3], ErrUnacknowledged) || errs[1] == nil {
				t.Errorf("%v", errs)
			}
			e.ok("t", "later")
			e.wantLog("first", "a", "bad1", "b", "c", "later")
		})
	}
}

// When the attempt whose answer got lost did not reach the log either, what is left of the batch is written once.
func TestLostRefusal(t *testing.T) {
	e := newEnv(t, nil)
	e.ok("t", "first")
	for name, most := range map[string]int{"named": 1000, "none": 0} {
		e.refuse(naming(most))
		e.lose.Store(1)
		in := []string{name + "1", "bad" + name, name + "2"}
		for i, err := range e.produce("t", in...) {
			if bad(in[i]) != (err != nil) || err != nil && !errors.Is(err, kerr.InvalidRecord) {
				t.Errorf("%s: %v", in[i], err)
			}
		}
	}
	if got := e.log("t", 0); len(got) != 5 {
		t.Errorf("%q", got)
	}
}

// The same with others before it, whose refusal is known: what is left of those proves that the broker follows the numbers, but not what became of
// the batch behind them.
func TestLostRefusalBehindOthers(t *testing.T) {
	e := newEnv(t, nil)
	e.ok("t", "first")
	e.refuse(naming(0))
	calls := []*waited{call("a", "b", "bad1", "c"), call("bad2", "d", "e", "f", "g")}
	e.keep.Store(1)
	e.lose.Store(1)
	e.fly(calls...)
	for _, c := range calls {
		for i, err := range c.errs(t) {
			if v := string(c.Records[i].Value); bad(v) != errors.Is(err, kerr.InvalidRecord) || !bad(v) && err != nil {
				t.Errorf("%s: %v", v, err)
			}
		}
	}
	e.wantLog("first", "a", "b", "c", "d", "e", "f", "g")
}

// Leaders move while callers write.
func TestLeadersMove(t *testing.T) {
	e := newEnv(t, nil, kfake.NumBrokers(3), kfake.SeedTopics(4, "t"))
	known := e.topic("t")
	all := make([][]*waited, 4)
	group(5, func(i int) {
		if i == 4 {
			for range 20 {
				e.cluster.ShufflePartitionLeaders()
				if err := e.client.Ping(t.Context()); err != nil {
					t.Error(err)
				}
			}
			return
		}
		for j := range 100 {
			c := call(fmt.Sprintf("%d-%d", i, j))
			c.Records[0].Key = []byte(fmt.Sprint(i))
			e.producer.Produce(known, &c.Call)
			all[i] = append(all[i], c)
			if j%10 == 0 {
				c.wait(t)
			}
		}
	})
	judge(t, e, all, 0)
}

// A topic that is deleted fails what is written to it, with its name, in a moment; a topic that takes its name is written to as if there had never been
// another.
func TestTopicGone(t *testing.T) {
	e := newEnv(t, nil)
	e.ok("t", "a")
	known := e.topic("t")
	if err := e.cluster.DeleteTopic("t"); err != nil {
		t.Fatal(err)
	}
	c := call("b")
	e.producer.Produce(known, &c.Call)
	if err := c.errs(t)[0]; !errors.Is(err, kerr.UnknownTopicOrPartition) && !errors.Is(err, kerr.UnknownTopicID) {
		t.Errorf("%v", err)
	}
	if err := e.cluster.CreateTopic("t", 1, nil); err != nil {
		t.Fatal(err)
	}
	e.answer(2, kerr.UnknownTopicID.Code) // its first days
	e.ok("t", "c")
	e.wantLog("c")
}

// A record for a partition that the topic does not have fails alone.
func TestNoSuchPartition(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Partitioner = kgo.ManualPartitioner() })
	c := call("a", "b", "c")
	for i, p := range []int32{0, 7, 0} {
		c.Records[i].Partition = p
	}
	e.producer.Produce(e.topic("t"), &c.Call)
	errs := c.errs(t)
	if errs[0] != nil || !errors.Is(errs[1], kerr.UnknownTopicOrPartition) || errs[2] != nil || !strings.Contains(errs[1].Error(), "no partition 7, it has 1") {
		t.Errorf("%v", errs)
	}
	e.wantLog("a", "c")
}

// Partitions that come later are written to once they are known.
func TestPartitionsAreAdded(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Partitioner = kgo.ManualPartitioner() })
	old := e.topic("t")
	if _, err := kadm.NewClient(e.client).CreatePartitions(t.Context(), 2, "t"); err != nil {
		t.Fatal(err)
	}
	for i, known := range []*Topic{e.topic("t"), old} { // a caller may be behind the others
		c := call("a")
		c.Records[0].Partition = 2
		e.producer.Produce(known, &c.Call)
		if err := c.errs(t)[0]; err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

// Without acks=all nothing keeps a batch from being written twice, so it is not sent again when that may be.
func TestWithoutIdempotence(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Acks = 1 })
	e.ok("t", "a")
	e.lose.Store(1)
	if err := e.produce("t", "b")[0]; !errors.Is(err, ErrUnacknowledged) {
		t.Errorf("%v", err)
	}
	e.answer(1, kerr.NotLeaderForPartition.Code)
	e.ok("t", "c")
	e.refuse(naming(1000))
	if errs := e.produce("t", "d", "bad"); errs[0] != nil || !errors.Is(errs[1], kerr.InvalidRecord) {
		t.Errorf("%v", errs)
	}
	e.wantLog("a", "b", "c", "d")
}

func TestWithoutAcks(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Acks = 0 })
	c := call("a")
	e.producer.Produce(e.topic("t"), &c.Call)
	if err := c.errs(t)[0]; err != nil || c.Records[0].Offset != -1 {
		t.Errorf("%v, offset %d", err, c.Records[0].Offset)
	}
}

// Records that are under way when the producer closes may have been written; those that wait are not sent. Afterwards nothing is taken.
func TestClose(t *testing.T) {
	e := newEnv(t, nil)
	e.ok("t", "a")
	reached, blocked := make(chan struct{}), make(chan struct{})
	defer close(blocked)
	e.cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		close(reached)
		e.cluster.SleepControl(func() { <-blocked })
		return nil, nil, false
	})
	known, sent, waiting := e.topic("t"), call("b"), call("c")
	e.producer.Produce(known, &sent.Call)
	<-reached
	e.producer.Produce(known, &waiting.Call)
	e.producer.Close()
	if err := sent.errs(t)[0]; !errors.Is(err, ErrUnacknowledged) {
		t.Errorf("under way: %v", err)
	}
	if err := waiting.errs(t)[0]; !errors.Is(err, ErrClosed) {
		t.Errorf("waiting: %v", err)
	}
	late := call("d")
	e.producer.Produce(known, &late.Call)
	if err := late.errs(t)[0]; !errors.Is(err, ErrClosed) {
		t.Errorf("afterwards: %v", err)
	}
}

// A topic that comes back after it was forgotten is written under another producer id: its partitions know what the old one sent, and
// would take the first batches for copies.
func TestForget(t *testing.T) {
	e := newEnv(t, nil)
	e.ok("t", "a")
	e.ok("t", "b")
	e.producer.Forget("t", "unknown")
	e.ok("t", "c")
	e.ok("t", "d")
	e.wantLog("a", "b", "c", "d")
}

// Records that were refused before they were handed over are not sent, and a call of such records only has its outcome.
func TestRefusedBefore(t *testing.T) {
	e := newEnv(t, nil)
	no := errors.New("no")
	for _, refused := range [][]int{{1}, {0, 1, 2}} {
		c := call("a", "b", "c")
		for _, i := range refused {
			c.Refuse(i, no)
		}
		e.producer.Produce(e.topic("t"), &c.Call)
		c.wait(t)
		if c.Failed() != len(refused) || !errors.Is(c.Err(1), no) {
			t.Errorf("%d failed, %v", c.Failed(), c.Err(1))
		}
	}
	e.wantLog("a", "c")
}

// Records without a key share a batch, and the batches take turns over the partitions.
func TestKeylessTakeTurns(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(4, "t"))
	used := make(map[int32]bool)
	for range 60 {
		c := call("a", "b", "c")
		e.producer.Produce(e.topic("t"), &c.Call)
		c.errs(t)
		if c.Records[0].Partition != c.Records[2].Partition {
			t.Errorf("one call is in partitions %d and %d", c.Records[0].Partition, c.Records[2].Partition)
		}
		used[c.Records[0].Partition] = true
	}
	if len(used) != 4 {
		t.Errorf("partitions %v were used", used)
	}
}

// Brokers of former times have no topic ids and name no records.
func TestOldBrokers(t *testing.T) {
	quirky := kversion.Stable()
	quirky.SetMaxKeyVersion(int16(kmsg.Metadata), 9) // no topic ids, while Produce would want them
	for name, versions := range map[string]*kversion.Versions{"2.3": kversion.V2_3_0(), "quirky": quirky} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, nil, kfake.MaxVersions(versions))
			if id := e.topic("t").ID; id != [16]byte{} {
				t.Fatalf("the topic has the id %x", id)
			}
			e.refuse(naming(1000))
			in := []string{"a", "bad", "b"}
			for i, err := range e.produce("t", in...) {
				if bad(in[i]) != errors.Is(err, kerr.InvalidRecord) || !bad(in[i]) && err != nil {
					t.Errorf("%s: %v", in[i], err)
				}
			}
			e.wantLog("a", "b")
		})
	}
}

// A record with a linger shares its batch with those that come meanwhile.
func TestLinger(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Linger = 30 * time.Millisecond }, kfake.SeedTopics(3, "t"))
	known := e.topic("t")
	start := time.Now()
	var all []*waited
	for i := range 20 {
		c := call(fmt.Sprint(i))
		e.producer.Produce(known, &c.Call)
		all = append(all, c)
	}
	for _, c := range all {
		if err := c.errs(t)[0]; err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(start); took < 30*time.Millisecond {
		t.Errorf("after %v", took)
	}
	e.ok("t", "one more")
	if n := e.requests.Load(); n > 10 {
		t.Errorf("%d requests", n)
	}
}
