package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/broker/record"
	"moldau/cmd/moldau/internal/exit"
	"moldau/gateway/producer"
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
union may leave out the name of its branch where it fits one only.

A record that the broker refuses is named by its number, with the reason. Those
that were read by then are still written, and nothing more is read.`,
		Example: `  echo hello | moldau topic produce greetings -k world
  moldau topic produce access --file access.log
  moldau topic produce orders -f '%k:%v\n' -z zstd < orders.txt
  echo '{"id":1}' | moldau topic produce orders --encode value
  moldau topic produce orders --schema-file order.proto --register --message shop.Order < orders.ndjson`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst,
		RunE: func(cmd *cobra.Command, args []string) error {
			how, opts, err := f.producer(cmd, a.cluster.Timeout)
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
				return a.produce(ctx, cl, how, args[0], in, &f, encode, cmd)
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

// producer returns how records are written, and the options of the client.
func (f *produceFlags) producer(cmd *cobra.Command, timeout time.Duration) (producer.Config, []kgo.Opt, error) {
	how := producer.Config{Linger: f.linger, Delivery: max(timeout, time.Second)}
	if _, err := codec(f.compression); err != nil {
		return how, nil, err
	}
	var err error
	if how.Codec, err = record.ParseCodec(f.compression); err != nil {
		return how, nil, err
	}
	opts, err := acksOptions(f.acks)
	if err != nil {
		return how, nil, err
	}
	switch f.acks {
	case "0":
	case "1":
		how.Acks = 1
	default:
		how.Acks = -1
	}
	switch {
	case cmd.Flags().Changed("partition") && f.partition >= 0, strings.Contains(f.format, "%p"):
		how.Partitioner = kgo.ManualPartitioner()
	case f.partitioner == "murmur2":
		how.Partitioner = kgo.StickyKeyPartitioner(nil)
	case f.partitioner == "crc32":
		how.Partitioner = kgo.StickyKeyPartitioner(crc)
	case f.partitioner == "round-robin":
		how.Partitioner = kgo.RoundRobinPartitioner()
	default:
		return how, nil, exit.Usagef("--partitioner %s: want murmur2, crc32 or round-robin", f.partitioner)
	}
	return how, opts, nil
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

// inputBuffer is how much is read of the input at a time.
const inputBuffer = 64 << 10

// produce reads records until the input ends, one fails, or ctx ends.
func (a *app) produce(ctx context.Context, cl *kgo.Client, how producer.Config, topic string, in io.Reader, f *produceFlags, encode *recordEncoder, cmd *cobra.Command) error {
	if strings.HasSuffix(f.format, `\n`) {
		in = &lastLine{in: in}
	}
	headers, err := parseHeaders(f.headers)
	if err != nil {
		return err
	}
	d, err := newDelivery(ctx, cl, how, f.result, a.out)
	if err != nil {
		return err
	}
	defer d.close()
	reader, err := kgo.NewRecordReader(bufio.NewReaderSize(&flushing{in, d.flush}, inputBuffer), f.format)
	if err != nil {
		return exit.Usagef("--format %s: %w", f.format, err)
	}
	started := a.now()
	read := func() error {
		r, err := reader.ReadRecord()
		if err != nil {
			return err
		}
		f.complete(r, topic, headers, cmd.Flags().Changed("key"))
		if err := encode.apply(r); err != nil {
			return err
		}
		return d.send(r)
	}
	for err == nil && d.wait(fullDelivery) && !d.failed() {
		err = read()
	}
	d.flush()
	if !d.wait(0) {
		return ctx.Err()
	}
	took := a.now().Sub(started)
	fmt.Fprintf(a.err, "%d records, %d bytes in %s\n", d.records, d.bytes, took.Round(time.Millisecond))
	switch {
	case err == nil:
		fmt.Fprintf(a.err, "the input was read up to record %d\n", d.read)
	case !errors.Is(err, io.EOF):
		return errors.Join(d.verdict(a.err), fmt.Errorf("record %d of the input: %w", d.read+1, err))
	}
	return d.verdict(a.err)
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
