package producer

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Records that the broker names fail with what it says of each, and the others are written in their order: those of the same call, and those of
// calls that share the batch.
func TestNamedRecordsFailAlone(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Linger = 20 * time.Millisecond })
	e.refuse(naming(1000))
	guilty := []string{"a", "bad1", "b", "bad2", "bad3", "c"}
	known, first, second, third := e.topic("t"), call("x", "y"), call(guilty...), call("z")
	for _, c := range []*waited{first, second, third} {
		e.producer.Produce(known, &c.Call)
	}
	wantRefused(t, guilty, second.errs(t), kerr.InvalidRecord, func(v string) string { return v + " is bad" })
	for _, c := range []*waited{first, third} {
		if err := errors.Join(c.errs(t)...); err != nil {
			t.Errorf("an innocent caller: %v", err)
		}
	}
	e.wantLog("x", "y", "a", "b", "c", "z")
	if r := &second.Records[2]; r.Offset != 3 || r.Partition != 0 || second.Records[1].Offset != -1 || second.Failed() != 3 {
		t.Errorf("b is at %d-%d, bad1 at %d, %d failed", r.Partition, r.Offset, second.Records[1].Offset, second.Failed())
	}
	e.ok("t", "later")
	e.wantLog("x", "y", "a", "b", "c", "z", "later")
}

// Batches that were sent behind one that is refused are refused for their sequence numbers. They are sent again, and nothing changes
// places.
func TestRefusedWithOthersBehind(t *testing.T) {
	for name, most := range map[string]int{"named": 1000, "not named": 0} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, nil)
			e.ok("t", "first")
			e.refuse(naming(most))
			in := [][]string{{"a", "bad1", "b"}, {"c", "d", "e"}, {"bad2"}, {"f", "bad3"}, {"g"}}
			var calls []*waited
			for _, values := range in {
				calls = append(calls, call(values...))
			}
			e.fly(calls...)
			for i, c := range calls {
				for j, err := range c.errs(t) {
					if bad(in[i][j]) != errors.Is(err, kerr.InvalidRecord) || !bad(in[i][j]) && err != nil {
						t.Errorf("%s: %v", in[i][j], err)
					}
				}
			}
			e.wantLog("first", "a", "b", "c", "d", "e", "f", "g")
		})
	}
}

// A broker that names only some of the bad records names the others when it is asked again.
func TestSomeNamedAtATime(t *testing.T) {
	e := newEnv(t, nil)
	e.refuse(naming(2))
	in := []string{"bad1", "a", "bad2", "bad3", "b", "bad4", "bad5"}
	wantRefused(t, in, e.produce("t", in...), kerr.InvalidRecord, func(v string) string { return v + " is bad" })
	e.wantLog("a", "b")
}

// Nor may a broker that names one record of many each time.
func TestNamingsAreBounded(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Linger = 20 * time.Millisecond })
	e.refuse(naming(1))
	known, innocent, guilty := e.topic("t"), call(numbered("a", 20)...), call(numbered("bad", 2000)...)
	e.producer.Produce(known, &innocent.Call)
	e.producer.Produce(known, &guilty.Call)
	for i, err := range guilty.errs(t) {
		if !errors.Is(err, kerr.InvalidRecord) {
			t.Fatalf("record %d: %v", i, err)
		}
	}
	if err := errors.Join(innocent.errs(t)...); err != nil {
		t.Error(err)
	}
	e.wantLog(numbered("a", 20)...)
	if n := e.requests.Load(); n > maxNamings+2*maxCuts+50 {
		t.Errorf("%d requests", n)
	}
}

// A call all of whose records are bad writes nothing and does not end in another request.
func TestAllRefused(t *testing.T) {
	e := newEnv(t, nil)
	e.refuse(naming(1000))
	in := []string{"bad1", "bad2"}
	wantRefused(t, in, e.produce("t", in...), kerr.InvalidRecord, func(v string) string { return v + " is bad" })
	if n := e.requests.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
	e.ok("t", "a")
	e.wantLog("a")
}

// What a broker refuses without naming a record is cut until the record is found.
func TestUnnamedRecordsAreFound(t *testing.T) {
	e := newEnv(t, nil)
	e.refuse(naming(0))
	in := numbered("v", 300)
	in[0], in[77], in[299] = "bad0", "bad77", "bad299"
	wantRefused(t, in, e.produce("t", in...), kerr.InvalidRecord, func(string) string { return "some records are bad" })
	e.wantLog(good(in)...)
	if n := e.requests.Load(); n > 60 {
		t.Errorf("%d requests to find three records of 300", n)
	}
}

