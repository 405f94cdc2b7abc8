package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/cmd/moldau/internal/position"
)

// consumeResult is what `bench consume` found.
type consumeResult struct {
	topicShape
	Records          int64   `json:"records"`
	Seconds          float64 `json:"seconds"`
	RecordsPerSecond float64 `json:"records_per_second"`
	MiBPerSecond     float64 `json:"mib_per_second"`
	FirstRecord      float64 `json:"first_record_ms"` // from the start of the client
}

func newBenchConsume(a *app) *cobra.Command {
	var messages int64
	cmd := &cobra.Command{
		Use:   "consume TOPIC",
		Short: "Measure consuming: records a second from the start of a topic",
		Long: `Read a topic from its start to where it ends now, or --messages records of it,
and measure. The time counts from the first fetch.`,
		Example:           `  moldau bench consume test --messages 1000000`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			cmd.SetContext(ctx)
			var result consumeResult
			all := position.Range{From: position.Position{Kind: position.Start}, To: position.Position{Kind: position.End}}
			parts, err := a.find(cmd, args, consumeFlags{}, all)
			if err != nil {
				return err
			}
			err = a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				result.topicShape, err = shapeOf(ctx, adm, args[0])
				return err
			})
			if err != nil {
				return err
			}
			f := consumeFlags{}
			opts := append(f.options(parts), kgo.FetchMaxBytes(50<<20), kgo.FetchMaxPartitionBytes(1<<20))
			err = a.withClient(cmd, func(ctx context.Context, cl *kgo.Client) error {
				return benchConsume(ctx, cl, parts, messages, &result)
			}, opts...)
			if err != nil {
				return err
			}
			return printValue(a, result, result.print)
		},
	}
	cmd.Flags().Int64Var(&messages, "messages", 0, "stop after this many records; 0 for all there are now")
	a.withFormat(cmd)
	return cmd
}

func benchConsume(ctx context.Context, cl *kgo.Client, parts partitions, messages int64, result *consumeResult) error {
	r := reading{parts: parts}
	r.skipEmpty()
	start := time.Now()
	first, bytes := time.Duration(0), int64(0)
	for len(r.parts) > 0 && ctx.Err() == nil && (messages == 0 || result.Records < messages) {
		waiting, cancel := context.WithTimeout(ctx, idle)
		fetches := cl.PollFetches(waiting)
		cancel()
		if err := fetchError(fetches); err != nil {
			return err
		}
		if fetches.NumRecords() == 0 {
			if err := r.endGaps(ctx, cl); err != nil {
				return err
			}
			continue
		}
		if first == 0 {
			first = time.Since(start)
		}
		fetches.EachPartition(func(fp kgo.FetchTopicPartition) {
			last := fp.Records
			for _, rec := range fp.Records {
				bytes += int64(len(rec.Key) + len(rec.Value))
			}
			result.Records += int64(len(fp.Records))
			s, open := r.parts[fp.Topic][fp.Partition]
			if !open || len(last) == 0 {
				return
			}
			if s.from = last[len(last)-1].Offset + 1; s.from >= s.to {
				r.finish(fp.Topic, fp.Partition)
				return
			}
			r.parts[fp.Topic][fp.Partition] = s
		})
	}
	took := time.Since(start)
	result.Seconds = took.Seconds()
	result.RecordsPerSecond = perSecond(result.Records, took)
	result.MiBPerSecond = perSecond(bytes, took) / mib
	result.FirstRecord = float64(first.Microseconds()) / 1000
	return nil
}

func (r *consumeResult) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "topic %s, partitions %d, replicas %d\n%d records read in %.3f s, %f records/sec (%.2f MB/sec), first record after %.2f ms.\n",
		r.Topic, r.Partitions, r.Replicas, r.Records, r.Seconds, r.RecordsPerSecond, r.MiBPerSecond, r.FirstRecord)
	return err
}
