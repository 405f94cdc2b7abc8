package group

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker/coordinator"
)

// fakeTopics are the topics of a script. The id of a topic begins with its name.
type fakeTopics struct {
	rev    int64
	topics []Topic // by name
}

func (f fakeTopics) Rev() int64 { return f.rev }

func (f fakeTopics) ByName(name string) (Topic, bool) {
	return f.find(func(t Topic) bool { return t.Name == name })
}

func (f fakeTopics) ByID(id TopicID) (Topic, bool) {
	return f.find(func(t Topic) bool { return t.ID == id })
}

func (f fakeTopics) find(is func(Topic) bool) (Topic, bool) {
	if i := slices.IndexFunc(f.topics, is); i >= 0 {
		return f.topics[i], true
	}
	return Topic{}, false
}

func (f fakeTopics) All() iter.Seq[Topic] { return slices.Values(f.topics) }

// topicIDOf is the id of a topic in scripts.
func topicIDOf(name string) (id TopicID) {
	copy(id[:], name)
	return id
}

// setTopics replaces all topics: name=partitions.
func (p *play) setTopics(d *datadriven.TestData) {
	next := fakeTopics{rev: p.topics.rev + 1}
	for _, a := range d.CmdArgs {
		n, err := strconv.Atoi(a.Vals[0])
		must(p.t, err)
		next.topics = append(next.topics, Topic{ID: topicIDOf(a.Key), Name: a.Key, Partitions: int32(n)})
	}
	slices.SortFunc(next.topics, func(a, b Topic) int { return strings.Compare(a.Name, b.Name) })
	p.topics = next
}

// beat sends a heartbeat. A member that joins says everything; owned is what it says it has: topic-partition, or none.
func (p *play) beat(a args) {
	r := &ConsumerHeartbeat{
		Group: a.text("group", "g"), MemberID: a.text("id", ""), MemberEpoch: int32(a.number("epoch", 0)), MemberIDRequired: !a.flag("v0"),
		InstanceID: a.optional("instance"), RebalanceTimeout: -1, ClientID: "c", ClientHost: "/h",
		Assignor: a.optional("assignor"), Regex: a.optional("regex"), Rack: a.optional("rack"),
	}
	if r.joins() || a.flag("rebalance") {
		r.RebalanceTimeout = int32(a.duration("rebalance", 60e9).Milliseconds())
	}
	if r.joins() {
		r.Owned = Partitions{}
		if r.Regex == nil {
			r.Topics = []string{"t"}
		}
	}
	if topics := a.text("topics", ""); topics == "none" {
		r.Topics = []string{}
	} else if topics != "" {
		r.Topics = strings.Split(topics, ",")
	}
	if n := a.number("topic-bytes", 0); n > 0 {
		r.Topics = []string{strings.Repeat("x", n)}
	}
	if owned := a.text("owned", ""); owned != "" {
		r.Owned = parsePartitions(p.t, owned)
	}
	p.do(func(t *coordinator.Turn) {
		v, err := p.s.ConsumerHeartbeat(t, r)
		if err != nil {
			p.printError(err)
			return
		}
		fmt.Fprintf(p.out, "id=%s epoch=%d", v.MemberID, v.Epoch)
		if v.Assigned != nil {
			fmt.Fprintf(p.out, " assigned=%s", showPartitions(v.Assigned))
		}
		fmt.Fprintln(p.out)
	})
}

func parsePartitions(t *testing.T, s string) Partitions {
	out := Partitions{}
	for _, item := range strings.Split(s, ",") {
		name, number, ok := strings.Cut(item, "-")
		if !ok {
			continue
		}
		n, err := strconv.Atoi(number)
		must(t, err)
		out[topicIDOf(name)] = append(out[topicIDOf(name)], int32(n))
	}
	return out
}

