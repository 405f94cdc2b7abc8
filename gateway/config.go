package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Config is what an operator sets for the gateway. The tag kafka holds the key, the tag doc the text of the reference
// page. Start from DefaultConfig and Validate.
type Config struct {
	BootstrapServers []string `kafka:"bootstrap.servers" doc:"The Kafka brokers that the gateway is a client of, when they are not in the same process."`
	Principal        string   `kafka:"gateway.principal" doc:"The principal for which the gateway acts when the caller has none."`

	MaxRequestBytes  int   `kafka:"gateway.max.request.bytes" doc:"The size of a request body at most; larger ones are answered 413."`
	MaxRecords       int   `kafka:"gateway.max.records" doc:"The number of records in one request at most."`
	MaxInflightBytes int64 `kafka:"gateway.max.inflight.bytes" doc:"The memory for requests in flight, all together; requests beyond it are answered 429."`
	MaxGRPCBytes     int   `kafka:"grpc.max.message.bytes" doc:"The size of a gRPC message at most."`
	MaxGRPCStreams   int   `kafka:"grpc.max.streams.per.connection" doc:"The number of calls that one gRPC connection may have open at a time."`
	MaxWaiting       int   `kafka:"gateway.max.waiting" doc:"The number of reads and streams that may wait for records at a time; each has a connection to the broker."`
	MaxClients       int   `kafka:"gateway.max.clients" doc:"The number of principals that the gateway acts for at a time."`

	ClientIdle      time.Duration `kafka:"gateway.client.idle.ms" doc:"How long the connections of a principal are kept after its last call."`
	DeliveryTimeout time.Duration `kafka:"gateway.delivery.timeout.ms" doc:"How long a record may take until it is acknowledged, retries included."`
	Linger          time.Duration `kafka:"gateway.linger.ms" doc:"How long a record waits for others to share its batch. At 0 records share a batch when they come while another is under way."`
	MaxWait         time.Duration `kafka:"gateway.max.wait.ms" doc:"How long a read may wait for records at most."`

	CursorSecret string   `kafka:"gateway.cursor.secret" doc:"The secret that cursors are signed with; gateways that share a load balancer need the same. Unset: made from the id of the cluster, which keeps cursors valid over restarts and detects damage, but not forgery."`
	CORSOrigins  []string `kafka:"gateway.cors.origins" doc:"The origins from which browsers may call the HTTP API, separated by commas; * for every one. None by default."`

	RegistryURLs     []string `kafka:"gateway.registry.url" doc:"The schema registry by which keys and values are encoded and decoded, separated by commas for replicas; its path may end in /contexts/.name. Unset: the one in this process, if there is one."`
	RegistryUser     string   `kafka:"gateway.registry.user" doc:"The user with whose password the gateway asks the registry."`
	RegistryPassword string   `kafka:"gateway.registry.password" doc:"The password of that user."`
	RegistryToken    string   `kafka:"gateway.registry.bearer.secret" doc:"The bearer token with which the gateway asks the registry, instead of a user."`

	// RegistryTransport carries requests to the registry in this process. It counts only where RegistryURLs are unset.
	RegistryTransport http.RoundTripper `kafka:"-"`

	// Version is told to the broker as the version of the client.
	Version string `kafka:"-"`
}

// DefaultConfig returns the defaults.
func DefaultConfig() Config {
	return Config{
		Principal:        "User:ANONYMOUS",
		MaxRequestBytes:  10 << 20,
		MaxRecords:       10_000,
		MaxInflightBytes: 256 << 20,
		MaxGRPCBytes:     4 << 20,
		MaxGRPCStreams:   250,
		MaxWaiting:       1_000,
		MaxClients:       200,
		ClientIdle:       5 * time.Minute,
		DeliveryTimeout:  30 * time.Second,
		MaxWait:          time.Minute,
		Version:          "dev",
	}
}

// Validate tells what is wrong with c.
func (c *Config) Validate() error {
	var errs []error
	positive := func(key string, n int64) {
		if n <= 0 {
			errs = append(errs, fmt.Errorf("%s is %d, it must be positive", key, n))
		}
	}
	positive("gateway.max.request.bytes", int64(c.MaxRequestBytes))
	positive("gateway.max.records", int64(c.MaxRecords))
	positive("gateway.max.inflight.bytes", c.MaxInflightBytes)
	positive("grpc.max.message.bytes", int64(c.MaxGRPCBytes))
	positive("grpc.max.streams.per.connection", int64(c.MaxGRPCStreams))
	positive("gateway.max.waiting", int64(c.MaxWaiting))
	positive("gateway.max.clients", int64(c.MaxClients))
	positive("gateway.client.idle.ms", c.ClientIdle.Milliseconds())
	positive("gateway.delivery.timeout.ms", c.DeliveryTimeout.Milliseconds())
	positive("gateway.max.wait.ms", c.MaxWait.Milliseconds())
	if c.Linger < 0 {
		errs = append(errs, fmt.Errorf("gateway.linger.ms is %v, it must not be negative", c.Linger))
	}
	if c.Linger >= c.DeliveryTimeout {
		errs = append(errs, errors.New("gateway.linger.ms must be less than gateway.delivery.timeout.ms"))
	}
	if c.RegistryUser != "" && c.RegistryToken != "" {
		errs = append(errs, errors.New("gateway.registry.user and gateway.registry.bearer.secret are both set"))
	}
	if c.Principal == "" {
		errs = append(errs, errors.New("gateway.principal must not be empty"))
	}
	if int64(c.MaxRequestBytes) > c.MaxInflightBytes {
		errs = append(errs, errors.New("gateway.max.request.bytes must not exceed gateway.max.inflight.bytes"))
	}
	return errors.Join(errs...)
}