// A call may not keep the others waiting with a request for each of many bad records: what is left of it fails together. The others lose
// nothing.
func TestCutsAreBounded(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Linger = 20 * time.Millisecond })
	e.refuse(naming(0))
	known, innocent, guilty, last := e.topic("t"), call(numbered("a", 50)...), call(numbered("bad", 3000)...), call(numbered("z", 50)...)
	for _, c := range []*waited{innocent, guilty, last} {
		e.producer.Produce(known, &c.Call)
	}
	for i, err := range guilty.errs(t) {
		if !errors.Is(err, kerr.InvalidRecord) {
			t.Fatalf("record %d: %v", i, err)
		}
	}
	if err := errors.Join(append(innocent.errs(t), last.errs(t)...)...); err != nil {
		t.Errorf("innocent callers: %v", err)
	}
	e.wantLog(append(numbered("a", 50), numbered("z", 50)...)...)
	if n := e.requests.Load(); n > 2*maxCuts+50 {
		t.Errorf("%d requests", n)
	}
}

// The broker's names may be nonsense: they are read as far as they make sense, and the records are found all the same.
func TestNamesThatMakeNoSense(t *testing.T) {
	e := newEnv(t, nil)
	e.refuse(func(values []string) (int16, string, []recordError) {
		code, message, named := naming(1)(values)
		if code == 0 {
			return 0, "", nil
		}
		var strange []recordError
		for _, at := range []int32{-1, int32(len(values)), 1 << 30} {
			r := named[0]
			r.RelativeOffset = at
			strange = append(strange, r)
		}
		if len(values) == 1 { // and one that is named twice, without a text
			named[0].ErrorMessage = nil
			strange = append(named, named...)
		}
		return code, message, strange
	})
	in := []string{"a", "bad1", "b", "c", "bad2"}
	wantRefused(t, in, e.produce("t", in...), kerr.InvalidRecord, func(string) string { return "some records are bad" })
	e.wantLog("a", "b", "c")
}

// One code stands for all records of a batch; a record whose timestamp is not what is wrong with it is not told that it is.
func TestReasonOfMixedRefusals(t *testing.T) {
	e := newEnv(t, nil)
	e.refuse(func(values []string) (code int16, message string, named []recordError) {
		for i, v := range values {
			text := map[string]string{"old": "Timestamp 1 of message with offset 0 is out of range.", "bare": "Compacted topic cannot accept message without key."}[v]
			if text != "" {
				r := kmsg.NewProduceResponseTopicPartitionErrorRecord()
				r.RelativeOffset, r.ErrorMessage = int32(i), &text
				code, named = kerr.InvalidTimestamp.Code, append(named, r)
			}
		}
		return code, "One or more records have been rejected due to invalid timestamp", named
	})
	errs := e.produce("t", "old", "good", "bare")
	if !errors.Is(errs[0], kerr.InvalidTimestamp) || errs[1] != nil || !errors.Is(errs[2], kerr.InvalidRecord) ||
		!strings.HasPrefix(errs[0].Error(), "Timestamp") || !strings.HasPrefix(errs[2].Error(), "Compacted") {
		t.Errorf("%v", errs)
	}
}

// Whatever the broker names a record for, it is that record's fault; a refusal for another reason holds for all.
func TestOtherCodes(t *testing.T) {
	e := newEnv(t, nil)
	named := 1000
	e.refuse(func(values []string) (int16, string, []recordError) {
		code, message, records := naming(named)(values)
		if code != 0 {
			code = kerr.PolicyViolation.Code
		}
		return code, message, records
	})
	errs := e.produce("t", "a", "bad1")
	if errs[0] != nil || !errors.Is(errs[1], kerr.PolicyViolation) || errs[1].Error() != "bad1 is bad" {
		t.Errorf("%v", errs)
	}
	named = 0
	for _, err := range e.produce("t", "b", "bad2") {
		if !errors.Is(err, kerr.PolicyViolation) || err.Error() != "some records are bad" {
			t.Errorf("%v", err)
		}
	}
	e.wantLog("a")
}

