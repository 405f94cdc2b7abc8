package configdef

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// own lists where this broker's own default or bounds differ from Kafka's on purpose.
var own = map[string]string{
	"internal.segment.bytes":                         "Kafka takes any number, its log then fails",
	"node.id":                                        "one node needs no id from its operator",
	"broker.id":                                      "follows node.id",
	"default.replication.factor":                     "Kafka finds out about 0 when a topic is made",
	"listeners":                                      "loopback unless told otherwise",
	"log.dir":                                        "log/ in data.dir",
	"log.retention.ms":                               "Kafka refuses 0 elsewhere",
	"log.retention.minutes":                          "likewise",
	"log.retention.hours":                            "likewise",
	"log.roll.ms":                                    "the topic config's bounds hold for its default too",
	"log.roll.jitter.ms":                             "likewise",
	"log.flush.interval.ms":                          "likewise",
	"connections.max.idle.ms":                        "a lower bound of 1 s",
	"max.connections":                                "0 takes it from the limit of open files",
	"max.connections.per.ip":                         "0 is no limit",
	"max.connection.creation.rate":                   "0 is no limit",
	"queued.max.request.bytes":                       "0 takes it from the memory",
	"socket.request.max.bytes":                       "a lower bound of 1 KiB",
	"producer.id.expiration.check.interval.ms":       "shown, which Kafka keeps to itself",
	"group.initial.rebalance.delay.ms":               "a lone consumer starts at once",
	"group.consumer.assignors":                       "custom classes of Java cannot run here",
	"follower.replication.throttled.rate":            "among Kafka's quotas",
	"leader.replication.throttled.rate":              "among Kafka's quotas",
	"replica.alter.log.dirs.io.max.bytes.per.second": "among Kafka's quotas",
}

// TestKeysAreKafkas compares the tables with a dump of those of Apache Kafka 4.4.0: name, type, default, importance,
// permitted values and synonym of every config of topics and client metrics, and of the broker configs that we know.
func TestKeysAreKafkas(t *testing.T) {
	tables := map[string]*table{"topic": topicTable(), "client-metrics": clientMetricsTable(), "broker": brokerTable()}
	seen := map[string]map[string]bool{"topic": {}, "client-metrics": {}, "broker": {}}
	f, err := os.Open("testdata/kafka-4.4.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // read only
	for s := bufio.NewScanner(f); s.Scan(); {
		c := strings.Split(s.Text(), "\t")
		if len(c) != 8 {
			t.Fatalf("line %q", s.Text())
		}
		resource, name := c[0], c[1]
		seen[resource][name] = true
		k, ok := tables[resource].find(name)
		if !ok {
			if resource != "broker" {
				t.Errorf("%s config %s is missing", resource, name)
			}
			continue
		}
		if k.Own {
			t.Errorf("%s is marked as our own", name)
		}
		def, valid, synonym := k.Default, "", ""
		if k.NoDefault {
			def = "<null>"
		}
		if k.Valid != nil {
			valid = k.Valid.String()
		}
		if len(k.Synonyms) > 0 {
			synonym = k.Synonyms[0].Name
		}
		got := strings.Join([]string{resource, name, k.Type.String(), def, k.Importance.String(), valid, map[bool]string{true: "true", false: "false"}[k.Internal], synonym}, "\t")
		if _, differs := own[name]; got != s.Text() && !differs {
			t.Errorf("ours  %s\nKafka %s", got, s.Text())
		}
	}
	for resource, table := range tables {
		for _, k := range table.keys {
			if !seen[resource][k.Name] && !k.Own && own[k.Name] == "" {
				t.Errorf("Kafka has no %s config %s", resource, k.Name)
			}
		}
	}
}

func TestKeysAreWhole(t *testing.T) {
	for resource, table := range map[string]*table{"topic": topicTable(), "client-metrics": clientMetricsTable(), "broker": brokerTable()} {
		last := ""
		for _, k := range table.keys {
			if k.Name <= last {
				t.Errorf("%s: %s stands after %s", resource, k.Name, last)
			}
			last = k.Name
			if (k.Status == Honoured) != (k.Reason == "") {
				t.Errorf("%s: status %v with reason %q", k.Name, k.Status, k.Reason)
			}
			if len(k.Doc) < 20 || !strings.HasSuffix(k.Doc, ".") {
				t.Errorf("%s: documentation %q", k.Name, k.Doc)
			}
			if k.NoDefault {
				continue
			}
			if v, err := k.Parse(k.Default); err != nil || v.String() != k.Default {
				t.Errorf("%s: default %q reads as %q, %v", k.Name, k.Default, v, err)
			}
			for _, s := range k.Synonyms {
				if _, ok := BrokerKey(s.Name); !ok {
					t.Errorf("%s falls back to %s, which isn't there", k.Name, s.Name)
				}
			}
		}
	}
}
