package broker

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"moldau/broker/metadata"
	"moldau/broker/storage"
)

// Config is what an operator sets for the stateful part of a node. The tag kafka holds the key (Kafka's own where Kafka
// has one), the tag doc the text of the reference page; keys ending in .ms are milliseconds and become time.Duration.
// Start from DefaultConfig, fill DataDir or LogDirs, and Validate.
type Config struct {
	NodeID int32  `kafka:"node.id" doc:"The id of this broker in the cluster; broker.id is its older name."`
	Rack   string `kafka:"broker.rack" doc:"The rack or zone of this broker. Replicas are spread over racks, and consumers may read from a replica in their own."`

	DataDir     string   `kafka:"data.dir" doc:"The directory for everything that has no directory of its own: metadata in metadata/, logs in log/."`
	LogDirs     []string `kafka:"log.dirs" doc:"The directories for the logs of partitions, separated by commas. A new partition goes where the fewest are. Unset: data.dir/log."`
	MetadataDir string   `kafka:"metadata.log.dir" doc:"The directory for the metadata of the cluster. Unset: data.dir/metadata."`

	Durability   Durability `kafka:"durability" doc:"strict: records are acknowledged and visible once they are on disk. relaxed: once they are in the page cache of all replicas in sync, as Kafka does."`
	MinFreeBytes int64      `kafka:"log.dir.min.free.bytes" doc:"The free space that records leave on the file system of a log directory, so that topics can still be deleted and the broker can start. Past it producers are answered KAFKA_STORAGE_ERROR until there is space. 0 lets them fill it."`
	MaxOpenFiles int        `kafka:"max.open.files" doc:"How many segment and index files are held open at most; 0 takes it from the limit of the process."`

	AutoCreateTopics         bool  `kafka:"auto.create.topics.enable" doc:"Make a topic when a client asks for metadata of a name that isn't there."`
	NumPartitions            int32 `kafka:"num.partitions" doc:"The number of partitions of topics that are made without one."`
	DefaultReplicationFactor int16 `kafka:"default.replication.factor" doc:"The number of replicas of topics that are made without one."`
	DeleteTopics             bool  `kafka:"delete.topic.enable" doc:"Permit the deletion of topics."`
	MaxPartitions            int   `kafka:"max.partitions" doc:"The number of partitions that this broker holds at most; creations beyond it are refused."`
	MaxPartitionsPerRequest  int   `kafka:"max.partitions.per.create" doc:"The number of partitions that one request may create at most."`

	RetentionCheckInterval    time.Duration `kafka:"log.retention.check.interval.ms" doc:"How often logs are searched for segments that retention.ms or retention.bytes let go."`
	ProducerIDExpiration      time.Duration `kafka:"producer.id.expiration.ms" doc:"How long a partition remembers an idempotent producer that writes nothing."`
	ProducerIDExpirationCheck time.Duration `kafka:"producer.id.expiration.check.interval.ms" doc:"How often forgotten producers are searched for."`
	MaxDecompressedBatch      int           `kafka:"max.decompressed.batch.bytes" doc:"The size that a record batch may have when it is decompressed for validation; larger ones are refused. max.decompressed.message.bytes of a topic can only lower it."`
	FetchMaxBytes             int           `kafka:"fetch.max.bytes" doc:"The size of a Fetch response at most, whatever the client asks."`

	TelemetryMaxBytes    int `kafka:"telemetry.max.bytes" doc:"The size of a client's pushed metrics at most, as sent (KIP-714)."`
	MaxRequestPartitions int `kafka:"max.request.partition.size.limit" doc:"The number of partitions that one DescribeTopicPartitions answer holds at most."`

	Groups GroupConfig
	// Transactions is about transactions.
	Transactions TransactionConfig

	// Endpoints are the addresses that clients are told for this broker, one per listener.
	Endpoints []metadata.Endpoint
	// Properties holds every Kafka key that the operator set, by key and as given. Topic configs that a topic doesn't
	// set are taken from here (log.retention.ms for retention.ms, and so on), and DescribeConfigs reports it.
	Properties map[string]string
}

// Durability says when records count as committed.
type Durability string