// A batch that is larger than the topic permits is cut to what it takes; only a record that is too large by itself fails. The next
// batches are made small at once.
func TestTooLarge(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Linger = 20 * time.Millisecond })
	known := e.topic("t")
	if err := e.cluster.CreateTopic("small", 1, map[string]string{"max.message.bytes": "2000"}); err != nil {
		t.Fatal(err)
	}
	known = &Topic{Name: "small", ID: e.topic("small").ID, Leaders: known.Leaders, Fetched: time.Now(), MaxBatchBytes: known.MaxBatchBytes}
	in := numbered(strings.Repeat("x", 100), 200)
	in[50] = "bad" + strings.Repeat("x", 3000)
	c := call(in...)
	e.producer.Produce(known, &c.Call)
	for i, err := range c.errs(t) {
		if bad(in[i]) != (err != nil) || err != nil && !errors.Is(err, kerr.MessageTooLarge) {
			t.Errorf("record %d: %v", i, err)
		}
	}
	if got := e.log("small", 0); strings.Join(got, " ") != strings.Join(good(in), " ") {
		t.Errorf("%d records", len(got))
	}
	before := e.requests.Load()
	again := call(numbered(strings.Repeat("y", 100), 400)...) // without memory they would take 63 requests
	e.producer.Produce(known, &again.Call)
	if err := errors.Join(again.errs(t)...); err != nil {
		t.Error(err)
	}
	if n := e.requests.Load() - before; n > 55 {
		t.Errorf("%d requests for 400 records of 100 bytes, when 2000 fit into one", n)
	}
	// What is known anew counts.
	fresh := e.topic("small")
	if fresh.MaxBatchBytes != 2000 {
		t.Errorf("the topic permits %d", fresh.MaxBatchBytes)
	}
}

// Many callers, some of whom send bad records, through several partitions. Each record is judged alone.
func TestCallersShareNoFate(t *testing.T) {
	for name, most := range map[string]int{"named": 1000, "one named": 1, "none named": 0} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, nil, kfake.SeedTopics(3, "t"))
			e.refuse(naming(most))
			known := e.topic("t")
			const callers, calls, each = 8, 10, 4
			all := make([][]*waited, callers)
			group(callers, func(i int) {
				for j := range calls {
					c := call()
					for k := range each {
						v := fmt.Sprintf("%d-%d-%d", i, j, k)
						if i < 2 && (j+k)%3 == 0 {
							v = "bad" + v
						}
						c.Records = append(c.Records, kgo.Record{Key: []byte{byte(i)}, Value: []byte(v)})
					}
					e.producer.Produce(known, &c.Call)
					all[i] = append(all[i], c)
					if i%2 == 0 { // the others do not wait for answers
						c.wait(t)
					}
				}
			})
			judge(t, e, all, 0)
		})
	}
}

// judge holds what callers were told against the log: each of their records once, in its place, in order, or refused. So many records
// as doubts says may be unacknowledged instead.
func judge(t *testing.T, e *env, all [][]*waited, doubts int) {
	t.Helper()
	for _, calls := range all {
		for _, c := range calls {
			c.wait(t)
		}
	}
	e.lose.Store(0)
	logs, times := make(map[int32][]string), make(map[string]int)
	for p := range int32(len(e.topic("t").Leaders)) {
		logs[p] = e.log("t", p)
		for _, v := range logs[p] {
			if times[v]++; times[v] > 1 {
				t.Errorf("%s was written twice", v)
			}
		}
	}
	for _, calls := range all {
		last := make(map[int32]int64)
		for _, c := range calls {
			for i, err := range c.errs(t) {
				r := &c.Records[i]
				v := string(r.Value)
				switch {
				case errors.Is(err, ErrUnacknowledged) && doubts > 0:
					doubts--
					delete(times, v)
					continue
				case bad(v):
					if !errors.Is(err, kerr.InvalidRecord) {
						t.Errorf("%s: %v", v, err)
					}
					continue
				case err != nil:
					t.Errorf("%s: %v", v, err)
					continue
				}
				delete(times, v)
				if log := logs[r.Partition]; r.Offset >= int64(len(log)) || log[r.Offset] != v {
					t.Errorf("%s is not at %d-%d", v, r.Partition, r.Offset)
				}
				if before, ok := last[r.Partition]; ok && r.Offset <= before {
					t.Errorf("%s is at %d, the one before at %d", v, r.Offset, before)
				}
				last[r.Partition] = r.Offset
			}
		}
	}
	for v := range times {
		t.Errorf("%s is in the log and was not acknowledged", v)
	}
}
