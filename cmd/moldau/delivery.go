package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/cmd/moldau/internal/exit"
	"moldau/gateway/producer"
)

const (
	// fullDelivery is how many records may be under way at a time, maxDeliveryBytes how many bytes of them.
	fullDelivery     = 10_000
	maxDeliveryBytes = 64 << 20
	// maxFailures is how many failed records are named.
	maxFailures = 20
)

// delivery hands records over and gathers their outcomes, which come from the producer's own goroutines.
type delivery struct {
	ctx      context.Context //nolint:containedctx // that of the command, for all records
	unwatch  func() bool
	client   *kgo.Client
	producer *producer.Producer
	topics   map[string]*producer.Topic
	read     int    // records taken
	next     *group // records that are not handed over yet
	usual    int    // how many the last ones were
	result   *kgo.RecordFormatter
	out      io.Writer

	mu       sync.Mutex
	changed  *sync.Cond
	pending  int
	held     int64 // bytes of what is pending
	records  int   // written
	bytes    int64 // of what was written, keys and values
	failures []failedRecord
	more     int // failures that are not kept
	line     []byte
}

// failedRecord is a record of the input that was not written.
type failedRecord struct {
	number    int // from 1
	topic     string
	partition int32
	err       error
}

// Error tells which record failed, and why, with Kafka's name of the error.
func (f *failedRecord) Error() string {
	where := fmt.Sprintf("record %d of the input: topic %s, partition %d", f.number, f.topic, f.partition)
	if ke, ok := errors.AsType[*kerr.Error](f.err); ok {
		text := f.err.Error()
		if text == ke.Error() {
			text = ke.Description
		}
		return fmt.Sprintf("%s: %s: %s", where, ke.Message, text)
	}
	return where + ": " + f.err.Error()
}

// Unwrap returns why it failed.
func (f *failedRecord) Unwrap() error { return f.err }

// newDelivery returns a delivery that writes through cl, and prints what was written to out in the form result, if there is one.
// close must follow.
func newDelivery(ctx context.Context, cl *kgo.Client, how producer.Config, result string, out io.Writer) (*delivery, error) {
	d := &delivery{ctx: ctx, client: cl, topics: make(map[string]*producer.Topic), out: out}
	d.changed = sync.NewCond(&d.mu)
	if result != "" {
		var err error
		if d.result, err = kgo.NewRecordFormatter(result); err != nil {
			return nil, exit.Usagef("--output-format %s: %w", result, err)
		}
	}
	how.Client = cl
	how.Find = func(ctx context.Context, name string) (*producer.Topic, error) { return d.find(ctx, name, false) }
	d.producer = producer.New(how)
	d.unwatch = context.AfterFunc(ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.changed.Broadcast()
	})
	return d, nil
}

func (d *delivery) close() {
	d.unwatch()
	d.producer.Close()
}

func (d *delivery) find(ctx context.Context, name string, create bool) (*producer.Topic, error) {
	t, err := producer.FindTopic(ctx, d.client, name, create)
	if err == nil {
		err = t.Limits(ctx, d.client)
	}
	return t, err
}

// group is records that are handed over together.
type group struct {
	producer.Call
	first int // the number of its first record
	topic *producer.Topic
	bytes int64 // keys and values
}

// maxGroup is how many records are handed over together at most.
const maxGroup = 1000

// send takes a record, which is handed over by flush at the latest. It fails if there is no such topic.
func (d *delivery) send(r *kgo.Record) error {
	t := d.topics[r.Topic]
	if t == nil {
		var err error
		if t, err = d.find(d.ctx, r.Topic, true); err != nil {
			return err
		}
		d.topics[r.Topic] = t
	}
	if d.next != nil && (d.next.topic != t || len(d.next.Records) == maxGroup) {
		d.flush()
	}
	if d.next == nil {
		d.next = &group{first: d.read + 1, topic: t}
		d.next.Records = make([]kgo.Record, 0, d.usual)
	}
	d.read++
	d.next.Records = append(d.next.Records, *r)
	d.next.bytes += int64(len(r.Key) + len(r.Value))
	return nil
}

// flush hands over what was taken.
func (d *delivery) flush() {
	g := d.next
	if g == nil {
		return
	}
	d.next, d.usual = nil, len(g.Records)
	d.mu.Lock()
	d.pending += len(g.Records)
	d.held += g.bytes
	d.mu.Unlock()
	g.Done = func() { d.done(g) }
	d.producer.Produce(g.topic, &g.Call)
}

// done takes the outcomes of a group.
func (d *delivery) done(g *group) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.changed.Broadcast()
	d.pending -= len(g.Records)
	d.held -= g.bytes
	for i := range g.Records {
		d.tell(g.first+i, &g.Records[i], g.Err(i))
	}
}

// tell notes the outcome of a record.
func (d *delivery) tell(number int, r *kgo.Record, err error) {
	if err == nil && d.result != nil {
		d.line = d.result.AppendRecord(d.line[:0], r)
		_, err = d.out.Write(d.line)
	}
	switch {
	case err == nil:
		d.records++
		d.bytes += int64(len(r.Key) + len(r.Value))
	case len(d.failures) < maxFailures:
		d.failures = append(d.failures, failedRecord{number, r.Topic, r.Partition, err})
	default:
		d.more++
	}
}

func (d *delivery) failed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.failures) > 0
}

// wait waits until at most so many records are under way, and no more bytes than may be. It tells whether the context lasts.
func (d *delivery) wait(most int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for (d.pending > most || d.held > maxDeliveryBytes) && d.ctx.Err() == nil {
		d.changed.Wait()
	}
	return d.ctx.Err() == nil
}

// flushing hands over what was taken before it waits for more input: a record never waits for the next line.
type flushing struct {
	in    io.Reader
	flush func()
}

// Read reads from the input.
func (f *flushing) Read(p []byte) (int, error) {
	f.flush()
	return f.in.Read(p)
}

// verdict is why not all records were written. If there are several reasons, w is told of each.
func (d *delivery) verdict(w io.Writer) error {
	failed := len(d.failures) + d.more
	if failed == 0 {
		return nil
	}
	slices.SortFunc(d.failures, func(a, b failedRecord) int { return a.number - b.number })
	if failed == 1 {
		return &d.failures[0]
	}
	for i := range d.failures {
		fmt.Fprintln(w, d.failures[i].Error())
	}
	if d.more > 0 {
		fmt.Fprintf(w, "and %d more\n", d.more)
	}
	return &unwritten{failed, d.read, &d.failures[0]}
}

// unwritten says how many records were not written.
type unwritten struct {
	failed, read int
	first        *failedRecord
}

func (u *unwritten) Error() string {
	return fmt.Sprintf("%d of %d records were not written", u.failed, u.read)
}

// Unwrap returns the first failure, which decides the exit code.
func (u *unwritten) Unwrap() error { return u.first }
