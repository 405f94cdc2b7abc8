package registry

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"moldau/registry/catalog"
	"moldau/registry/format"
)

// Config is what an operator sets for the registry. The tag kafka holds the key, the tag doc the text of the reference
// page. Start from DefaultConfig and Validate.
type Config struct {
	Topic             string `kafka:"registry.topic" doc:"The topic that holds the schemas, in the form that Confluent's registry uses: one partition, compacted. It is made by the first write."`
	ModulesTopic      string `kafka:"registry.modules.topic" doc:"The topic that holds what buf pushes: modules, commits, labels and their files. One partition, compacted. It is made by the first push."`
	Group             string `kafka:"registry.group.id" doc:"The consumer group in which the replicas of the registry elect the one that writes."`
	AdvertisedURL     string `kafka:"registry.advertised.url" doc:"Where other replicas of the registry reach this one: http://host:port. Unset: the address it listens at."`
	ReplicationFactor int    `kafka:"registry.topic.replication.factor" doc:"The replication factor of the registry's topics when it makes them, as far as there are brokers."`
	Principal         string `kafka:"registry.principal" doc:"The principal for which the registry reads and writes its topics."`

	TokensFile  string `kafka:"registry.tokens.file" doc:"A file with the tokens that callers of the registry show: a user and a token on each line. Whoever shows none may only read public modules. Unset: everybody may do everything."`
	TLSCertFile string `kafka:"registry.tls.cert.file" doc:"The certificate, in PEM, with which the registry's door speaks TLS. Unset: no TLS."`
	TLSKeyFile  string `kafka:"registry.tls.key.file" doc:"The key of the certificate, in PEM."`
	TLSCAFile   string `kafka:"registry.tls.ca.file" doc:"The certificates, in PEM, of the authorities by which this replica knows the others when it forwards requests to them over TLS. Unset: those of the system."`

	AutoSubjects    string `kafka:"registry.buf.auto_subjects" doc:"Which messages of a pushed module become subjects without an option that says so: none, or record for one subject of each top-level message, named by its full name."`
	MaxPushBytes    int    `kafka:"registry.buf.max.push.bytes" doc:"The size of one push at most."`
	MaxModulesBytes int    `kafka:"registry.modules.max.bytes" doc:"The size of all that was pushed by buf, which every replica keeps in memory. Pushes that would exceed it are refused."`

	Level              string `kafka:"registry.compatibility.level" doc:"The compatibility level where none is set."`
	ValidateFields     bool   `kafka:"registry.validate.fields" doc:"Whether reserved field names are refused where no config says."`
	ValidateNewSchemas bool   `kafka:"registry.validate.new.schemas" doc:"Whether new schemas are held against the strict rules of their language where no config says."`
	MutableMode        bool   `kafka:"registry.mode.mutability" doc:"Whether modes may be changed."`

	MaxRequestBytes int           `kafka:"registry.max.request.bytes" doc:"The size of a request body at most; larger ones are answered 413. Bodies of more than 64 KiB wait for one another when they need more than 256 MiB of memory together."`
	MaxSchemaBytes  int           `kafka:"registry.max.schema.bytes" doc:"The size of a schema text at most."`
	MaxReferences   int           `kafka:"registry.max.references" doc:"The number of references of one schema at most, those of what it refers to not counted."`
	MaxCompiles     int           `kafka:"registry.max.compiles" doc:"The number of schemas that are parsed or compared at the same time at most; more wait. 0 for one per processor."`
	CacheBytes      int           `kafka:"registry.cache.bytes" doc:"The size of the schema texts whose parsed form is kept in memory."`
	SchemaLimit     int           `kafka:"registry.schema.search.max.limit" doc:"The number of schemas in one answer to a search at most."`
	WriteTimeout    time.Duration `kafka:"registry.write.timeout.ms" doc:"How long a write to the topic may take."`
	RequestTimeout  time.Duration `kafka:"registry.request.timeout.ms" doc:"How long a request may take, with waiting for an owner to be elected and for the topic to be loaded."`
	SessionTimeout  time.Duration `kafka:"registry.session.timeout.ms" doc:"After how long without a sign of life another replica takes over from the one that writes."`
	KeyLifetime     time.Duration `kafka:"registry.inter.replica.key.ttl.ms" doc:"How long a replica uses a key for signing the requests that it forwards."`

	// BootstrapServers are the brokers of a cluster that is not in this process.
	BootstrapServers []string `kafka:"-"`
	// Instance tells this replica from all others and outlives restarts. It may be empty.
	Instance string `kafka:"-"`
	// Version is told to clients.
	Version string `kafka:"-"`
}

