package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"moldau/broker"
	"moldau/broker/configdef"
	"moldau/broker/kafka"
	"moldau/gateway"
	"moldau/internal/config"
	"moldau/internal/telemetry"
	"moldau/registry"
)

// doorKeys are the keys of the doors other than Kafka's own.
type doorKeys struct {
	HTTP     string `kafka:"http.listen" doc:"Where HTTP listens: REST, /metrics, /metrics/lag, /livez, /readyz. host:port, :port for loopback, port 0 for a free one, off for none."`
	GRPC     string `kafka:"grpc.listen" doc:"Where gRPC listens, as http.listen."`
	Registry string `kafka:"registry.listen" doc:"Where the schema registry listens, as http.listen."`
	Proxy    string `kafka:"rest.proxy.listen" doc:"Where the REST Proxy protocol will be served; nothing listens yet."`
	Connect  string `kafka:"connect.listen" doc:"Where the Connect REST API will be served; nothing listens yet."`
	Peer     string `kafka:"peer.listen" doc:"Where the brokers of a cluster will find each other; nothing listens yet."`
}

// address pairs the key of a door with its parsed address.
type address struct {
	key, text string
	built     bool
}

func (d *doorKeys) all() []address {
	return []address{
		{"http.listen", d.HTTP, true},
		{"grpc.listen", d.GRPC, true},
		{"registry.listen", d.Registry, true},
		{"rest.proxy.listen", d.Proxy, false},
		{"connect.listen", d.Connect, false},
		{"peer.listen", d.Peer, false},
	}
}

// settings is everything an operator can set, merged and checked.
type settings struct {
	broker    broker.Config
	kafka     kafka.Config
	gateway   gateway.Config
	registry  registry.Config
	log       telemetry.LogConfig
	metrics   telemetry.MetricsConfig
	keys      doorKeys
	listeners []config.Listener
	doors     map[string]config.Address // by key, of the doors that exist
	report    *config.Settings
}

// Check merges the inputs and reports every key. The error names all mistakes;
// the report may be nil when the inputs could not be read at all.
func Check(in config.Inputs, insecure bool) (*config.Settings, error) {
	s, err := load(in, insecure)
	if s == nil {
		return nil, err
	}
	return s.report, err
}

// SettingsError is what a start with wrong settings fails with.
type SettingsError struct{ error }

// Unwrap returns the cause.
func (e SettingsError) Unwrap() error { return e.error }

// load merges the inputs over the defaults. On an error the settings that were
// readable are returned with it.
func load(in config.Inputs, insecure bool) (*settings, error) {
	s := &settings{
		broker:   broker.DefaultConfig(),
		kafka:    kafka.DefaultConfig(),
		gateway:  gateway.DefaultConfig(),
		registry: registry.DefaultConfig(),
		log:      telemetry.DefaultLogConfig(),
		metrics:  telemetry.DefaultMetricsConfig(),
		keys: doorKeys{
			HTTP: "localhost:8080", GRPC: "localhost:8090", Registry: "localhost:8081",
			Proxy: "localhost:8082", Connect: "localhost:8083", Peer: "localhost:9093",
		},
	}
	dir, err := defaultDataDir()
	if err != nil {
		return nil, err
	}
	s.broker.DataDir = dir
	report, err := s.schema().Load(in)
	s.report = report
	if err != nil {
		return s, err
	}
	s.broker.Properties = s.properties()
	if s.broker.DataDir, err = filepath.Abs(s.broker.DataDir); err != nil {
		return s, fmt.Errorf("data.dir: %w", err)
	}
	err = errors.Join(s.parseListeners(), s.parseDoors(), s.broker.Validate(), s.kafka.Validate(), s.gateway.Validate(), s.registry.Validate(), s.metrics.Validate())
	if err == nil && !insecure {
		err = config.CheckExposure(s.listeners, s.doors)
	}
	return s, err
}

// schema gathers the keys of all rooms.
func (s *settings) schema() *config.Schema {
	c := config.NewSchema()
	c.Bind(&s.broker)
	c.Bind(&s.kafka)
	c.Bind(&s.gateway)
	c.Bind(&s.registry)
	c.Bind(&s.log)
	c.Bind(&s.metrics)
	c.Bind(&s.keys)
	c.Alias("broker.id", "node.id")
	c.Alias("log.dir", "log.dirs")
	c.Declare(config.Key{Name: "listeners", Default: "PLAINTEXT://localhost:9092", Doc: "Where Kafka clients connect: NAME://host:port, separated by commas; without a host loopback, port 0 for a free one, off for none."})
	c.Declare(config.Key{Name: "advertised.listeners", Doc: "What clients are told to connect to, where that is not what listeners says."})
	c.Declare(config.Key{Name: "listener.security.protocol.map", Doc: "The security protocol of listener names of your own: NAME:PROTOCOL, separated by commas."})
	c.Declare(config.Key{Name: "controller.listener.names", Doc: "Listeners of Kafka's controllers. There are none here, and these are left out."})
	c.Declare(config.Key{Name: "inter.broker.listener.name", Doc: "The listener that brokers would use among each other; it must be one of listeners."})
	for _, k := range configdef.BrokerKeys() {
		if !c.Known(k.Name) {
			c.Declare(config.Key{Name: k.Name, Default: k.Default, Doc: k.Doc, Check: func(text string) error {
				_, err := k.Parse(text)
				return err
			}})
		}
	}
	config.AddKafkaKeys(c)
	return c
}

// properties are the keys that were set and are the broker's business: all but
// those of the parts beside it.
func (s *settings) properties() map[string]string {
	set := s.report.Set()
	for _, part := range []any{&s.gateway, &s.registry, &s.log, &s.keys} {
		for _, key := range config.Keys(part) {
			delete(set, key)
		}
	}
	return set
}

// existing are the security protocols that a listener can have in this build.
var existing = map[string]bool{"PLAINTEXT": true}

func (s *settings) parseListeners() error {
	ls, err := config.ParseListeners(config.ListenerTexts{
		Listeners:   s.report.Text("listeners"),
		Advertised:  s.report.Text("advertised.listeners"),
		ProtocolMap: s.report.Text("listener.security.protocol.map"),
		Controllers: s.report.Text("controller.listener.names"),
	})
	if err != nil {
		return err
	}
	inter, found := s.report.Text("inter.broker.listener.name"), false
	for _, l := range ls {
		if !existing[l.Protocol] {
			return fmt.Errorf("listener %s wants %s, and this build has PLAINTEXT only", l.Name, l.Protocol)
		}
		found = found || l.Name == inter
	}
	if inter != "" && !found {
		return fmt.Errorf("inter.broker.listener.name is %s, which is not among listeners", inter)
	}
	s.listeners = ls
	return nil
}

func (s *settings) parseDoors() error {
	s.doors = map[string]config.Address{}
	var errs []error
	for _, d := range s.keys.all() {
		a, err := config.ParseAddress(d.text)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", d.key, err))
			continue
		}
		if d.built {
			s.doors[d.key] = a
		}
	}
	return errors.Join(errs...)
}

// defaultDataDir is the place for state of the user's own.
func defaultDataDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "moldau"), nil
	}
	if dir := os.Getenv("LOCALAPPDATA"); runtime.GOOS == "windows" && filepath.IsAbs(dir) {
		return filepath.Join(dir, "moldau"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no data directory: neither --data-dir nor XDG_STATE_HOME is set, and %w", err)
	}
	return filepath.Join(home, ".local", "state", "moldau"), nil
}
