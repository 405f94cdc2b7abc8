package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// mode is a type of a room's own, with a text form.
type mode int

func (m mode) MarshalText() ([]byte, error) { return []byte([]string{"strict", "relaxed"}[m]), nil }

func (m *mode) UnmarshalText(text []byte) error {
	switch string(text) {
	case "strict":
		*m = 0
	case "relaxed":
		*m = 1
	default:
		return fmt.Errorf("%q is neither strict nor relaxed", text)
	}
	return nil
}

type room struct {
	NodeID  int32         `kafka:"node.id" doc:"The id."`
	Rack    string        `kafka:"broker.rack"`
	Dirs    []string      `kafka:"log.dirs"`
	Auto    bool          `kafka:"auto.create.topics.enable"`
	Ratio   float64       `kafka:"ratio"`
	Check   time.Duration `kafka:"check.interval.ms"`
	Keep    time.Duration `kafka:"keep.hours"`
	Linger  time.Duration `kafka:"linger"`
	Max     uint16        `kafka:"max"`
	Mode    mode          `kafka:"durability"`
	Inner   inner
	Private map[string]string
}

type inner struct {
	Threads int `kafka:"num.io.threads"`
}

func defaults() room {
	return room{NodeID: 1, Auto: true, Ratio: 0.5, Check: 5 * time.Minute, Keep: 168 * time.Hour, Linger: time.Second, Inner: inner{8}}
}

func schemaOf(r *room) *Schema {
	s := NewSchema()
	s.Bind(r)
	s.Alias("broker.id", "node.id")
	s.Declare(Key{Name: "listeners", Default: "PLAINTEXT://:9092"})
	s.Declare(Key{Name: "offsets.topic.replication.factor", Default: "3"})
	AddKafkaKeys(s)
	return s
}

