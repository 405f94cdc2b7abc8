package group

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker/coordinator"
	"moldau/broker/coordinator/group/assignor"
)

// TestScripts runs the scripts in testdata. A script's first directive may be "config". Each directive prints the answers
// that it set free, the records that it wrote, and the group.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		p := newPlay()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p.t, p.out = t, new(strings.Builder)
			p.run(d)
			p.check()
			if p.out.Len() == 0 {
				return "-"
			}
			return p.out.String()
		})
	})
}

// play is a shard with a clock and a log.
type play struct {
	t       *testing.T
	out     *strings.Builder
	c       Config
	s       *Shard
	now     time.Time
	ids     int
	log     []logged
	waiting []func() bool // prints an answer once it is there
	topics  fakeTopics
}

// logged is a record or a marker, as it stands in the log.
type logged struct {
	coordinator.Record
	marker *coordinator.Marker
}

func newPlay() *play {
	p := &play{now: time.UnixMilli(1_700_000_000_000)}
	p.c = Config{
		SessionTimeoutMin: time.Second, SessionTimeoutMax: time.Minute, MaxSize: 100, OffsetMetadataMaxBytes: 10,
		OffsetsRetention: time.Hour, OffsetsRetentionCheckInterval: 10 * time.Minute,
		NewID: func() string {
			p.ids++
			return strconv.Itoa(p.ids)
		},
		ConsumerMaxSize: 100, Migration: Migration{Upgrade: true, Downgrade: true}, Assignors: assignor.All(),
		ConsumerTimes: func(string) (time.Duration, time.Duration) { return 45 * time.Second, 5 * time.Second },
		Topics:        func() Topics { return p.topics },
		Skipped:       func(key []byte, err error) { fmt.Fprintf(p.out, "skipped a key of %d bytes: %v\n", len(key), err) },
	}
	p.s = NewShard(p.c)
	p.s.Start(p.turn())
	return p
}

func (p *play) turn() *coordinator.Turn {
	t := coordinator.NewTurn(p.s, p.now)
	t.RecordBytesMax = 1000
	return t
}

// do runs an operation, commits what it wrote, and prints what came of it.
func (p *play) do(op func(t *coordinator.Turn)) {
	t := p.turn()
	op(t)
	for _, r := range t.Records() {
		p.log = append(p.log, logged{Record: r})
		p.printRecord(r)
	}
	t.Settle(nil)
	p.answers()
}

func (p *play) answers() {
	p.waiting = slices.DeleteFunc(p.waiting, func(f func() bool) bool { return f() })
}

// await prints a reply when it is settled.
func await[T any](p *play, who string, show func(T) string) *coordinator.Reply[T] {
	r := coordinator.NewReply[T]()
	p.waiting = append(p.waiting, func() bool {
		if !r.Settled() {
			return false
		}
		v, err := r.Result()
		if err != nil {
			fmt.Fprintf(p.out, "%s <- %v\n", who, err)
		} else {
			fmt.Fprintf(p.out, "%s <- %s\n", who, show(v))
		}
		return true
	})
	return r
}

