package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/cmd/moldau/internal/exit"
	"moldau/cmd/moldau/internal/load"
	"moldau/cmd/moldau/internal/position"
)

// e2eResult is what `bench e2e` found.
type e2eResult struct {
	topicShape
	Acks       string    `json:"acks"`
	Rate       float64   `json:"rate"`
	RecordSize int       `json:"record_size"`
	Sent       int64     `json:"sent"`
	Received   int64     `json:"received"`
	Produce    latencies `json:"produce_latency"`
	EndToEnd   latencies `json:"end_to_end_latency"`
}

// e2eHeader is what a record of the measurement carries: the run, so that
// records of others are told apart, and when it was due.
const e2eHeader = 16

func newBenchE2E(a *app) *cobra.Command {
	var f benchFlags
	var rate float64
	cmd := &cobra.Command{
		Use:   "e2e TOPIC",
		Short: "Measure the way from a producer to a consumer at a fixed rate",
		Long: `Write records at a fixed rate, read them in the same process, and measure how
long each took from when it was due to when it was read. Records do not wait for
others to share a batch (linger.ms=0) unless --producer-props says so.`,
		Example: `  moldau bench e2e test --throughput 1000 --num-records 30000
  moldau bench e2e test --throughput 10000 --producer-props acks=1 -o json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst,
		RunE: func(cmd *cobra.Command, args []string) error {
			if rate <= 0 || f.size < e2eHeader {
				return exit.Usagef("want a --throughput above 0 and a --record-size of at least %d", e2eHeader)
			}
			f.props = append([]string{"linger.ms=0"}, f.props...)
			props, opts, err := f.producer()
			if err != nil {
				return err
			}
			shape, err := a.ensureTopic(cmd, args[0], &f)
			if err != nil {
				return err
			}
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			cmd.SetContext(ctx)
			end := position.Range{From: position.Position{Kind: position.End}}
			parts, err := a.find(cmd, args, consumeFlags{}, end)
			if err != nil {
				return err
			}
			r := e2eResult{topicShape: shape, Acks: props.Acks, Rate: rate, RecordSize: f.size}
			cf := consumeFlags{}
			opts = append(opts, kgo.DefaultProduceTopic(args[0]))
			if err := a.benchE2E(cmd, &r, f.records, opts, cf.options(parts)); err != nil {
				return err
			}
			return printValue(a, r, r.print)
		},
	}
	f.bind(cmd, 10_000)
	must(cmd.Flags().MarkHidden("payload-file"))
	must(cmd.Flags().MarkHidden("payload-delimiter"))
	cmd.Flags().Float64Var(&rate, "throughput", 1000, "records a second")
	a.withFormat(cmd)
	return cmd
}

// benchE2E runs producer and consumer, each with a client of its own.
func (a *app) benchE2E(cmd *cobra.Command, r *e2eResult, records int64, produceOpts, consumeOpts []kgo.Opt) error {
	run := rand.Uint64()
	var sent, failed atomic.Int64
	var produced, arrived load.Histogram
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	received := make(chan error, 1)
	expected := make(chan int64, 1) // how many to wait for, once all are sent
	go func() {                     // ends with ctx or when all have come
		received <- a.withClient(cmd, func(_ context.Context, cl *kgo.Client) error {
			var err error
			r.Received, err = receiveE2E(ctx, cl, run, &arrived, expected)
			return err
		}, consumeOpts...)
	}()
	err := a.withClient(cmd, func(_ context.Context, cl *kgo.Client) error {
		pacer := load.NewPacer(time.Now(), r.Rate)
		for range records {
			due, err := pacer.Next(ctx)
			if err != nil {
				return err
			}
			value := make([]byte, r.RecordSize)
			binary.BigEndian.PutUint64(value, run)
			binary.BigEndian.PutUint64(value[8:], uint64(due.UnixNano()))
			cl.Produce(ctx, &kgo.Record{Value: value}, func(_ *kgo.Record, err error) {
				if err != nil {
					failed.Add(1)
					return
				}
				produced.Add(time.Since(due))
				sent.Add(1)
			})
		}
		return cl.Flush(ctx)
	}, produceOpts...)
	expected <- sent.Load()
	if err != nil {
		cancel()
	}
	rerr := <-received
	r.Sent, r.Produce, r.EndToEnd = sent.Load(), latenciesOf(produced.Summary()), latenciesOf(arrived.Summary())
	switch err = errors.Join(err, rerr); {
	case err != nil:
		return err
	case failed.Load() > 0:
		return fmt.Errorf("%d of %d records failed", failed.Load(), failed.Load()+r.Sent)
	case r.Received < r.Sent:
		return &exit.Error{Code: exit.Failed, Err: fmt.Errorf("%d records were acknowledged and %d came", r.Sent, r.Received), Next: "moldau cluster health"}
	}
	return nil
}

// e2ePatience is how long records that were acknowledged may take to be read.
const e2ePatience = 10 * time.Second

// receiveE2E reads until as many records of the run came as expected says.
func receiveE2E(ctx context.Context, cl *kgo.Client, run uint64, arrived *load.Histogram, expected <-chan int64) (n int64, err error) {
	want, deadline := int64(-1), time.Time{}
	for want < 0 || n < want {
		select {
		case want = <-expected:
			deadline = time.Now().Add(e2ePatience)
		default:
		}
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if want >= 0 && time.Now().After(deadline) {
			return n, nil
		}
		waiting, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		fetches := cl.PollFetches(waiting)
		cancel()
		now := time.Now()
		if err := fetchError(fetches); err != nil {
			return n, err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if len(r.Value) < e2eHeader || binary.BigEndian.Uint64(r.Value) != run {
				return
			}
			n++
			arrived.Add(now.Sub(time.Unix(0, int64(binary.BigEndian.Uint64(r.Value[8:])))))
		})
	}
	return n, nil
}

func (r *e2eResult) print(w io.Writer) error {
	fmt.Fprintf(w, "topic %s, partitions %d, replicas %d, acks %s, %.0f records/sec of %d bytes, %d sent, %d received\n",
		r.Topic, r.Partitions, r.Replicas, r.Acks, r.Rate, r.RecordSize, r.Sent, r.Received)
	fmt.Fprintf(w, "             mean      50th      95th      99th    99.9th       max   (ms)\n")
	var err error
	for _, l := range []struct {
		name string
		latencies
	}{{"produce", r.Produce}, {"end to end", r.EndToEnd}} {
		_, err = fmt.Fprintf(w, "%-10s %6.2f %9.2f %9.2f %9.2f %9.2f %9.2f\n", l.name, l.Mean, l.P50, l.P95, l.P99, l.P999, l.Max)
	}
	return err
}