func showPartitions(p Partitions) string {
	var parts []string
	for _, id := range p.Topics() {
		for _, n := range p[id] {
			parts = append(parts, fmt.Sprintf("%s-%d", strings.TrimRight(string(id[:]), "\x00"), n))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ",")
}

// subscriptionOf is what a member of the classic protocol says of itself: its topics, and what it has.
func subscriptionOf(a args) []byte {
	m := kmsg.NewConsumerMemberMetadata()
	m.Topics = strings.Split(a.text("topics", "t"), ",")
	if owned := a.text("owned", ""); owned != "" {
		m.Version = 1
		for _, item := range strings.Split(owned, ",") {
			if name, number, ok := strings.Cut(item, "-"); ok {
				n, _ := strconv.Atoi(number)
				m.OwnedPartitions = append(m.OwnedPartitions, kmsg.ConsumerMemberMetadataOwnedPartition{Topic: name, Partitions: []int32{int32(n)}})
			}
		}
	}
	return m.AppendTo(nil)
}

// showAssignment reads an assignment in the form of consumers, or quotes it.
func showAssignment(b []byte) string {
	var a kmsg.ConsumerMemberAssignment
	if len(b) < 6 || a.ReadFrom(b) != nil {
		return fmt.Sprintf("%q", b)
	}
	var parts []string
	for _, t := range a.Topics {
		parts = append(parts, fmt.Sprint(t.Topic, t.Partitions))
	}
	return fmt.Sprintf("v%d %s", a.Version, strings.Join(parts, " "))
}

func (p *play) describeConsumer(id string) {
	d, err := p.s.DescribeConsumer(id)
	if err != nil {
		p.printError(err)
		return
	}
	fmt.Fprintf(p.out, "%s epoch=%d assignment=%d assignor=%s\n", d.State, d.Epoch, d.AssignmentEpoch, d.Assignor)
	for _, m := range d.Members {
		fmt.Fprintf(p.out, "  %s epoch=%d topics=%v", m.ID, m.Epoch, m.Topics)
		if m.Regex != "" {
			fmt.Fprintf(p.out, " regex=%s", m.Regex)
		}
		if m.InstanceID != "" {
			fmt.Fprintf(p.out, " instance=%s", m.InstanceID)
		}
		if m.Classic {
			fmt.Fprint(p.out, " classic")
		}
		fmt.Fprintf(p.out, " has=%s target=%s\n", showTopics(m.Assigned), showTopics(m.Target))
	}
}

func showTopics(topics []AssignedTopic) string {
	var parts []string
	for _, t := range topics {
		parts = append(parts, fmt.Sprint(t.Name, t.Partitions))
	}
	return "{" + strings.Join(parts, " ") + "}"
}

func (p *play) printConsumerRecord(kind int16, r coordinator.Record) {
	k := &flexReader{b: r.Key[2:]}
	name := map[int16]string{3: "epoch", 4: "topics", 5: "member", 6: "target-epoch", 7: "target", 8: "current", 16: "regex"}[kind]
	fmt.Fprintf(p.out, "+ %s %s", name, k.plainString())
	if len(k.b) > 0 {
		fmt.Fprintf(p.out, " %s", k.plainString())
	}
	if r.Value == nil {
		fmt.Fprintln(p.out, " gone")
		return
	}
	switch kind {
	case consumerGroupKey, consumerTargetEpochKey:
		v := &flexReader{b: r.Value[2:]}
		fmt.Fprintf(p.out, " %d\n", v.int32())
	case consumerMemberKey:
		v, err := decodeProfile(r.Value)
		must(p.t, err)
		fmt.Fprintf(p.out, " topics=%v classic=%t\n", v.topics, v.classic != nil)
	case consumerTargetKey:
		v, err := decodeTarget(r.Value)
		must(p.t, err)
		fmt.Fprintf(p.out, " %s\n", showPartitions(v))
	case consumerCurrentKey:
		v, err := decodeStanding(r.Value)
		must(p.t, err)
		fmt.Fprintf(p.out, " epoch=%d previous=%d state=%d has=%s revokes=%s\n", v.epoch, v.previous, v.state, showPartitions(v.assigned.partitions()), showPartitions(v.revoking.partitions()))
	case consumerRegexKey:
		v := &flexReader{b: r.Value[2:]}
		fmt.Fprintf(p.out, " %v\n", v.strings())
	}
}

// checkConsumer holds the invariants of groups of the consumer protocol.
func checkConsumer(t *testing.T, g *group) {
	t.Helper()
	c := g.consumer
	if g.state != Empty || len(g.members) > 0 || g.stored {
		t.Errorf("%s has both protocols", g.id)
	}
	has := map[string]string{}
	for _, m := range c.sorted() {
		for _, h := range []held{m.assigned, m.revoking} {
			for topic, list := range h {
				for p := range list {
					key := fmt.Sprint(topic, p)
					if other := has[key]; other != "" {
						t.Errorf("%s: %s and %s have %x-%d", g.id, other, m.id, topic, p)
					}
					has[key] = m.id
					if c.owners[topic][p] != m {
						t.Errorf("%s: it is not known that %s has %x-%d", g.id, m.id, topic, p)
					}
				}
			}
		}
		if m.deadline.IsZero() {
			t.Errorf("%s: %s never expires", g.id, m.id)
		}
		if (m.state == MemberUnrevoked) != (len(m.revoking) > 0) && m.epoch != leaveStaticEpoch {
			t.Errorf("%s: %s in state %d revokes %v", g.id, m.id, m.state, m.revoking)
		}
		if m.instanceID != "" && c.static[m.instanceID] != m {
			t.Errorf("%s: %s is not found by its instance id", g.id, m.id)
		}
		if m.epoch > c.epoch {
			t.Errorf("%s: %s is ahead of its group", g.id, m.id)
		}
	}
	count := 0
	for _, list := range c.owners {
		count += len(list)
	}
	if count != len(has) {
		t.Errorf("%s: %d partitions have owners, %d members' ones", g.id, count, len(has))
	}
	for id := range maps.Keys(c.targets) {
		if c.members[id] == nil {
			t.Errorf("%s: %s has a target and is no member", g.id, id)
		}
	}
}
