package group

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker/coordinator"
)

// TestRandomConsumers lets clients of both protocols come, go, crash, lose answers and dawdle, topics change, and the coordinator
// restart. No two clients work on a partition at the same time, and when it gets quiet all of them have what they are to have.
func TestRandomConsumers(t *testing.T) {
	for seed := range uint64(60) {
		c := newCrowd(t, seed)
		for range 60 {
			c.step()
			c.check()
		}
		c.settle()
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, strings.Join(c.story, "\n"))
		}
	}
}

// crowd is the clients of a group, as they see it themselves.
type crowd struct {
	*play
	r       *rand.Rand
	clients []*client
	born    int
	story   []string
}

// client is one that runs. What it works on is what it was told it has, until it has given it up.
type client struct {
	id, instance string
	classic      bool
	epoch        int32
	topics       []string // nil with a regular expression
	owned        Partitions
	told         Partitions // what it was told last
	missed       bool       // the last answer: it says everything again, and hears everything again
}

func newCrowd(t *testing.T, seed uint64) *crowd {
	c := &crowd{play: newPlay(), r: rand.New(rand.NewPCG(seed, 2))}
	c.t, c.out = t, &strings.Builder{}
	c.c.Migration.Downgrade = false // then members would have to assign
	c.play.s = NewShard(c.c)
	c.change()
	c.add(false, "") // one stays, so that the group keeps its protocol
	return c
}

func (c *crowd) tell(format string, args ...any) {
	c.story = append(c.story, fmt.Sprintf(format, args...))
}

// change makes topics anew, some with more partitions.
func (c *crowd) change() {
	next := fakeTopics{rev: c.topics.rev + 1}
	for i, name := range []string{"ta", "tb", "tc", "ud"} {
		n := int32(1 + c.r.IntN(5))
		if i < len(c.topics.topics) {
			n = max(n, c.topics.topics[i].Partitions)
		}
		next.topics = append(next.topics, Topic{ID: topicIDOf(name), Name: name, Partitions: n})
	}
	c.topics = next
	c.tell("topics %v", next.topics)
}

func (c *crowd) step() {
	switch n := c.r.IntN(20); {
	case n < 3 && len(c.clients) < 7:
		c.add(c.r.IntN(3) == 0, pickOne(c.r, "", "", "i", "j"))
	case n == 3 && len(c.clients) > 1:
		c.leave(1 + c.r.IntN(len(c.clients)-1))
	case n == 4 && len(c.clients) > 1:
		at := 1 + c.r.IntN(len(c.clients)-1)
		c.tell("%s crashes", c.clients[at].id)
		c.clients = slices.Delete(c.clients, at, at+1)
	case n == 5:
		c.change()
	case n == 6:
		c.tell("restart")
		c.reload()
	case n == 7:
		c.tell("time passes")
		for _, o := range c.r.Perm(len(c.clients)) { // nobody who runs is taken for dead
			c.talk(c.clients[o], false)
		}
		c.advance(time.Duration(c.r.IntN(40)) * time.Second)
	default:
		c.talk(c.clients[c.r.IntN(len(c.clients))], c.r.IntN(5) == 0)
	}
}

