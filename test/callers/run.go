package callers

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	datav1 "moldau/gen/moldau/data/v1"
)

const (
	innocents = 4 // callers at each door that send good records only
	each      = 3 // records of a call
)

// Load is callers of all doors of a gateway.
type Load struct {
	// Addresses are those of the gateway: http and grpc, host:port.
	Addresses map[string]string
	// Kafka is the address of the broker behind it.
	Kafka string
	// Calls is how many calls each caller makes.
	Calls int
	// Disturbed says that the broker is killed meanwhile: records may fail then, and those of which nobody knows may have been written, once.
	Disturbed bool
}

// sent is a record and what became of it.
type sent struct {
	text   string
	good   bool
	result result
}

// notTold is the reason of a record of whose outcome its caller was not told, because its call ended early.
const notTold = "(not told)"

// Run writes to the topic and judges the outcome.
func (l Load) Run(tb testing.TB, topic Topic) {
	tb.Helper()
	l.Write(tb, topic).Judge(tb)
}

// History is what the callers of a load sent to a topic and were told.
type History struct {
	load  Load
	topic Topic
	all   [][]sent // by caller
}

// Write writes to the topic. It may run in a goroutine beside that of the test.
func (l Load) Write(tb testing.TB, topic Topic) *History {
	h := &History{load: l, topic: topic}
	conn, err := grpc.NewClient(l.Addresses["grpc"], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		tb.Error(err)
		return h
	}
	defer conn.Close() //nolint:errcheck // nothing is lost
	g := &gateway{
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: innocents + 1}}, url: "http://" + l.Addresses["http"],
		client: datav1.NewProducerServiceClient(conn),
	}
	defer g.http.CloseIdleConnections()
	var (
		mu sync.Mutex
		wg sync.WaitGroup
	)
	for door, call := range doors {
		for i := range innocents + 1 {
			wg.Go(func() {
				history := l.plan(fmt.Sprintf("%s %d", door, i), i == innocents)
				if err := l.write(tb, g, topic, call, history, int32(i)%topic.Partitions); err != nil && !l.Disturbed {
					tb.Errorf("%s: %v", door, err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				h.all = append(h.all, history)
			})
		}
	}
	wg.Wait()
	return h
}

// plan returns what a caller will send.
func (l Load) plan(name string, guilty bool) []sent {
	var out []sent
	for i := range l.Calls * each {
		out = append(out, sent{text: fmt.Sprintf("%s %04d", name, i), good: !guilty || i%5 != 0 && i%7 != 1, result: result{reason: notTold}})
	}
	return out
}

// write sends a history in calls and notes the results.
func (l Load) write(tb testing.TB, g *gateway, topic Topic, call caller, history []sent, partition int32) error {
	batches := make([][]Record, l.Calls)
	for i := range history {
		r := topic.Record(history[i].text, history[i].good)
		r.Partition = partition
		batches[i/each] = append(batches[i/each], r)
	}
	results, err := call(tb.Context(), g, topic.Name, batches)
	for i, results := range results {
		for j, r := range results {
			history[i*each+j].result = r
		}
	}
	return err
}

// place is where a record is.
type place struct {
	partition int32
	offset    int64
}

// written returns the texts in the log, and fails the test if one is there twice.
func (t *Topic) written(tb testing.TB, kafka string) map[string]place {
	tb.Helper()
	out := make(map[string]place)
	for _, r := range t.records(tb, kafka) {
		text := t.Text(r.Value)
		if _, twice := out[text]; twice {
			tb.Errorf("%q was written twice", text)
		}
		out[text] = place{r.Partition, r.Offset}
	}
	return out
}

// Judge holds what the callers were told against the log, and returns how many records were acknowledged.
func (h *History) Judge(tb testing.TB) (acknowledged int) {
	tb.Helper()
	log := h.topic.written(tb, h.load.Kafka)
	known := 0 // of what is in the log
	for _, history := range h.all {
		last := int64(-1)
		for i := range history {
			s := &history[i]
			at, written := log[s.text]
			if !s.good {
				h.judgeBad(tb, s, written)
				continue
			}
			if h.judgeGood(tb, s, at, written) {
				acknowledged++
			}
			if written {
				if known++; at.offset <= last {
					tb.Errorf("%q is at offset %d, its caller's record before at %d", s.text, at.offset, last)
				}
				last = at.offset
			}
		}
	}
	if len(log) != known {
		tb.Errorf("%d records are in the log, %d of them were sent", len(log), known)
	}
	return acknowledged
}

// judgeGood tells whether a good record was acknowledged.
func (h *History) judgeGood(tb testing.TB, s *sent, at place, written bool) bool {
	tb.Helper()
	switch {
	case s.result.reason != "":
		if !h.load.Disturbed {
			tb.Errorf("the good record %q failed: %s: %s", s.text, s.result.reason, s.result.message)
		}
		return false
	case !written:
		tb.Errorf("%q was acknowledged and is not there", s.text)
	case at != place{s.result.partition, s.result.offset}:
		tb.Errorf("%q is at %v, its caller was told %d-%d", s.text, at, s.result.partition, s.result.offset)
	}
	return true
}

func (h *History) judgeBad(tb testing.TB, s *sent, written bool) {
	tb.Helper()
	switch {
	case written:
		tb.Errorf("the bad record %q was written", s.text)
	case s.result.reason == h.topic.Reason && strings.Contains(s.result.message, h.topic.Says):
	case s.result.reason == "" || !h.load.Disturbed:
		tb.Errorf("the bad record %q: %s: %q, want %s: %q", s.text, s.result.reason, s.result.message, h.topic.Reason, h.topic.Says)
	}
}