func TestPrecedence(t *testing.T) {
	file := write(t, "server.properties", "node.id=2\nbroker.rack=file\nlog.dirs=/a, /b\nnum.io.threads=3\n")
	got := defaults()
	settings, err := schemaOf(&got).Load(Inputs{
		File:    file,
		Environ: []string{"KAFKA_BROKER_RACK=kafka", "MOLDAU_NUM_IO_THREADS=4", "KAFKA_NUM_IO_THREADS=5", "PATH=/bin", "KAFKA_HEAP_OPTS=-Xmx1G"},
		Sets:    []string{"num.io.threads=6", "num.io.threads=7", "durability=relaxed"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := defaults()
	want.NodeID, want.Rack, want.Dirs, want.Inner.Threads, want.Mode = 2, "kafka", []string{"/a", "/b"}, 7, 1
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for key, want := range map[string]string{
		"node.id":           "file " + file + ":1",
		"broker.rack":       "environment KAFKA_BROKER_RACK",
		"num.io.threads":    "flag --set",
		"check.interval.ms": "default",
	} {
		if got := value(settings, key).Source.String(); got != want {
			t.Errorf("source of %s is %q, want %q", key, got, want)
		}
	}
	if v := value(settings, "check.interval.ms").Value; v != "300000" {
		t.Errorf("default of check.interval.ms is shown as %q", v)
	}
	if set := settings.Set(); len(set) != 5 || set["log.dirs"] != "/a, /b" {
		t.Errorf("Set() = %v", set)
	}
}

func TestTypes(t *testing.T) {
	got := defaults()
	_, err := schemaOf(&got).Load(Inputs{Sets: []string{
		"node.id= 9 ", "auto.create.topics.enable=FALSE", "ratio=0.25", "check.interval.ms=1500", "keep.hours=2",
		"linger=15ms", "max=65535", "log.dirs=", "broker.rack=a=b",
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := room{NodeID: 9, Rack: "a=b", Ratio: 0.25, Check: 1500 * time.Millisecond, Keep: 2 * time.Hour, Linger: 15 * time.Millisecond, Max: 65535, Inner: inner{8}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestLongestDuration: Kafka's Long.MAX_VALUE means never and must not overflow.
func TestLongestDuration(t *testing.T) {
	got := defaults()
	if _, err := schemaOf(&got).Load(Inputs{Sets: []string{"check.interval.ms=9223372036854775807"}}); err != nil {
		t.Fatal(err)
	}
	if got.Check != 1<<63-1 {
		t.Errorf("got %d", got.Check)
	}
}

// TestAllMistakesAtOnce: a start should not have to be tried once per mistake.
func TestAllMistakesAtOnce(t *testing.T) {
	got := defaults()
	_, err := schemaOf(&got).Load(Inputs{Sets: []string{
		"node.id=x", "max=70000", "auto.create.topics.enable=yes", "durability=lax", "num.io.treads=1", "nothing",
		"check.interval.ms=5s", "linger=5", "authorizer.class.name=org.Foo", "process.roles=controller",
	}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`node.id (flag --set): "x" is no number`,
		`max (flag --set): 70000 is out of range`,
		`auto.create.topics.enable (flag --set): "yes" is neither true nor false`,
		`durability (flag --set): "lax" is neither strict nor relaxed`,
		`num.io.treads (flag --set): unknown key; did you mean num.io.threads?`,
		`--set nothing: want key=value`,
		`check.interval.ms (flag --set): "5s" is no number`,
		`linger (flag --set): "5" is no duration such as 30s or 5m`,
		`authorizer.class.name (flag --set): "org.Foo" cannot be honoured`,
		`process.roles (flag --set): "controller" cannot be honoured`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing: %s\nin: %v", want, err)
		}
	}
}

// TestKafkasOwnFile loads the shape of the file that Kafka ships for a node
// that is broker and controller.
func TestKafkasOwnFile(t *testing.T) {
	file := write(t, "server.properties", `
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
controller.listener.names=CONTROLLER
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
zookeeper.connect=localhost:2181
log.dirs=/tmp/kraft-combined-logs
log.retenton.ms=1
`)
	got := defaults()
	settings, err := schemaOf(&got).Load(Inputs{File: file})
	if err != nil {
		t.Fatal(err)
	}
	if len(settings.Unknown()) != 1 || !strings.Contains(settings.Unknown()[0], "log.retenton.ms") {
		t.Errorf("unknown: %q", settings.Unknown())
	}
	for _, key := range []string{"zookeeper.connect", "num.network.threads", "share.coordinator.state.topic.replication.factor", "process.roles"} {
		if !slices.Contains(settings.WithoutEffect(), key) {
			t.Errorf("%s is not reported as without effect: %q", key, settings.WithoutEffect())
		}
	}
	if _, set := settings.Set()["zookeeper.connect"]; set {
		t.Error("an ignored key is part of the static configuration")
	}
}

func TestEnvironmentNames(t *testing.T) {
	for variable, want := range map[string]string{
		"LOG_RETENTION_MS":                 "log.retention.ms",
		"LISTENER_NAME_INTERNAL_SSL___X":   "listener.name.internal.ssl-x",
		"A__B":                             "a_b",
		"A____B":                           "a-.b",
		"NODE_ID":                          "node.id",
		"ADVERTISED_LISTENERS":             "advertised.listeners",
		"GROUP_INITIAL_REBALANCE_DELAY_MS": "group.initial.rebalance.delay.ms",
	} {
		if got := keyOfVariable(variable); got != want {
			t.Errorf("%s: got %s, want %s", variable, got, want)
		}
	}
}

func TestSecretsAreHidden(t *testing.T) {
	s := NewSchema()
	s.Declare(Key{Name: "ssl.keystore.password"})
	settings, err := s.Load(Inputs{Sets: []string{"ssl.keystore.password=hunter2"}})
	if err != nil {
		t.Fatal(err)
	}
	if v := settings.Values()[0].Value; v != "[hidden]" {
		t.Errorf("shown as %q", v)
	}
	if settings.Text("ssl.keystore.password") != "hunter2" {
		t.Error("the value itself is lost")
	}
}

func TestFileErrors(t *testing.T) {
	big := write(t, "big.properties", strings.Repeat("# comment\n", maxFileSize/10+1))
	for name, path := range map[string]string{
		"missing":     filepath.Join(t.TempDir(), "none"),
		"a directory": t.TempDir(),
		"too large":   big,
		"broken":      write(t, "x.yaml", "a: ["),
	} {
		if _, err := NewSchema().Load(Inputs{File: path}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want an error that names the file", name, err)
		}
	}
}

func TestBindPanicsOnMistakes(t *testing.T) {
	for name, bind := range map[string]func(*Schema){
		"twice": func(s *Schema) { s.Bind(&inner{}); s.Bind(&inner{}) },
		"wrong type": func(s *Schema) {
			s.Bind(&struct {
				C chan int `kafka:"c"`
			}{})
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			bind(NewSchema())
		}()
	}
}

func TestNearest(t *testing.T) {
	known := []string{"listeners", "log.dirs", "log.retention.ms", "num.partitions", "http.listen"}
	for name, want := range map[string]string{
		"listener":          "listeners",
		"lsiteners":         "listeners",
		"log.retention.mss": "log.retention.ms",
		"num.partition":     "num.partitions",
		"http.listne":       "http.listen",
		"completely.other":  "",
		"x":                 "",
		"":                  "",
	} {
		if got := nearest(name, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

func value(s *Settings, key string) Value {
	for _, v := range s.Values() {
		if v.Key == key {
			return v
		}
	}
	return Value{}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