func pickOne[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func (c *crowd) add(classic bool, instance string) {
	if slices.ContainsFunc(c.clients, func(o *client) bool { return instance != "" && o.instance == instance }) {
		return
	}
	m := &client{instance: instance, classic: classic, topics: pickOne(c.r, []string{"ta"}, []string{"ta", "tb"}, []string{"tc", "ud"})}
	if !classic {
		c.born++
		m.id = fmt.Sprint("m", c.born)
		if c.r.IntN(3) == 0 {
			m.topics = nil // t.*
		}
	}
	c.clients = append(c.clients, m)
	c.talk(m, false)
}

func (c *crowd) leave(at int) {
	m := c.clients[at]
	c.clients = slices.Delete(c.clients, at, at+1)
	c.tell("%s leaves", m.id)
	if m.classic {
		c.do(func(t *coordinator.Turn) {
			_, err := c.play.s.Leave(t, "g", []Leaving{{MemberID: m.id}})
			must(c.t, err)
		})
		return
	}
	r := &ConsumerHeartbeat{Group: "g", MemberID: m.id, MemberEpoch: leaveEpoch, RebalanceTimeout: -1, InstanceID: m.instanceID()}
	if m.instance != "" && c.r.IntN(2) == 0 {
		r.MemberEpoch = leaveStaticEpoch
	}
	c.do(func(t *coordinator.Turn) { _, _ = c.play.s.ConsumerHeartbeat(t, r) }) // it may be gone already
}

func (m *client) instanceID() *string {
	if m.instance == "" {
		return nil
	}
	return &m.instance
}

// talk lets a client do what it does next. lost: the answer does not arrive.
func (c *crowd) talk(m *client, lost bool) {
	if m.classic {
		c.talkClassic(m)
		return
	}
	if c.r.IntN(2) == 0 {
		m.release()
	}
	c.beatOf(m, lost)
}

// release gives up what the client no longer has. One of the classic protocol has done so when it joined.
func (m *client) release() {
	if !m.classic {
		m.owned = intersection(m.owned, m.told)
	}
}

func (c *crowd) beatOf(m *client, lost bool) {
	r := &ConsumerHeartbeat{
		Group: "g", MemberID: m.id, MemberIDRequired: true, MemberEpoch: m.epoch, InstanceID: m.instanceID(),
		RebalanceTimeout: -1, Owned: m.owned,
	}
	switch {
	case m.epoch == 0 || m.missed:
		r.RebalanceTimeout, r.Owned = int32(time.Hour.Milliseconds()), union(m.owned, nil)
		expression := ""
		if m.topics == nil {
			expression = "t.*"
		}
		r.Topics, r.Regex = append([]string{}, m.topics...), &expression
	case c.r.IntN(3) == 0:
		r.Owned = nil
	}
	c.do(func(t *coordinator.Turn) {
		v, err := c.play.s.ConsumerHeartbeat(t, r)
		c.tell("%s beats in %d with %s, lost %t: %d %v %v", m.id, m.epoch, showPartitions(m.owned), lost, v.Epoch, v.Assigned, err)
		m.missed = lost
		switch {
		case lost:
		case errors.Is(err, ErrUnreleasedInstance): // another one was there, and crashed
		case errors.Is(err, ErrFencedEpoch), errors.Is(err, ErrUnknownMember), errors.Is(err, ErrFencedInstance):
			m.epoch, m.owned, m.told = 0, nil, nil
		case err != nil:
			c.t.Errorf("%s: %v", m.id, err)
		default:
			m.epoch = v.Epoch
			if v.Assigned != nil {
				m.told = v.Assigned
				m.owned = union(m.owned, v.Assigned)
			}
		}
	})
}

// talkClassic sends a heartbeat, and joins with nothing when it has to.
func (c *crowd) talkClassic(m *client) {
	if m.id != "" {
		rejoin := false
		c.do(func(t *coordinator.Turn) {
			err := c.play.s.Heartbeat(t, "g", m.id, m.instanceID(), m.epoch)
			c.tell("%s beats in %d: %v", m.id, m.epoch, err)
			rejoin = err != nil
			if errors.Is(err, ErrUnknownMember) || errors.Is(err, ErrFencedInstance) {
				m.id = ""
			}
		})
		if !rejoin {
			return
		}
	}
	m.owned = nil
	metadata := kmsg.NewConsumerMemberMetadata()
	metadata.Topics = m.topics
	join := &JoinRequest{
		Group: "g", MemberID: m.id, InstanceID: m.instanceID(), ClientID: "c", SessionTimeout: 45 * time.Second, RebalanceTimeout: time.Hour,
		ProtocolType: consumerType, Protocols: []Protocol{{Name: "range", Metadata: metadata.AppendTo(nil)}},
	}
	joined := coordinator.NewReply[JoinReply]()
	c.do(func(t *coordinator.Turn) { c.play.s.Join(t, join, joined) })
	j, err := joined.Wait(c.t.Context())
	c.tell("%q joins: %+v %v", m.id, j, err)
	if err != nil || j.Err != nil {
		m.id = ""
		return
	}
	m.id, m.epoch = j.MemberID, j.Generation
	synced := coordinator.NewReply[SyncReply]()
	c.do(func(t *coordinator.Turn) {
		c.play.s.Sync(t, &SyncRequest{Group: "g", MemberID: m.id, InstanceID: m.instanceID(), Generation: m.epoch}, synced)
	})
	if v, err := synced.Wait(c.t.Context()); err == nil && v.Err == nil {
		var a kmsg.ConsumerMemberAssignment
		must(c.t, a.ReadFrom(v.Assignment))
		m.owned = Partitions{}
		for _, topic := range a.Topics {
			m.owned[topicIDOf(topic.Topic)] = topic.Partitions
		}
		c.tell("%s has %s", m.id, showPartitions(m.owned))
	}
}

func union(a, b Partitions) Partitions {
	out := Partitions{}
	for _, p := range []Partitions{a, b} {
		for topic, list := range p {
			out[topic] = append(out[topic], list...)
		}
	}
	for topic, list := range out {
		slices.Sort(list)
		out[topic] = slices.Compact(list)
	}
	return out
}

func intersection(a, b Partitions) Partitions {
	out := Partitions{}
	for topic, list := range a {
		for _, p := range list {
			if b.Has(topic, p) {
				out[topic] = append(out[topic], p)
			}
		}
	}
	return out
}

// check holds that nobody works on what another one works on.
func (c *crowd) check() {
	works := map[string]string{}
	for _, m := range c.clients {
		for topic, list := range m.owned {
			for _, p := range list {
				key := fmt.Sprintf("%s-%d", strings.TrimRight(string(topic[:]), "\x00"), p)
				if other := works[key]; other != "" {
					c.t.Errorf("%s and %s work on %s", other, m.id, key)
				}
				works[key] = m.id
			}
		}
	}
	if g := c.play.s.groups["g"]; g != nil && g.consumer != nil {
		checkConsumer(c.t, g)
	}
}

// settle lets everybody talk until nothing changes, and holds that all is assigned: who crashed is taken for dead meanwhile.
func (c *crowd) settle() {
	for range 40 {
		for _, m := range c.clients {
			m.release()
			c.talk(m, false)
			c.check()
		}
		c.advance(5 * time.Second)
	}
	if s := c.play.s.groups["g"].consumer.state(); s != Stable {
		c.t.Errorf("the group is %v", s)
	}
	works := map[TopicID]int{}
	for _, m := range c.clients {
		for topic, list := range m.owned {
			works[topic] += len(list)
		}
	}
	for _, topic := range c.topics.topics {
		wanted := slices.ContainsFunc(c.clients, func(m *client) bool {
			return m.topics == nil && topic.Name[0] == 't' || slices.Contains(m.topics, topic.Name)
		})
		if want := int(topic.Partitions); wanted && works[topic.ID] != want || !wanted && works[topic.ID] != 0 {
			c.t.Errorf("%d of %d partitions of %s have somebody, and somebody wants them: %t", works[topic.ID], want, topic.Name, wanted)
		}
	}
}