// keyTopic holds the keys with which replicas sign what they forward.
const keyTopic = "__moldau_registry_keys"

// The values of Config.AutoSubjects.
const (
	AutoNone   = "none"
	AutoRecord = "record"
)

// DefaultConfig returns the defaults.
func DefaultConfig() Config {
	limits := format.DefaultLimits()
	return Config{
		Topic:              "_schemas",
		ModulesTopic:       "__moldau_modules",
		Group:              "schema-registry",
		ReplicationFactor:  3,
		Principal:          "User:registry",
		AutoSubjects:       AutoNone,
		MaxPushBytes:       16 << 20,
		MaxModulesBytes:    1 << 30,
		Level:              catalog.Backward,
		ValidateNewSchemas: true,
		MutableMode:        true,
		MaxRequestBytes:    10 << 20,
		MaxSchemaBytes:     limits.TextBytes,
		MaxReferences:      100,
		CacheBytes:         64 << 20,
		SchemaLimit:        1000,
		WriteTimeout:       10 * time.Second,
		RequestTimeout:     30 * time.Second,
		SessionTimeout:     10 * time.Second,
		KeyLifetime:        time.Hour,
		Version:            "dev",
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
	positive("registry.topic.replication.factor", int64(c.ReplicationFactor))
	positive("registry.buf.max.push.bytes", int64(c.MaxPushBytes))
	positive("registry.modules.max.bytes", int64(c.MaxModulesBytes))
	positive("registry.max.request.bytes", int64(c.MaxRequestBytes))
	positive("registry.max.schema.bytes", int64(c.MaxSchemaBytes))
	positive("registry.max.references", int64(c.MaxReferences))
	positive("registry.cache.bytes", int64(c.CacheBytes))
	positive("registry.schema.search.max.limit", int64(c.SchemaLimit))
	positive("registry.write.timeout.ms", c.WriteTimeout.Milliseconds())
	positive("registry.request.timeout.ms", c.RequestTimeout.Milliseconds())
	positive("registry.session.timeout.ms", c.SessionTimeout.Milliseconds())
	positive("registry.inter.replica.key.ttl.ms", c.KeyLifetime.Milliseconds())
	if c.MaxCompiles < 0 {
		errs = append(errs, fmt.Errorf("registry.max.compiles is %d, it must not be negative", c.MaxCompiles))
	}
	if level, ok := catalog.ParseLevel(c.Level); ok {
		c.Level = level
	} else {
		errs = append(errs, fmt.Errorf("registry.compatibility.level is %q, which is no level", c.Level))
	}
	if c.Topic == "" || c.ModulesTopic == "" || c.Group == "" || c.Principal == "" {
		errs = append(errs, errors.New("registry.topic, registry.modules.topic, registry.group.id and registry.principal must not be empty"))
	}
	if c.Topic == c.ModulesTopic {
		errs = append(errs, fmt.Errorf("registry.topic and registry.modules.topic are both %s", c.Topic))
	}
	if c.AutoSubjects != AutoNone && c.AutoSubjects != AutoRecord {
		errs = append(errs, fmt.Errorf("registry.buf.auto_subjects is %q, it must be %s or %s", c.AutoSubjects, AutoNone, AutoRecord))
	}
	if (c.TLSCertFile == "") != (c.TLSKeyFile == "") {
		errs = append(errs, errors.New("registry.tls.cert.file and registry.tls.key.file must be set together"))
	}
	if c.AdvertisedURL != "" {
		if u, err := url.Parse(c.AdvertisedURL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			errs = append(errs, fmt.Errorf("registry.advertised.url is %q; it must be http://host:port", c.AdvertisedURL))
		}
	}
	return errors.Join(errs...)
}

// Limits are the bounds of the schema languages.
func (c *Config) Limits() format.Limits {
	l := format.DefaultLimits()
	l.TextBytes = c.MaxSchemaBytes
	l.TotalBytes = max(l.TotalBytes, c.MaxSchemaBytes)
	return l
}
