package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/cmd/moldau/internal/exit"
	"moldau/cmd/moldau/internal/load"
	"moldau/internal/config"
)

func newBench(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure producing, consuming and the way from end to end",
	}
	a.withCluster(cmd)
	cmd.AddCommand(newBenchProduce(a), newBenchConsume(a), newBenchE2E(a))
	return cmd
}

// benchFlags are what the commands that write have in common. The names are
// those of kafka-producer-perf-test where it has the flag.
type benchFlags struct {
	records    int64
	size       int
	payload    string
	delimiter  string
	props      []string
	partitions int32
	replicas   int16
}

func (f *benchFlags) bind(cmd *cobra.Command, records int64) {
	flags := cmd.Flags()
	flags.Int64Var(&f.records, "num-records", records, "how many records to write")
	flags.IntVar(&f.size, "record-size", 100, "the size of a record's value in bytes")
	flags.StringVar(&f.payload, "payload-file", "", "take the values from this file, again and again, instead of random bytes")
	flags.StringVar(&f.delimiter, "payload-delimiter", `\n`, "what separates values in the payload file")
	flags.StringArrayVar(&f.props, "producer-props", nil, "acks, compression.type, linger.ms, batch.size, enable.idempotence: key=value; may be repeated")
	flags.Int32Var(&f.partitions, "partitions", -1, "the partitions of the topic, when it has to be made")
	flags.Int16Var(&f.replicas, "replicas", -1, "the replicas of the topic, when it has to be made")
}

// producerProps are the keys of Kafka's producer that --producer-props takes,
// with that producer's defaults.
type producerProps struct {
	Acks        string        `kafka:"acks"`
	Compression string        `kafka:"compression.type"`
	Linger      time.Duration `kafka:"linger.ms"`
	BatchSize   int32         `kafka:"batch.size"`
	Idempotence bool          `kafka:"enable.idempotence"`
}

func (f *benchFlags) producer() (producerProps, []kgo.Opt, error) {
	p := producerProps{Acks: "all", Compression: "none", Linger: 5 * time.Millisecond, BatchSize: 16384, Idempotence: true}
	s := config.NewSchema()
	s.Bind(&p)
	var pairs []string
	for _, text := range f.props {
		pairs = append(pairs, splitPairs(text)...)
	}
	if _, err := s.Load(config.Inputs{Sets: pairs}); err != nil {
		return p, nil, exit.Usagef("--producer-props: %w", err)
	}
	c, err := codec(p.Compression)
	if err != nil {
		return p, nil, err
	}
	opts, err := acksOptions(p.Acks)
	if err != nil {
		return p, nil, err
	}
	if !p.Idempotence {
		opts = append(opts, kgo.DisableIdempotentWrite())
	}
	if p.BatchSize < 512 {
		return p, nil, exit.Usagef("--producer-props: batch.size must be at least 512")
	}
	return p, append(opts, kgo.ProducerBatchCompression(c...), kgo.ProducerLinger(p.Linger), kgo.ProducerBatchMaxBytes(p.BatchSize)), nil
}

// splitPairs takes "a=1 b=2" and "a=1,b=2", as the tools of Kafka do.
func splitPairs(text string) []string {
	var out []string
	for _, p := range bytes.FieldsFunc([]byte(text), func(r rune) bool { return r == ' ' || r == ',' }) {
		out = append(out, string(p))
	}
	return out
}

// values returns a function that answers the value of record n. The values of
// a file are taken in turn, random ones from a pool, so that making them costs
// the measurement nothing.
func (f *benchFlags) values() (func(n int64) []byte, error) {
	if f.size < 0 || f.size > 1<<30 {
		return nil, exit.Usagef("--record-size %d: want 0 to 1 GiB", f.size)
	}
	var pool [][]byte
	if f.payload != "" {
		raw, err := os.ReadFile(f.payload)
		if err != nil {
			return nil, &exit.Error{Code: exit.Usage, Err: err}
		}
		delimiter := []byte(f.delimiter)
		if f.delimiter == `\n` {
			delimiter = []byte("\n")
		}
		pool = bytes.Split(bytes.TrimSuffix(raw, delimiter), delimiter)
	} else {
		r := rand.New(rand.NewPCG(1, 1)) // the same bytes in every run
		for range max(1, min(1000, (16<<20)/max(f.size, 1))) {
			v := make([]byte, f.size)
			for i := range v {
				v[i] = byte('A' + r.IntN(26))
			}
			pool = append(pool, v)
		}
	}
	return func(n int64) []byte { return pool[n%int64(len(pool))] }, nil
}

// topicShape is the topic a measurement ran on, which its numbers mean nothing
// without.
type topicShape struct {
	Topic      string `json:"topic"`
	Partitions int    `json:"partitions"`
	Replicas   int    `json:"replicas"`
}

// ensureTopic makes the topic when it is not there, and tells its shape.
func (a *app) ensureTopic(cmd *cobra.Command, topic string, f *benchFlags) (shape topicShape, err error) {
	err = a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
		_, err := adm.CreateTopic(ctx, f.partitions, f.replicas, nil, topic)
		if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			return err
		}
		shape, err = shapeOf(ctx, adm, topic)
		return err
	})
	return shape, err
}

func shapeOf(ctx context.Context, adm *kadm.Client, topic string) (topicShape, error) {
	all, err := adm.ListTopicsWithInternal(ctx, topic)
	if err != nil {
		return topicShape{}, err
	}
	chosen, err := choose(all, []string{topic}, false)
	if err != nil {
		return topicShape{}, err
	}
	return topicShape{topic, len(chosen[0].Partitions), chosen[0].Partitions.NumReplicas()}, nil
}

// latencies is a histogram's summary in milliseconds.
type latencies struct {
	Mean float64 `json:"mean_ms"`
	P50  float64 `json:"p50_ms"`
	P95  float64 `json:"p95_ms"`
	P99  float64 `json:"p99_ms"`
	P999 float64 `json:"p99_9_ms"`
	Max  float64 `json:"max_ms"`
}

func latenciesOf(s load.Summary) latencies {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return latencies{ms(s.Mean), ms(s.P50), ms(s.P95), ms(s.P99), ms(s.P999), ms(s.Max)}
}

func perSecond(n int64, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}

const mib = 1 << 20

// progress prints a line on w now and then while a measurement runs. It ends
// with the function it returns.
func progress(w io.Writer, every time.Duration, line func() string) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				fmt.Fprintln(w, line())
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}
