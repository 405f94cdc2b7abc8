package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/cmd/moldau/internal/load"
)

// produceResult is what `bench produce` found.
type produceResult struct {
	topicShape
	Acks             string    `json:"acks"`
	Compression      string    `json:"compression"`
	Records          int64     `json:"records"`
	Failed           int64     `json:"failed"`
	Seconds          float64   `json:"seconds"`
	RecordsPerSecond float64   `json:"records_per_second"`
	MiBPerSecond     float64   `json:"mib_per_second"`
	Latency          latencies `json:"latency"`
}

func newBenchProduce(a *app) *cobra.Command {
	var f benchFlags
	var throughput float64
	cmd := &cobra.Command{
		Use:   "produce TOPIC",
		Short: "Measure producing: records a second and latencies",
		Long: `Write records as fast as possible, or at a fixed rate with --throughput, and
measure. Flags and the last line are those of kafka-producer-perf-test. At a
fixed rate latency counts from when a record was due, not from when it was sent.`,
		Example: `  moldau bench produce test --num-records 1000000 --record-size 100
  moldau bench produce test --throughput 10000 --producer-props acks=1 -o json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst,
		RunE: func(cmd *cobra.Command, args []string) error {
			props, opts, err := f.producer()
			if err != nil {
				return err
			}
			values, err := f.values()
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
			return a.withClient(cmd, func(ctx context.Context, cl *kgo.Client) error {
				result := produceResult{topicShape: shape, Acks: props.Acks, Compression: props.Compression}
				if err := a.benchProduce(ctx, cl, &result, f.records, throughput, values); err != nil {
					return err
				}
				return printValue(a, result, result.print)
			}, append(opts, kgo.DefaultProduceTopic(args[0]), kgo.MaxBufferedRecords(100_000))...)
		},
	}
	f.bind(cmd, 1_000_000)
	cmd.Flags().Float64Var(&throughput, "throughput", -1, "records a second; -1 for as many as possible")
	a.withFormat(cmd)
	return cmd
}

func (a *app) benchProduce(ctx context.Context, cl *kgo.Client, result *produceResult, records int64, rate float64, values func(int64) []byte) error {
	var (
		done, failed, bytes atomic.Int64
		firstErr            atomic.Pointer[error]
		hist                load.Histogram
	)
	start := time.Now()
	stop := progress(a.err, 5*time.Second, func() string {
		s := latenciesOf(hist.Summary())
		return fmt.Sprintf("%d records, %.1f records/sec, %.2f ms mean latency, %.2f ms max so far", done.Load(), perSecond(done.Load(), time.Since(start)), s.Mean, s.Max)
	})
	defer stop()
	pacer := load.NewPacer(start, rate)
	for n := range records {
		due, err := pacer.Next(ctx)
		if err != nil {
			break // interrupted: report what there is
		}
		value := values(n)
		cl.Produce(ctx, &kgo.Record{Value: value}, func(_ *kgo.Record, err error) {
			if err != nil {
				failed.Add(1)
				firstErr.CompareAndSwap(nil, &err)
				return
			}
			hist.Add(time.Since(due))
			done.Add(1)
			bytes.Add(int64(len(value)))
		})
	}
	_ = cl.Flush(ctx) // fails when interrupted only; the records say so themselves
	took := time.Since(start)
	if err := firstErr.Load(); err != nil && done.Load() == 0 {
		return *err
	}
	result.Records, result.Failed, result.Seconds = done.Load(), failed.Load(), took.Seconds()
	result.RecordsPerSecond = perSecond(done.Load(), took)
	result.MiBPerSecond = perSecond(bytes.Load(), took) / mib
	result.Latency = latenciesOf(hist.Summary())
	return nil
}

func (r *produceResult) print(w io.Writer) error {
	fmt.Fprintf(w, "topic %s, partitions %d, replicas %d, acks %s, compression %s\n", r.Topic, r.Partitions, r.Replicas, r.Acks, r.Compression)
	if r.Failed > 0 {
		fmt.Fprintf(w, "%d records FAILED\n", r.Failed)
	}
	l := r.Latency
	_, err := fmt.Fprintf(w, "%d records sent, %f records/sec (%.2f MB/sec), %.2f ms avg latency, %.2f ms max latency, %.2f ms 50th, %.2f ms 95th, %.2f ms 99th, %.2f ms 99.9th.\n",
		r.Records, r.RecordsPerSecond, r.MiBPerSecond, l.Mean, l.Max, l.P50, l.P95, l.P99, l.P999)
	return err
}