func (p *play) run(d *datadriven.TestData) {
	a := args{d}
	switch d.Cmd {
	case "config":
		p.c.MaxSize = a.number("max-size", p.c.MaxSize)
		p.c.ConsumerMaxSize = a.number("consumer-max-size", p.c.ConsumerMaxSize)
		if policy := a.text("migration", ""); policy != "" {
			m, err := ParseMigration(policy)
			must(p.t, err)
			p.c.Migration = m
		}
		p.c.InitialRebalanceDelay = a.duration("delay", 0)
		p.s = NewShard(p.c)
		p.s.Start(p.turn())
	case "join":
		p.join(a)
	case "sync":
		p.sync(a)
	case "heartbeat":
		p.do(func(t *coordinator.Turn) {
			p.printError(p.s.Heartbeat(t, a.text("group", "g"), a.text("id", ""), a.optional("instance"), int32(a.number("gen", 1))))
		})
	case "leave":
		p.leave(a)
	case "commit":
		p.commit(a)
	case "fetch":
		p.fetch(a)
	case "marker":
		p.do(func(t *coordinator.Turn) {
			m := coordinator.Marker{Producer: coordinator.Producer{ID: int64(a.number("producer", 1))}, Commit: a.flag("commit")}
			p.log = append(p.log, logged{marker: &m})
			t.End(m)
		})
	case "delete":
		p.do(func(t *coordinator.Turn) { p.printError(p.s.Delete(t, a.text("group", "g"))) })
	case "delete-offsets":
		p.do(func(t *coordinator.Turn) {
			errs, err := p.s.DeleteOffsets(t, a.text("group", "g"), []Partition{{a.text("topic", "t"), int32(a.number("partition", 0))}})
			p.printError(errors.Join(append(errs, err)...))
		})
	case "delete-topic":
		p.do(func(t *coordinator.Turn) { p.s.DeleteTopics(t, map[string]struct{}{a.text("topic", "t"): {}}) })
	case "advance":
		p.advance(a.duration("by", time.Second))
	case "topics":
		p.setTopics(d)
	case "beat":
		p.beat(a)
	case "describe-consumer":
		p.describeConsumer(a.text("group", "g"))
	case "describe":
		p.describe(a.text("group", "g"))
	case "list":
		for _, l := range p.s.List() {
			fmt.Fprintf(p.out, "%s %s %q", l.ID, l.State, l.ProtocolType)
			if l.Type != Classic {
				fmt.Fprintf(p.out, " %s", l.Type)
			}
			fmt.Fprintln(p.out)
		}
	case "reload":
		p.reload()
	default:
		p.t.Fatalf("unknown directive %q", d.Cmd)
	}
}

func (p *play) join(a args) {
	r := &JoinRequest{
		Group: a.text("group", "g"), MemberID: a.text("id", ""), InstanceID: a.optional("instance"),
		ClientID: a.text("client", "c"), ClientHost: a.text("host", "/h"),
		SessionTimeout: a.duration("session", 10*time.Second), RebalanceTimeout: a.duration("rebalance", 20*time.Second),
		ProtocolType: a.text("type", consumerType), RequireMemberID: a.flag("require-id"), SkipAssignment: a.flag("skip"),
	}
	for _, name := range strings.Split(a.text("protocols", "range"), ",") {
		if name != "none" {
			r.Protocols = append(r.Protocols, Protocol{Name: name, Metadata: subscriptionOf(a)})
		}
	}
	p.do(func(t *coordinator.Turn) { p.s.Join(t, r, await(p, a.text("as", "join"), showJoin)) })
}

// metadataOf is what a consumer that subscribes to topics says of itself.
func metadataOf(topics string) []byte {
	m := kmsg.NewConsumerMemberMetadata()
	m.Topics = strings.Split(topics, ",")
	return m.AppendTo(nil)
}

func showJoin(j JoinReply) string {
	if j.Err != nil {
		return fmt.Sprintf("%v (id %q)", j.Err, j.MemberID)
	}
	out := fmt.Sprintf("id=%s gen=%d protocol=%s leader=%s", j.MemberID, j.Generation, j.Protocol, j.Leader)
	if j.SkipAssignment {
		out += " skip"
	}
	if len(j.Members) > 0 {
		out += " members="
		for i, m := range j.Members {
			if i > 0 {
				out += ","
			}
			out += m.ID
		}
	}
	return out
}

func (p *play) sync(a args) {
	r := &SyncRequest{
		Group: a.text("group", "g"), MemberID: a.text("id", ""), InstanceID: a.optional("instance"), Generation: int32(a.number("gen", 1)),
		Protocol: a.optional("protocol"), ProtocolType: a.optional("type"), Assignments: map[string][]byte{},
	}
	for _, pair := range strings.Split(a.text("assign", ""), ",") {
		if id, v, ok := strings.Cut(pair, ":"); ok {
			n, err := strconv.Atoi(v)
			if err == nil && n > 100 {
				v = strings.Repeat("x", n)
			}
			r.Assignments[id] = []byte(v)
		}
	}
	p.do(func(t *coordinator.Turn) {
		p.s.Sync(t, r, await(p, a.text("as", "sync "+r.MemberID), func(s SyncReply) string {
			if s.Err != nil {
				return s.Err.Error()
			}
			return fmt.Sprintf("%s %s %s", s.ProtocolType, s.Protocol, showAssignment(s.Assignment))
		}))
	})
}

