package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/cmd/moldau/internal/exit"
)

// produceFlags say what `topic produce` reads and how it writes.
type produceFlags struct {
	format      string
	result      string
	file        string
	key         string
	headers     []string
	partition   int32
	partitioner string
	compression string
	acks        string
	tombstone   bool
	linger      time.Duration
	encode      []string
	encoding    encodeFlags
	registry    registryFlags
}

func newTopicProduce(a *app) *cobra.Command {
	f := produceFlags{registry: registryFlags{version: a.cluster.Version}, encoding: encodeFlags{key: schemaChoice{prefix: "key-"}}}
	cmd := &cobra.Command{
		Use:   "produce TOPIC",
		Short: "Write records to a topic, one for each line by default",
		Long: `Write records to a topic from standard input or a file.

The format says how records are cut out of the input:

  %v\n              each line is a value (the default)
  %k %v\n           each line is a key, a blank, and a value
  %k\t%h{%k=%v}\t%v\n, %V{big32}%v, %v{json}, %v{base64}\n, ...

%t topic, %k key, %v value, %h{...} headers, %p partition, %d time in ms; an
upper-case letter is the length of what its lower-case one reads.

With --encode, or a flag that names a schema, values or keys are JSON and are
encoded by a schema of the registry: that of --schema or --schema-file, or the
latest of the topic's subject. For Avro it is Avro's JSON encoding; a value of a
union may leave out the name of its branch where it fits one only.`,
		Example: `  echo hello | moldau topic produce greetings -k world
  moldau topic produce access --file access.log
  moldau topic produce orders -f '%k:%v\n' -z zstd < orders.txt
  echo '{"id":1}' | moldau topic produce orders --encode value
  moldau topic produce orders --schema-file order.proto --register --message shop.Order < orders.ndjson`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := f.options(cmd, a.cluster.Timeout)
			if err != nil {
				return err
			}
			in, closeInput, err := f.input(a.in)
			if err != nil {
				return err
			}
			defer closeInput()
			encode, err := a.recordEncoder(cmd, args[0], &f)
			if err != nil {
				return err
			}
			return a.withClient(cmd, func(ctx context.Context, cl *kgo.Client) error {
				return a.produce(ctx, cl, args[0], in, &f, encode, cmd)
			}, opts...)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.format, "format", "f", `%v\n`, "how records are cut out of the input")
	flags.StringVar(&f.result, "output-format", "", `print this for each record written, such as '%p %o\n'; the form of topic consume`)
	flags.StringVar(&f.file, "file", "", "read this file instead of standard input")
	flags.StringVarP(&f.key, "key", "k", "", "the key of every record")
	flags.StringArrayVarP(&f.headers, "header", "H", nil, "a header of every record, key:value; may be repeated")
	flags.Int32VarP(&f.partition, "partition", "p", -1, "the partition of every record; -1 to choose by key")
	flags.StringVar(&f.partitioner, "partitioner", "murmur2", "how a key chooses its partition: murmur2 as in Java, crc32 as in librdkafka, round-robin")
	flags.StringVarP(&f.compression, "compression", "z", "none", "none, gzip, snappy, lz4 or zstd")
	flags.StringVar(&f.acks, "acks", "all", "which replicas must have the records: all, 1 (the leader), 0 (nobody)")
	flags.BoolVarP(&f.tombstone, "tombstone", "Z", false, "an empty value is null: on a compacted topic it deletes the key")
	flags.DurationVar(&f.linger, "linger", 0, "how long a record may wait for others to share its batch")
	flags.StringSliceVar(&f.encode, "encode", nil, "encode by schema: value, key or both")
	f.encoding.bind(cmd)
	f.encoding.key.bind(cmd, "keys")
	flags.BoolVar(&f.encoding.header, "schema-header", false, "name the schema in a record header by its GUID instead of in front of the payload by its id")
	f.registry.bind(flags)
	must(cmd.RegisterFlagCompletionFunc("encode", cobra.FixedCompletions(partNames, cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("schema", f.registry.completeSubject(false)))
	must(cmd.RegisterFlagCompletionFunc("key-schema", f.registry.completeSubject(false)))
	must(cmd.RegisterFlagCompletionFunc("compression", cobra.FixedCompletions(codecNames(), cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("acks", cobra.FixedCompletions([]string{"all", "1", "0"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (f *produceFlags) options(cmd *cobra.Command, timeout time.Duration) ([]kgo.Opt, error) {
	codec, err := codec(f.compression)
	if err != nil {
		return nil, err
	}
	opts := []kgo.Opt{
		kgo.AllowAutoTopicCreation(),
		kgo.ProducerBatchCompression(codec...),
		kgo.ProducerLinger(f.linger),
		kgo.RecordDeliveryTimeout(max(timeout, time.Second)),
		kgo.UnknownTopicRetries(4),
	}
	acks, err := acksOptions(f.acks)
	if err != nil {
		return nil, err
	}
	opts = append(opts, acks...)
	switch {
	case cmd.Flags().Changed("partition") && f.partition >= 0, strings.Contains(f.format, "%p"):
		return append(opts, kgo.RecordPartitioner(kgo.ManualPartitioner())), nil
	case f.partitioner == "murmur2":
		return opts, nil
	case f.partitioner == "crc32":
		return append(opts, kgo.RecordPartitioner(kgo.StickyKeyPartitioner(crc))), nil
	case f.partitioner == "round-robin":
		return append(opts, kgo.RecordPartitioner(kgo.RoundRobinPartitioner())), nil
	}
	return nil, exit.Usagef("--partitioner %s: want murmur2, crc32 or round-robin", f.partitioner)
}

// codecs are the codecs by Kafka's names.
var codecs = []struct {
	name  string
	codec kgo.CompressionCodec
}{
	{"none", kgo.NoCompression()},
	{"gzip", kgo.GzipCompression()},
	{"snappy", kgo.SnappyCompression()},
	{"lz4", kgo.Lz4Compression()},
	{"zstd", kgo.ZstdCompression()},
}

func codecNames() []string {
	var out []string
	for _, c := range codecs {
		out = append(out, c.name)
	}
	return out
}

func codec(name string) ([]kgo.CompressionCodec, error) {
	for _, c := range codecs {
		if c.name == name {
			return []kgo.CompressionCodec{c.codec}, nil
		}
	}
	return nil, exit.Usagef("compression %s: want one of %s", name, strings.Join(codecNames(), ", "))
}

// acksOptions turns Kafka's acks into options; only acks=all can be idempotent.
func acksOptions(acks string) ([]kgo.Opt, error) {
	switch acks {
	case "all", "-1":
		return []kgo.Opt{kgo.RequiredAcks(kgo.AllISRAcks())}, nil
	case "1":
		return []kgo.Opt{kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite()}, nil
	case "0":
		return []kgo.Opt{kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite()}, nil
	}
	return nil, exit.Usagef("acks %s: want all, 1 or 0", acks)
}

func (f *produceFlags) input(stdin io.Reader) (io.Reader, func(), error) {
	if f.file == "" {
		return stdin, func() {}, nil
	}
	file, err := os.Open(f.file)
	if err != nil {
		return nil, nil, &exit.Error{Code: exit.Usage, Err: err}
	}
	return file, func() { _ = file.Close() }, nil // opened for reading
}

// delivery gathers the outcomes of records; callbacks come from the client's
// own goroutines.
type delivery struct {
	mu      sync.Mutex
	records int
	bytes   int64
	err     error
	result  *kgo.RecordFormatter
	out     io.Writer
	line    []byte
}

func (d *delivery) done(r *kgo.Record, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil && d.result != nil {
		d.line = d.result.AppendRecord(d.line[:0], r)
		_, err = d.out.Write(d.line)
	}
	if err != nil {
		if d.err == nil {
			d.err = fmt.Errorf("topic %s: %w", r.Topic, err)
		}
		return
	}
	d.records++
	d.bytes += int64(len(r.Key) + len(r.Value))
}

func (d *delivery) failed() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// produce reads records until the input ends, one fails, or ctx ends.
func (a *app) produce(ctx context.Context, cl *kgo.Client, topic string, in io.Reader, f *produceFlags, encode *recordEncoder, cmd *cobra.Command) error {
	if strings.HasSuffix(f.format, `\n`) {
		in = &lastLine{in: in}
	}
	reader, err := kgo.NewRecordReader(in, f.format)
	if err != nil {
		return exit.Usagef("--format %s: %w", f.format, err)
	}
	headers, err := parseHeaders(f.headers)
	if err != nil {
		return err
	}
	d := &delivery{out: a.out}
	if f.result != "" {
		if d.result, err = kgo.NewRecordFormatter(f.result); err != nil {
			return exit.Usagef("--output-format %s: %w", f.result, err)
		}
	}
	started := a.now()
	for d.failed() == nil && ctx.Err() == nil {
		r, err := reader.ReadRecord()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("record %d of the input: %w", d.count()+cl.BufferedProduceRecords()+1, err)
		}
		f.complete(r, topic, headers, cmd.Flags().Changed("key"))
		if err := encode.apply(r); err != nil {
			return fmt.Errorf("record %d of the input: %w", d.count()+cl.BufferedProduceRecords()+1, err)
		}
		cl.Produce(ctx, r, d.done)
	}
	if err := cl.Flush(ctx); err != nil {
		return err
	}
	if err := d.failed(); err != nil {
		return err
	}
	took := a.now().Sub(started)
	fmt.Fprintf(a.err, "%d records, %d bytes in %s\n", d.records, d.bytes, took.Round(time.Millisecond))
	return nil
}

func (d *delivery) count() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(d.records)
}

// complete gives a record what the flags say.
func (f *produceFlags) complete(r *kgo.Record, topic string, headers []kgo.RecordHeader, keyed bool) {
	if r.Topic == "" {
		r.Topic = topic
	}
	if keyed {
		r.Key = []byte(f.key)
	} else if len(r.Key) == 0 && !strings.Contains(f.format, "%k") {
		r.Key = nil
	}
	if f.partition >= 0 {
		r.Partition = f.partition
	}
	if f.tombstone && len(r.Value) == 0 {
		r.Value = nil
	} else if r.Value == nil {
		r.Value = []byte{}
	}
	r.Headers = slices.Concat(headers, r.Headers)
}

// parseHeaders reads key:value pairs.
func parseHeaders(pairs []string) ([]kgo.RecordHeader, error) {
	var out []kgo.RecordHeader
	for _, p := range pairs {
		key, value, ok := strings.Cut(p, ":")
		if !ok {
			return nil, exit.Usagef("--header %s: want key:value", p)
		}
		out = append(out, kgo.RecordHeader{Key: key, Value: []byte(value)})
	}
	return out, nil
}
