package client

import (
	"cmp"
	"os"
	"time"

	"github.com/spf13/pflag"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/internal/config"
)

// Variable is the environment variable that names the brokers.
const Variable = "MOLDAU_BROKERS"

// Flags say which cluster to talk to, and how.
type Flags struct {
	Version string // of this program, for the brokers to know
	Brokers []string
	Config  string
	Sets    []string
	Timeout time.Duration
}

// Bind adds the flags to a command.
func (f *Flags) Bind(flags *pflag.FlagSet) {
	flags.StringSliceVarP(&f.Brokers, "brokers", "b", nil, "brokers to start from, host:port, separated by commas (default $"+Variable+" or localhost:9092)")
	flags.StringVar(&f.Config, "client-config", "", "a Kafka client properties file: security.protocol, sasl.*, ssl.*")
	flags.StringArrayVarP(&f.Sets, "client-set", "X", nil, "one client property, key=value; may be repeated")
	flags.DurationVar(&f.Timeout, "timeout", 10*time.Second, "how long to wait for the cluster to answer")
}

// brokers returns the addresses to start from.
func (f *Flags) brokers(p *properties) []string {
	switch {
	case len(f.Brokers) > 0:
		return f.Brokers
	case len(p.Bootstrap) > 0:
		return p.Bootstrap
	}
	if list := os.Getenv(Variable); list != "" {
		return splitAddresses(list)
	}
	return []string{"localhost:9092"}
}

// Connect returns a client, with options of the command's own after those of
// the flags. No connection is made yet.
func (f *Flags) Connect(extra ...kgo.Opt) (*kgo.Client, error) {
	p := properties{ClientID: "moldau"}
	schema := config.NewSchema()
	schema.Bind(&p)
	schema.Alias("sasl.mechanisms", "sasl.mechanism")
	schema.Alias("metadata.broker.list", "bootstrap.servers")
	// A properties file of a producer or consumer holds keys that say nothing
	// about how to reach the cluster; those are left alone.
	if _, err := schema.Load(config.Inputs{File: f.Config, Sets: f.Sets}); err != nil {
		return nil, usage(err)
	}
	opts, err := p.options(cmp.Or(f.Version, "dev"))
	if err != nil {
		return nil, usage(err)
	}
	opts = append(opts,
		kgo.SeedBrokers(f.brokers(&p)...),
		kgo.RequestRetries(5),
		kgo.RetryTimeout(f.Timeout),
		kgo.RequestTimeoutOverhead(f.Timeout),
		kgo.DialTimeout(min(f.Timeout, 10*time.Second)),
	)
	cl, err := kgo.NewClient(append(opts, extra...)...)
	if err != nil {
		return nil, usage(err)
	}
	return cl, nil
}
