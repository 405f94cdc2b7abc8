package metadata

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestImage plays the scripts of testdata/image. Commands:
//
//	apply rev=N     puts ("key value") and deletes ("-key"), one a line; prints the delta, or the error
//	image           prints the newest image
//	old             checks that no earlier image has changed since it was made
//
// $1 to $9 stand for topic ids.
func TestImage(t *testing.T) {
	datadriven.Walk(t, "testdata/image", func(t *testing.T, path string) {
		img := NewImage()
		history := map[*Image]string{img: dump(img)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "apply":
				var rev int
				d.ScanArgs(t, "rev", &rev)
				next, delta, err := img.Apply(Rev(rev), parseEvents(Rev(rev), d.Input, img))
				if err != nil {
					return fmt.Sprintf("error: %s\n", hideIDs(err.Error()))
				}
				checkDelta(t, img, next, delta)
				img = next
				history[img] = dump(img)
				return dumpDelta(delta)
			case "image":
				return dump(img)
			case "old":
				for old, was := range history {
					if now := dump(old); now != was {
						t.Errorf("image of revision %d changed from\n%s\nto\n%s", old.Rev(), was, now)
					}
				}
				return "unchanged\n"
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

// scriptID is the topic id that $n stands for.
func scriptID(n byte) TopicID { return TopicID{0: n, 15: 1} }

func showIDs(s string) string {
	for n := byte(1); n <= 9; n++ {
		s = strings.ReplaceAll(s, "$"+strconv.Itoa(int(n)), scriptID(n).String())
	}
	return s
}

func hideIDs(s string) string {
	for n := byte(1); n <= 9; n++ {
		s = strings.ReplaceAll(s, scriptID(n).String(), "$"+strconv.Itoa(int(n)))
	}
	return s
}

func parseEvents(rev Rev, input string, img *Image) []Event {
	var events []Event
	for line := range strings.Lines(showIDs(input)) {
		key, value, put := strings.Cut(strings.TrimSpace(line), " ")
		if !put {
			events = append(events, Event{Kind: EventDelete, KV: KV{Key: strings.TrimPrefix(key, "-"), ModRev: rev}})
			continue
		}
		create := rev
		if id, err := parseBrokerID(strings.TrimPrefix(key, brokersPrefix)); err == nil && img.regs[id].createRev != 0 {
			create = img.regs[id].createRev
		}
		events = append(events, Event{KV: KV{Key: key, Value: []byte(value), CreateRev: create, ModRev: rev}})
	}
	return events
}

// checkDelta compares the incremental delta with the one of a full comparison, and the totals with a count.
func checkDelta(t *testing.T, prev, next *Image, delta Delta) {
	t.Helper()
	whole := diff(prev, next)
	whole.Configs = nil // a full comparison cannot see a config that was deleted and put again
	partial := delta
	partial.Configs = nil
	if a, b := dumpDelta(partial), dumpDelta(whole); a != b {
		t.Errorf("delta is\n%s, but the images differ by\n%s", a, b)
	}
	partitions, replicas := 0, map[int32]int{}
	for topic := range next.Topics() {
		for i, p := range topic.Partitions {
			if int(p.Index) != i || p.Topic.Name != topic.Name || p.Topic.ID != topic.ID {
				t.Errorf("topic %s: partition %d is %+v", topic.Name, i, p)
			}
			partitions++
			for _, r := range p.Replicas {
				replicas[r]++
			}
		}
	}
	if partitions != next.PartitionCount() || !maps.Equal(replicas, next.replicas) {
		t.Errorf("counted %d partitions and replicas %v, image says %d and %v", partitions, replicas, next.PartitionCount(), next.replicas)
	}
}

func dump(img *Image) string {
	var b strings.Builder
	fmt.Fprintf(&b, "rev=%d cluster=%s topics=%d partitions=%d\n", img.Rev(), img.ClusterID(), img.TopicCount(), img.PartitionCount())
	for t := range img.Topics() {
		fmt.Fprintf(&b, "topic %s %s%s%s\n", t.Name, t.ID, flag(" internal", t.Internal), dumpConfig(t.Config))
		for _, p := range t.Partitions {
			fmt.Fprintf(&b, "  %s\n", dumpPartition(p))
		}
	}
	for _, r := range img.Brokers() {
		fmt.Fprintf(&b, "broker %s\n", dumpBroker(r))
	}
	for _, kind := range []ResourceType{BrokerResource, ClientMetricsResource, GroupResource} {
		for name := range img.Resources(kind) {
			fmt.Fprintf(&b, "config %s %q%s rev=%d\n", kind, name, dumpConfig(img.Config(kind, name)), img.ConfigRev(kind, name))
		}
	}
	for u := range img.Unfinished() {
		fmt.Fprintf(&b, "unfinished %s %s %q %d of %d\n", u.Name, u.ID, u.State, u.Partitions, u.Records)
	}
	for name, f := range img.floors.all() {
		epoch, own, all := img.EpochFloor(name)
		fmt.Fprintf(&b, "floor %s own=%d effective=%d revs=%d,%d\n", name, f.epoch, epoch, own, all)
	}
	return hideIDs(b.String())
}

func flag(name string, set bool) string {
	if set {
		return name
	}
	return ""
}

func dumpConfig(config map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(config)) {
		fmt.Fprintf(&b, " %s=%s", k, config[k])
	}
	return b.String()
}

func dumpPartition(p *Partition) string {
	return fmt.Sprintf("%d replicas=%v isr=%v leader=%d epoch=%d partition-epoch=%d", p.Index, p.Replicas, p.ISR, p.Leader, p.LeaderEpoch, p.PartitionEpoch)
}

func dumpBroker(r *Broker) string {
	return fmt.Sprintf("%d epoch=%d rack=%q endpoints=%v%s%s", r.ID, r.Epoch, r.Rack, r.Endpoints, flag(" fenced", r.Fenced), flag(" draining", r.Draining))
}

func dumpDelta(d Delta) string {
	var b strings.Builder
	for _, c := range d.Topics {
		switch {
		case c.Prev == nil:
			fmt.Fprintf(&b, "+topic %s %s%s\n", c.Next.Name, c.Next.ID, flag(" config", c.ConfigChanged))
		case c.Next == nil:
			fmt.Fprintf(&b, "-topic %s %s%s\n", c.Prev.Name, c.Prev.ID, flag(" config", c.ConfigChanged))
		default:
			fmt.Fprintf(&b, "~topic %s %s%s\n", c.Next.Name, c.Next.ID, flag(" config", c.ConfigChanged))
		}
		for _, p := range c.Partitions {
			switch {
			case p.Prev == nil:
				fmt.Fprintf(&b, "  +%s\n", dumpPartition(p.Next))
			case p.Next == nil:
				fmt.Fprintf(&b, "  -%s\n", dumpPartition(p.Prev))
			default:
				fmt.Fprintf(&b, "  ~%s\n", dumpPartition(p.Next))
			}
		}
	}
	for _, c := range d.Brokers {
		switch {
		case c.Prev == nil:
			fmt.Fprintf(&b, "+broker %s\n", dumpBroker(c.Next))
		case c.Next == nil:
			fmt.Fprintf(&b, "-broker %s\n", dumpBroker(c.Prev))
		default:
			fmt.Fprintf(&b, "~broker %s\n", dumpBroker(c.Next))
		}
	}
	for _, r := range d.Configs {
		fmt.Fprintf(&b, "~config %s %q\n", r.Type, r.Name)
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return hideIDs(b.String())
}
