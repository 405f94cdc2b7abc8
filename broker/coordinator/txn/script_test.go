package txn

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"moldau/broker/coordinator"
)

// TestScripts plays the scripts in testdata. Each command is one turn; its answer is what the client gets, then the records, then
// what the shard asks of the rest of the node.
//
//	init id= timeout=60000 [pid= epoch=] [fresh=]     add|verify id= p=pid/epoch parts=(t/0,…) [v=2]
//	end id= p=pid/epoch [commit] [v=2] [fresh=]       complete id= p=pid/epoch       abort-timed-out id= p=pid/epoch fresh=
//	sleep ms=      describe id=      list [states=] [pids=] [longer-ms=] [prefix=]
//	load id= p=pid/epoch state= [timeout=] (a record that is there from before)     reload
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		h := newHarness()
		datadriven.RunTest(t, path, h.run)
	})
}

// harness is a shard with a log, and a world outside that writes down what it is asked.
type harness struct {
	shard   *Shard
	now     time.Time
	log     []coordinator.Record
	out     strings.Builder
	pending []func() string // answers that have not come yet
}

func newHarness() *harness {
	h := &harness{now: time.UnixMilli(1000)}
	h.shard = h.newShard()
	return h
}

func (h *harness) newShard() *Shard {
	cfg := Config{TimeoutMax: 15 * time.Minute, IDExpiration: 7 * 24 * time.Hour, ParkMax: 100 * time.Millisecond}
	return NewShard(cfg, h, slog.New(slog.NewTextHandler(&h.out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
}

// WriteMarkers implements Outside.
func (h *harness) WriteMarkers(d Decision) {
	fmt.Fprintf(&h.out, "markers id=%s p=%d/%d epoch=%d commit=%t v=%d %s\n",
		d.ID, d.Producer.ID, d.Producer.Epoch, d.CoordinatorEpoch, d.Commit, d.Version, formatPartitions(d.Partitions))
}

// RotateAndAbort implements Outside.
func (h *harness) RotateAndAbort(id string, p coordinator.Producer) {
	fmt.Fprintf(&h.out, "rotate and abort id=%s p=%d/%d\n", id, p.ID, p.Epoch)
}

// TimedOut implements Outside.
func (h *harness) TimedOut(tx *Transaction) { fmt.Fprintf(&h.out, "timed out id=%s\n", tx.ID) }

func (h *harness) run(t *testing.T, d *datadriven.TestData) string {
	h.out.Reset()
	switch d.Cmd {
	case "sleep":
		var ms int
		d.ScanArgs(t, "ms", &ms)
		h.now = h.now.Add(time.Duration(ms) * time.Millisecond)
		h.turn(h.shard.Expire)
	case "reload":
		h.reload(t)
	case "load":
		h.load(args{t, d})
	default:
		h.turn(func(turn *coordinator.Turn) { h.operate(t, d, turn) })
	}
	h.answers()
	if h.out.Len() == 0 {
		return "-\n"
	}
	return h.out.String()
}

// turn runs one operation, and commits it.
func (h *harness) turn(op func(*coordinator.Turn)) {
	turn := coordinator.NewTurn(h.shard, h.now)
	turn.Epoch = 3
	op(turn)
	for _, r := range turn.Records() {
		h.log = append(h.log, r)
		fmt.Fprintln(&h.out, formatRecord(r))
	}
	h.answers()
	turn.Settle(nil)
}

// answers writes down the answers that have come.
func (h *harness) answers() {
	h.pending = slices.DeleteFunc(h.pending, func(f func() string) bool {
		text := f()
		h.out.WriteString(text)
		return text != ""
	})
}

// load puts a record into the log.
func (h *harness) load(a args) {
	p := a.producer("p")
	tx := newTransaction(a.text("id"), p.ID)
	tx.ProducerEpoch, tx.TimeoutMs, tx.UpdateMs = p.Epoch, int32(a.number("timeout", 60000)), h.now.UnixMilli()
	tx.State, _ = ParseState(a.text("state"))
	if tx.State == Ongoing {
		tx.StartMs, tx.Partitions = tx.UpdateMs, []TopicPartition{{"t", 0}}
	}
	h.turn(func(t *coordinator.Turn) { t.Append(encodeKey(tx.ID), encodeValue(&tx)) })
}

// reload replays the log into a new shard, and compares it with the one before.
func (h *harness) reload(t *testing.T) {
	before := h.shard
	before.Stop(coordinator.ErrNotAvailable)
	h.answers()
	h.shard = h.newShard()
	for _, r := range h.log {
		h.shard.Replay(r)
	}
	for id, e := range before.ids {
		after := h.shard.ids[id]
		if after == nil || !reflect.DeepEqual(e.Transaction, after.Transaction) {
			t.Errorf("%s was %+v, and is %+v after a replay", id, e.Transaction, after)
		}
	}
	if before.Len() != h.shard.Len() {
		t.Errorf("%d ids, and %d after a replay", before.Len(), h.shard.Len())
	}
	h.turn(h.shard.Start)
}

func (h *harness) operate(t *testing.T, d *datadriven.TestData, turn *coordinator.Turn) {
	a := args{t, d}
	s := h.shard
	switch d.Cmd {
	case "init":
		q := InitProducerID{ID: a.text("id"), TimeoutMs: int32(a.number("timeout", 60000)), Expected: a.producer("p"), Fresh: a.number("fresh", -1)}
		reply := await(h, formatProducer)
		s.InitProducerID(turn, q, reply)
	case "add":
		reply := await(h, func(struct{}) string { return "added" })
		s.AddPartitions(turn, a.addPartitions(), reply)
	case "verify":
		s.Verify(turn, a.addPartitions(), await(h, func(errs []error) string { return fmt.Sprint(errs) }))
	case "end":
		q := EndTxn{ID: a.text("id"), Producer: a.producer("p"), Commit: d.HasArg("commit"), Version: int16(a.number("v", 0)), Fresh: a.number("fresh", -1)}
		s.EndTxn(turn, q, await(h, formatProducer))
	case "complete":
		s.Complete(turn, a.text("id"), a.producer("p"), await(h, func(struct{}) string { return "complete" }))
	case "abort-timed-out":
		s.AbortTimedOut(turn, a.text("id"), a.producer("p"), a.number("fresh", -1), await(h, func(struct{}) string { return "aborted" }))
	case "describe":
		s.Describe(turn, a.text("id"), await(h, formatTransaction))
	case "list":
		s.List(turn, a.filter(), await(h, func(ls []Listing) string {
			var out []string
			for _, l := range ls {
				out = append(out, fmt.Sprintf("%s %d %v", l.ID, l.ProducerID, l.State))
			}
			return strings.Join(out, "\n")
		}))
	default:
		t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
	}
}

// await returns a reply whose answer is written down when it comes.
func await[T any](h *harness, format func(T) string) *coordinator.Reply[T] {
	reply := coordinator.NewReply[T]()
	h.pending = append(h.pending, func() string {
		if !reply.Settled() {
			return ""
		}
		v, err := reply.Result()
		if err != nil {
			return "error: " + errorName(err) + "\n"
		}
		return format(v) + "\n"
	})
	return reply
}

func errorName(err error) string {
	for name, known := range map[string]error{
		"invalid timeout": ErrInvalidTimeout, "invalid producer id mapping": ErrInvalidProducerIDMapping, "fenced": ErrProducerFenced,
		"concurrent": ErrConcurrentTransactions, "invalid state": ErrInvalidState, "need producer id": ErrNeedProducerID,
		"not found": ErrNotFound, "coordinator not available": coordinator.ErrNotAvailable,
	} {
		if errors.Is(err, known) {
			return name
		}
	}
	return err.Error()
}

func formatProducer(p coordinator.Producer) string {
	return fmt.Sprintf("producer %d/%d", p.ID, p.Epoch)
}

func formatPartitions(ps []TopicPartition) string {
	var out []string
	for _, p := range ps {
		out = append(out, fmt.Sprintf("%s/%d", p.Topic, p.Partition))
	}
	return "[" + strings.Join(out, " ") + "]"
}

func formatTransaction(tx Transaction) string {
	return fmt.Sprintf("%s %v p=%d/%d prev=%d next=%d last=%d timeout=%d start=%d update=%d v=%d %s", tx.ID, tx.State, tx.ProducerID, tx.ProducerEpoch,
		tx.PrevProducerID, tx.NextProducerID, tx.LastEpoch, tx.TimeoutMs, tx.StartMs, tx.UpdateMs, tx.ClientVersion, formatPartitions(tx.Partitions))
}

func formatRecord(r coordinator.Record) string {
	id, err := decodeKey(r.Key)
	if err != nil {
		return err.Error()
	}
	if r.Value == nil {
		return "record " + id + " tombstone"
	}
	tx, err := decodeValue(id, r.Value)
	if err != nil {
		return err.Error()
	}
	return "record " + formatTransaction(tx)
}

// args reads the arguments of a command.
type args struct {
	t *testing.T
	d *datadriven.TestData
}

func (a args) text(key string) string {
	v := ""
	if a.d.HasArg(key) {
		a.d.ScanArgs(a.t, key, &v)
	}
	return v
}

func (a args) number(key string, missing int64) int64 {
	if !a.d.HasArg(key) {
		return missing
	}
	n, err := strconv.ParseInt(a.text(key), 10, 64)
	if err != nil {
		a.t.Fatalf("%s: %v", a.d.Pos, err)
	}
	return n
}

func (a args) producer(key string) coordinator.Producer {
	if !a.d.HasArg(key) {
		return coordinator.NoProducer
	}
	var p coordinator.Producer
	if _, err := fmt.Sscanf(a.text(key), "%d/%d", &p.ID, &p.Epoch); err != nil {
		a.t.Fatalf("%s: %v", a.d.Pos, err)
	}
	return p
}

func (a args) list(key string) []string {
	for _, arg := range a.d.CmdArgs {
		if arg.Key == key {
			return arg.Vals
		}
	}
	return nil
}

func (a args) addPartitions() AddPartitions {
	q := AddPartitions{ID: a.text("id"), Producer: a.producer("p"), Version: int16(a.number("v", 0))}
	for _, text := range a.list("parts") {
		topic, index, _ := strings.Cut(text, "/")
		n, err := strconv.Atoi(index)
		if err != nil {
			a.t.Fatalf("%s: %v", a.d.Pos, err)
		}
		q.Partitions = append(q.Partitions, TopicPartition{topic, int32(n)})
	}
	return q
}

func (a args) filter() *Filter {
	f := &Filter{LongerThan: time.Duration(a.number("longer-ms", -1)) * time.Millisecond}
	for _, name := range a.list("states") {
		s, ok := ParseState(name)
		if !ok {
			a.t.Fatalf("%s: no state %s", a.d.Pos, name)
		}
		f.States = append(f.States, s)
	}
	for _, text := range a.list("pids") {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			a.t.Fatalf("%s: %v", a.d.Pos, err)
		}
		f.ProducerIDs = append(f.ProducerIDs, n)
	}
	if prefix := a.text("prefix"); prefix != "" {
		f.Match = func(id string) bool { return strings.HasPrefix(id, prefix) }
	}
	return f
}