func (p *play) leave(a args) {
	var members []Leaving
	for _, id := range strings.Split(a.text("id", ""), ",") {
		members = append(members, Leaving{MemberID: id, InstanceID: a.optional("instance")})
	}
	p.do(func(t *coordinator.Turn) {
		errs, err := p.s.Leave(t, a.text("group", "g"), members)
		p.printError(err)
		for _, err := range errs {
			p.printError(err)
		}
	})
}

func (p *play) commit(a args) {
	r := &CommitRequest{
		Group: a.text("group", "g"), MemberID: a.text("id", ""), InstanceID: a.optional("instance"), Generation: int32(a.number("gen", -1)),
		Retention: a.duration("retention", -1), KnowsEpochs: !a.flag("old"),
		Offsets: []PartitionOffset{{
			Topic: a.text("topic", "t"), Partition: int32(a.number("partition", 0)), Offset: int64(a.number("offset", 0)),
			LeaderEpoch: int32(a.number("epoch", -1)), Metadata: a.text("metadata", ""),
		}},
	}
	p.do(func(t *coordinator.Turn) {
		var errs []error
		var err error
		if producer := a.number("producer", -1); producer >= 0 {
			errs, err = p.s.CommitTxnOffsets(t, coordinator.Producer{ID: int64(producer)}, r)
		} else {
			errs, err = p.s.CommitOffsets(t, r)
		}
		if joined := errors.Join(append(errs, err)...); joined != nil {
			p.printError(joined)
		}
	})
}

func (p *play) fetch(a args) {
	r := &FetchRequest{Group: a.text("group", "g"), RequireStable: a.flag("stable"), All: !a.flag("topic")}
	if !r.All {
		r.Topics = []FetchTopic{{Topic: a.text("topic", "t"), Partitions: []int32{int32(a.number("partition", 0))}}}
	}
	r.MemberID, r.MemberEpoch = a.optional("id"), int32(a.number("epoch", -1))
	topics, err := p.s.FetchOffsets(r)
	if err != nil {
		p.printError(err)
	}
	for _, topic := range topics {
		for _, o := range topic.Partitions {
			fmt.Fprintf(p.out, "%s-%d %d epoch=%d %q", topic.Topic, o.Partition, o.Offset.Offset, o.LeaderEpoch, o.Metadata)
			if o.Err != nil {
				fmt.Fprintf(p.out, " %v", o.Err)
			}
			fmt.Fprintln(p.out)
		}
	}
}

// advance lets time pass, from deadline to deadline.
func (p *play) advance(by time.Duration) {
	until := p.now.Add(by)
	for next := p.s.NextDeadline(); !next.IsZero() && !next.After(until); next = p.s.NextDeadline() {
		if next.After(p.now) {
			p.now = next
		}
		p.do(p.s.Expire)
		if again := p.s.NextDeadline(); !again.IsZero() && !again.After(p.now) {
			p.t.Fatal("what was due is still due")
		}
	}
	p.now = until
}

func (p *play) describe(id string) {
	d, err := p.s.Describe(id)
	if err != nil {
		p.printError(err)
		return
	}
	fmt.Fprintf(p.out, "%s gen=%d type=%q protocol=%q idle=%d\n", d.State, d.Generation, d.ProtocolType, d.Protocol, d.IdleMembers)
	for _, m := range d.Members {
		fmt.Fprintf(p.out, "  %s instance=%q client=%s%s assignment=%q\n", m.ID, m.InstanceID, m.ClientID, m.ClientHost, m.Assignment)
	}
}

// reload is a restart, or another leader: the log is replayed into a new shard.
func (p *play) reload() {
	p.s.Stop(coordinator.ErrNotCoordinator)
	p.answers()
	p.s = NewShard(p.c)
	for _, e := range p.log {
		if e.marker != nil {
			p.s.ReplayMarker(*e.marker)
		} else {
			p.s.Replay(e.Record)
		}
	}
	p.do(p.s.Start)
}

