package assignor

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs the scripts in testdata. "topics" says how many partitions the topics have, "member" adds or changes a member,
// "leave" removes one, "assign" prints who has what, and remembers it for the next assignment.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &Spec{Members: map[string]Member{}, Topics: map[TopicID]int32{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "topics":
				for _, a := range d.CmdArgs {
					n, err := strconv.Atoi(a.Vals[0])
					if err != nil {
						t.Fatal(err)
					}
					s.Topics[topic(a.Key)] = int32(n)
				}
			case "member":
				m := s.Members[d.CmdArgs[0].Key]
				m.Topics = nil
				for _, a := range d.CmdArgs[1:] {
					if a.Key == "instance" {
						m.InstanceID = a.Vals[0]
					} else {
						m.Topics = append(m.Topics, topic(a.Key))
					}
				}
				slices.SortFunc(m.Topics, CompareTopics)
				s.Members[d.CmdArgs[0].Key] = m
			case "leave":
				delete(s.Members, d.CmdArgs[0].Key)
			case "assign":
				return assign(t, s, d.CmdArgs[0].Key)
			default:
				t.Fatalf("unknown directive %q", d.Cmd)
			}
			return "-"
		})
	})
}

func topic(name string) (id TopicID) {
	copy(id[:], name)
	return id
}

func assign(t *testing.T, s *Spec, name string) string {
	at := slices.IndexFunc(All(), func(a Assignor) bool { return a.Name() == name })
	got := All()[at].Assign(s)
	check(t, s, got)
	moved := 0
	var out strings.Builder
	for _, id := range slices.Sorted(maps.Keys(s.Members)) {
		fmt.Fprintf(&out, "%s:", id)
		for _, topic := range got[id].Topics() {
			fmt.Fprintf(&out, " %s%v", strings.TrimRight(string(topic[:]), "\x00"), got[id][topic])
			for _, p := range got[id][topic] {
				if had := s.Members[id].Assigned; had != nil && !had.Has(topic, p) {
					moved++
				}
			}
		}
		out.WriteByte('\n')
		m := s.Members[id]
		m.Assigned = got[id]
		if m.Assigned == nil {
			m.Assigned = Partitions{}
		}
		s.Members[id] = m
	}
	fmt.Fprintf(&out, "moved %d\n", moved)
	return out.String()
}

// check holds the invariants of the package against an assignment.
func check(t *testing.T, s *Spec, got map[string]Partitions) {
	t.Helper()
	taken := map[place]string{}
	for id, partitions := range got {
		for topic, list := range partitions {
			if !slices.Contains(s.Members[id].Topics, topic) {
				t.Errorf("%s does not subscribe to %q", id, topic)
			}
			if !slices.IsSorted(list) || len(list) == 0 {
				t.Errorf("%s has %v", id, list)
			}
			for _, p := range list {
				if p < 0 || p >= s.Topics[topic] {
					t.Errorf("%q-%d does not exist", topic, p)
				}
				if other := taken[place{topic, p}]; other != "" {
					t.Errorf("%q-%d belongs to %s and %s", topic, p, other, id)
				}
				taken[place{topic, p}] = id
			}
		}
	}
	for topic, n := range s.Topics {
		subscribed := false
		for _, m := range s.Members {
			subscribed = subscribed || slices.Contains(m.Topics, topic)
		}
		for p := range n {
			if subscribed && taken[place{topic, p}] == "" {
				t.Errorf("%q-%d belongs to nobody", topic, p)
			}
		}
	}
}

// checkLevel holds balance against an assignment: who has a partition that another could have, has at most one more than that.
func checkLevel(t *testing.T, s *Spec, got map[string]Partitions) {
	t.Helper()
	for a, partitions := range got {
		for topic := range partitions {
			for b, m := range s.Members {
				if slices.Contains(m.Topics, topic) && partitions.Count() > got[b].Count()+1 {
					t.Errorf("%s has %d partitions, %s %d, and both subscribe to %q", a, partitions.Count(), b, got[b].Count(), topic)
				}
			}
		}
	}
}

// Whatever members and topics come and go, the invariants hold, a second assignment of the same changes nothing, and the order of
// maps does not show.
func TestRandomGroups(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := &Spec{Members: map[string]Member{}, Topics: map[TopicID]int32{}}
		for range 8 {
			for range 1 + r.IntN(5) {
				s.Topics[topic(fmt.Sprint("t", r.IntN(8)))] = int32(r.IntN(12))
			}
			for range r.IntN(4) {
				id := fmt.Sprint("m", r.IntN(9))
				if r.IntN(4) == 0 {
					delete(s.Members, id)
					continue
				}
				m := s.Members[id]
				m.Topics = nil
				for name := range s.Topics {
					if seed%2 == 0 || r.IntN(2) == 0 {
						m.Topics = append(m.Topics, name)
					}
				}
				slices.SortFunc(m.Topics, CompareTopics)
				s.Members[id] = m
			}
			for _, a := range All() {
				got, again := a.Assign(s), a.Assign(s)
				check(t, s, got)
				if !maps.EqualFunc(got, again, Partitions.Equal) {
					t.Errorf("seed %d: %s answers %v and %v", seed, a.Name(), got, again)
				}
			}
			got := Uniform{}.Assign(s)
			checkLevel(t, s, got)
			for id, m := range s.Members {
				m.Assigned = got[id]
				s.Members[id] = m
			}
			if again := (Uniform{}).Assign(s); !maps.EqualFunc(got, again, Partitions.Equal) {
				t.Errorf("seed %d: the assignment moved though nothing changed: %v, %v", seed, got, again)
			}
			if t.Failed() {
				t.FailNow()
			}
		}
	}
}

func BenchmarkUniform(b *testing.B) {
	s := &Spec{Members: map[string]Member{}, Topics: map[TopicID]int32{}}
	var topics []TopicID
	for i := range 100 {
		id := topic(fmt.Sprint(i))
		topics = append(topics, id)
		s.Topics[id] = 100
	}
	slices.SortFunc(topics, CompareTopics)
	for i := range 500 {
		s.Members[fmt.Sprint(i)] = Member{Topics: topics}
	}
	for b.Loop() {
		Uniform{}.Assign(s)
	}
}