// The durabilities.
const (
	Strict  Durability = "strict"  // when they are on disk
	Relaxed Durability = "relaxed" // when they are in the page cache, as in Apache Kafka
)

// DefaultConfig returns Kafka's defaults, and ours where Kafka has none.
func DefaultConfig() Config {
	return Config{
		NodeID:                    1,
		Durability:                Strict,
		MinFreeBytes:              14 << 20, // more than the metadata store wants to have free
		AutoCreateTopics:          true,
		NumPartitions:             1,
		DefaultReplicationFactor:  1,
		DeleteTopics:              true,
		MaxPartitions:             20_000,
		MaxPartitionsPerRequest:   10_000,
		RetentionCheckInterval:    5 * time.Minute,
		ProducerIDExpiration:      24 * time.Hour,
		ProducerIDExpirationCheck: 10 * time.Minute,
		MaxDecompressedBatch:      64 << 20,
		FetchMaxBytes:             55 << 20,
		TelemetryMaxBytes:         1 << 20,
		MaxRequestPartitions:      2000,
		Groups:                    defaultGroupConfig(),
		Transactions:              defaultTransactionConfig(),
	}
}

// Validate says everything that is wrong with c at once.
func (c *Config) Validate() error {
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	want(c.NodeID >= 0, "node.id is %d, it must not be negative", c.NodeID)
	want(c.DataDir != "" || len(c.LogDirs) > 0 && c.MetadataDir != "", "data.dir is not set, and log.dirs and metadata.log.dir are not both set")
	want(c.Durability == Strict || c.Durability == Relaxed, "durability is %q, it must be strict or relaxed", c.Durability)
	want(c.NumPartitions >= 1, "num.partitions is %d, it must be at least 1", c.NumPartitions)
	want(c.DefaultReplicationFactor >= 1, "default.replication.factor is %d, it must be at least 1", c.DefaultReplicationFactor)
	want(c.MaxPartitions >= 1, "max.partitions is %d, it must be at least 1", c.MaxPartitions)
	want(c.MaxPartitionsPerRequest >= 1, "max.partitions.per.create is %d, it must be at least 1", c.MaxPartitionsPerRequest)
	want(c.MaxOpenFiles >= 0, "max.open.files is %d, it must not be negative", c.MaxOpenFiles)
	want(c.MinFreeBytes >= 0, "log.dir.min.free.bytes is %d, it must not be negative", c.MinFreeBytes)
	want(c.MaxDecompressedBatch >= 1024, "max.decompressed.batch.bytes is %d, it must be at least 1024", c.MaxDecompressedBatch)
	want(c.FetchMaxBytes >= 1024, "fetch.max.bytes is %d, it must be at least 1024", c.FetchMaxBytes)
	want(c.TelemetryMaxBytes >= 1, "telemetry.max.bytes is %d, it must be at least 1", c.TelemetryMaxBytes)
	want(c.MaxRequestPartitions >= 1, "max.request.partition.size.limit is %d, it must be at least 1", c.MaxRequestPartitions)
	c.Groups.validate(want)
	c.Transactions.validate(want)
	for _, d := range []struct {
		key   string
		value time.Duration
	}{
		{"log.retention.check.interval.ms", c.RetentionCheckInterval},
		{"producer.id.expiration.ms", c.ProducerIDExpiration},
		{"producer.id.expiration.check.interval.ms", c.ProducerIDExpirationCheck},
	} {
		want(d.value >= time.Millisecond, "%s is %v, it must be at least 1 ms", d.key, d.value)
	}
	return errors.Join(errs...)
}

// logDirs returns the directories of the logs.
func (c *Config) logDirs() []string {
	if len(c.LogDirs) > 0 {
		return c.LogDirs
	}
	return []string{filepath.Join(c.DataDir, "log")}
}

// storageDurability returns the durability in the terms of the logs.
func (c *Config) storageDurability() storage.Durability {
	if c.Durability == Relaxed {
		return storage.Relaxed
	}
	return storage.Strict
}

// metadataDir returns the directory of the metadata.
func (c *Config) metadataDir() string {
	if c.MetadataDir != "" {
		return c.MetadataDir
	}
	return filepath.Join(c.DataDir, "metadata")
}