func (p *play) printError(err error) {
	if err == nil {
		fmt.Fprintln(p.out, "ok")
		return
	}
	fmt.Fprintln(p.out, strings.ReplaceAll(err.Error(), "\n", "; "))
}

func (p *play) printRecord(r coordinator.Record) {
	version, err := keyVersion(r.Key)
	if err != nil {
		p.t.Fatal(err)
	}
	producer := ""
	if r.Producer != coordinator.NoProducer {
		producer = fmt.Sprintf(" producer=%d", r.Producer.ID)
	}
	switch {
	case version > groupKeyVersion:
		p.printConsumerRecord(version, r)
	case version == groupKeyVersion:
		var k kmsg.GroupMetadataKey
		must(p.t, k.ReadFrom(r.Key))
		if r.Value == nil {
			fmt.Fprintf(p.out, "+ group %s gone\n", k.Group)
			return
		}
		var v kmsg.GroupMetadataValue
		must(p.t, v.ReadFrom(r.Value))
		fmt.Fprintf(p.out, "+ group %s gen=%d leader=%s members=%d\n", k.Group, v.Generation, text(v.Leader), len(v.Members))
	default:
		var k kmsg.OffsetCommitKey
		must(p.t, k.ReadFrom(r.Key))
		if r.Value == nil {
			fmt.Fprintf(p.out, "+ offset %s %s-%d gone\n", k.Group, k.Topic, k.Partition)
			return
		}
		var v kmsg.OffsetCommitValue
		must(p.t, v.ReadFrom(r.Value))
		fmt.Fprintf(p.out, "+ offset %s %s-%d %d%s\n", k.Group, k.Topic, k.Partition, v.Offset, producer)
	}
}

// check holds the invariants of the package against every group after every step.
func (p *play) check() {
	for _, id := range slices.Sorted(maps.Keys(p.s.groups)) {
		g := p.s.groups[id]
		if g.consumer != nil {
			checkConsumer(p.t, g)
		}
		if (len(g.members) > 0) != (g.state != Empty) && g.state != PreparingRebalance {
			p.t.Errorf("%s: %d members in %s", id, len(g.members), g.state)
		}
		if (g.state == Stable || g.state == CompletingRebalance) && (g.byID[g.leader] == nil || !g.allSupport(g.protocol)) {
			p.t.Errorf("%s: leader %q, protocol %q in %s", id, g.leader, g.protocol, g.state)
		}
		if len(g.byID) != len(g.members) {
			p.t.Errorf("%s: %d ids of %d members", id, len(g.byID), len(g.members))
		}
		for _, m := range g.members {
			if m.join != nil && g.state != PreparingRebalance {
				p.t.Errorf("%s: %s waits to join in %s", id, m.id, g.state)
			}
			if m.sync != nil && g.state != CompletingRebalance {
				p.t.Errorf("%s: %s waits to sync in %s", id, m.id, g.state)
			}
			if m.deadline.IsZero() {
				p.t.Errorf("%s: %s never expires", id, m.id)
			}
		}
		if next := g.nextDeadline(); !next.IsZero() && (g.heapIndex < 0 || g.due.After(next)) {
			p.t.Errorf("%s: due at %v, scheduled for %v", id, next, g.due)
		}
	}
}

// args reads the arguments of a directive.
type args struct{ d *datadriven.TestData }

func (a args) flag(key string) bool { return a.d.HasArg(key) }

func (a args) text(key, or string) string {
	for _, arg := range a.d.CmdArgs {
		if arg.Key == key && len(arg.Vals) > 0 {
			return strings.Trim(strings.Join(arg.Vals, ","), `"`)
		}
	}
	return or
}

func (a args) optional(key string) *string {
	if !a.flag(key) {
		return nil
	}
	s := a.text(key, "")
	return &s
}

func (a args) number(key string, or int) int {
	n, err := strconv.Atoi(a.text(key, strconv.Itoa(or)))
	if err != nil {
		panic(err)
	}
	return n
}

func (a args) duration(key string, or time.Duration) time.Duration {
	d, err := time.ParseDuration(a.text(key, or.String()))
	if err != nil {
		panic(err)
	}
	return d
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
