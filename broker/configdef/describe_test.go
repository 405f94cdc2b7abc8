package configdef

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// line writes an entry the way the expectations below do.
func line(e Entry) string {
	show := func(s *string) string {
		if s == nil {
			return "null"
		}
		return *s
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s=%s source %d", e.Name, show(e.Value), e.Source)
	if e.ReadOnly {
		b.WriteString(" read-only")
	}
	if e.Sensitive {
		b.WriteString(" sensitive")
	}
	for _, s := range e.Synonyms {
		fmt.Fprintf(&b, " [%s=%s %d]", s.Name, show(s.Value), s.Source)
	}
	return b.String()
}

func requireEntries(t *testing.T, entries []Entry, want ...string) {
	t.Helper()
	for _, w := range want {
		name, _, _ := strings.Cut(w, "=")
		i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == name })
		if i < 0 {
			t.Errorf("%s is missing", name)
		} else if got := line(entries[i]); got != w {
			t.Errorf("got  %s\nwant %s", got, w)
		}
	}
}

func TestDescribeTopic(t *testing.T) {
	layers := Layers{
		Broker:  map[string]string{"log.retention.ms": "1000"},
		Cluster: map[string]string{"log.retention.ms": "2000", "log.cleanup.policy": "delete"},
		Static:  map[string]string{"log.retention.hours": "24", "log.cleanup.policy": "compact, delete", "log.roll.hours": "12"},
	}
	entries := DescribeTopic(map[string]string{"max.message.bytes": " 77"}, layers)
	if len(entries) != len(TopicKeys())-1 {
		t.Errorf("%d entries", len(entries))
	}
	requireEntries(t, entries,
		"retention.ms=1000 source 2 [log.retention.ms=1000 2] [log.retention.ms=2000 3] [log.retention.hours=24 4] [log.retention.hours=168 5]",
		"cleanup.policy=delete source 3 [log.cleanup.policy=delete 3] [log.cleanup.policy=compact, delete 4] [log.cleanup.policy=delete 5]",
		"segment.ms=43200000 source 4 [log.roll.hours=12 4] [log.roll.hours=168 5]",
		"max.message.bytes=77 source 1 [max.message.bytes= 77 1] [message.max.bytes=1048588 5]",
		"remote.storage.enable=false source 5",
		"min.insync.replicas=1 source 5 [min.insync.replicas=1 5]",
	)
	for _, e := range entries {
		if e.ReadOnly || e.Sensitive || e.Type == 0 || e.Doc == "" {
			t.Errorf("%+v", e)
		}
	}
	requireEntries(t, DescribeTopic(map[string]string{"internal.segment.bytes": "9"}, Layers{}), "internal.segment.bytes=9 source 1 [internal.segment.bytes=9 1]")
}

func TestDescribeBroker(t *testing.T) {
	layers := Layers{
		Broker:  map[string]string{"log.retention.ms": "1000"},
		Cluster: map[string]string{"log.retention.ms": "2000"},
		Static:  map[string]string{"log.retention.hours": "24", "ssl.key.password": "secret", "num.partitions": "03"},
	}
	entries := DescribeBroker(layers)
	if len(entries) != len(BrokerKeys())+1 {
		t.Errorf("%d entries", len(entries))
	}
	requireEntries(t, entries,
		"log.retention.ms=1000 source 2 [log.retention.ms=1000 2] [log.retention.ms=2000 3] [log.retention.hours=24 4] [log.retention.hours=168 5]",
		"log.retention.hours=24 source 4 read-only [log.retention.hours=24 4] [log.retention.hours=168 5]",
		"log.retention.minutes=null source 5 read-only",
		"num.partitions=3 source 4 read-only [num.partitions=03 4] [num.partitions=1 5]",
		"message.max.bytes=1048588 source 5 [message.max.bytes=1048588 5]",
		"ssl.key.password=null source 4 read-only sensitive [ssl.key.password=null 4]",
	)
	if !slices.IsSortedFunc(entries, byName) {
		t.Error("not sorted")
	}
}

func TestDescribeClusterDefault(t *testing.T) {
	entries := DescribeClusterDefault(map[string]string{"log.retention.ms": "2000", "left.over": "x"})
	if len(entries) != 2 {
		t.Errorf("%d entries", len(entries))
	}
	requireEntries(t, entries, "log.retention.ms=2000 source 3 [log.retention.ms=2000 3]", "left.over=null source 3 sensitive [left.over=null 3]")
}

func TestDescribeClientMetrics(t *testing.T) {
	requireEntries(t, DescribeClientMetrics(map[string]string{"interval.ms": "1000"}),
		"interval.ms=1000 source 7 [interval.ms=1000 7]", "match= source 5", "metrics= source 5")
}

func TestFormatDouble(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0.0", 0.5: "0.5", 1: "1.0", 2.25: "2.25", 1e7: "1.0E7", 0.0001: "1.0E-4", 1.7976931348623157e308: "1.7976931348623157E308", 0.001: "0.001", -3: "-3.0",
	} {
		if got := formatDouble(f); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
}
