package serde

import (
	"net/http"
	"runtime"
	"time"

	"github.com/twmb/franz-go/pkg/sr"

	"moldau/registry/format"
	"moldau/registry/format/avro"
	"moldau/registry/format/jsonschema"
	"moldau/registry/format/protobuf"
)

// Serde turns JSON into payloads and payloads into JSON, by the schemas of one registry. It is safe for concurrent use.
type Serde struct {
	cfg       Config
	client    *sr.Client
	carrier   *http.Client // of the client
	formats   map[string]format.Format
	compiling chan struct{} // one place for each schema that is being compiled
	cache     *cache
}

// New makes a Serde. It asks the registry nothing before the first call that needs it.
func New(cfg Config) (*Serde, error) { return newSerde(cfg, time.Now) }

func newSerde(cfg Config, now func() time.Time) (*Serde, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	client, carrier, err := cfg.connect()
	if err != nil {
		return nil, err
	}
	s := &Serde{
		cfg: cfg, client: client, carrier: carrier, formats: map[string]format.Format{},
		compiling: make(chan struct{}, runtime.GOMAXPROCS(0)), cache: newCache(&cfg, now),
	}
	for _, f := range []format.Format{avro.New(cfg.Limits), protobuf.New(cfg.Limits), jsonschema.New(cfg.Limits)} {
		s.formats[f.Name()] = f
	}
	return s, nil
}

// Close closes the connections to the registry that are idle.
func (s *Serde) Close() { s.carrier.CloseIdleConnections() }
