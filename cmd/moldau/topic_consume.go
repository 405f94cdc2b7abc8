package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/cmd/moldau/internal/exit"
	"moldau/cmd/moldau/internal/position"
)

// consumeFlags say what `topic consume` reads and how it prints it.
type consumeFlags struct {
	offset    string
	format    string
	number    int
	only      []int32
	regex     bool
	committed bool
	control   bool
	rack      string
	decode    []string
	registry  registryFlags
}

func newTopicConsume(a *app) *cobra.Command {
	f := consumeFlags{registry: registryFlags{version: a.cluster.Version}}
	cmd := &cobra.Command{
		Use:   "consume TOPIC...",
		Short: "Read records of topics",
		Long: `Read the records of topics. Without -o it reads what is there now, from the
start, and ends. Positions and ranges:

  start, end, 7, +7, -7        start and end of the log, an offset, 7 behind the
                               start, 7 before the end; then on without end
  :end, 3:9, -100:end          up to, not including, the second one
  @-1h, @2026-01-02T03:04:05Z  from a time on
  @-48h:-24h, @-1h:end         from a time up to another

The format is "json" (one object a line) or text with %t topic, %p partition,
%o offset, %d time, %k key, %v value, %h{%k=%v } headers, upper-case letters for
lengths, and forms such as %v{hex}, %k{base64}, %d{go#RFC3339#}.

With --decode, values or keys are turned into JSON by the schemas that they, or
headers of the record, name. What can't be is printed as it is, said why of, and
makes the exit code 1 at the end.`,
		Example: `  moldau topic consume orders
  moldau topic consume orders -o @-1h -f '%d{go#RFC3339#} %k %v\n'
  moldau topic consume orders -o -1 -n 1 -f json
  moldau topic consume orders --decode key,value -f json`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeTopics,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.consume(cmd, args, f) },
	}
	f.bind(cmd, ":end", `%v\n`)
	return cmd
}

func newTopicTail(a *app) *cobra.Command {
	f := consumeFlags{registry: registryFlags{version: a.cluster.Version}}
	cmd := &cobra.Command{
		Use:   "tail TOPIC...",
		Short: "Show the last records of topics and follow them",
		Long: `Show the last ten records of each partition, and every one that comes after,
until interrupted. It is topic consume with other defaults.`,
		Example: `  moldau topic tail orders
  moldau topic tail orders -o end -f json`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeTopics,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.consume(cmd, args, f) },
	}
	f.bind(cmd, "-10", `%p:%o %d{go#RFC3339#} %k %v\n`)
	return cmd
}

func (f *consumeFlags) bind(cmd *cobra.Command, offset, format string) {
	flags := cmd.Flags()
	flags.StringVarP(&f.offset, "offset", "o", offset, "where to begin and to stop")
	flags.StringVarP(&f.format, "format", "f", format, `how to print a record; "json" for one object a line`)
	flags.IntVarP(&f.number, "num", "n", 0, "stop after this many records")
	flags.Int32SliceVarP(&f.only, "partitions", "p", nil, "only these partitions")
	flags.BoolVarP(&f.regex, "regex", "r", false, "the arguments are regular expressions")
	flags.BoolVar(&f.committed, "read-committed", false, "leave out records of transactions that are open or were aborted")
	flags.BoolVar(&f.control, "print-control-records", false, "show the markers of transactions too")
	flags.StringVar(&f.rack, "rack", "", "read from replicas in this rack")
	flags.StringSliceVar(&f.decode, "decode", nil, "decode by schema: value, key or both")
	f.registry.bind(flags)
	must(cmd.RegisterFlagCompletionFunc("decode", cobra.FixedCompletions(partNames, cobra.ShellCompDirectiveNoFileComp)))
}

func (a *app) consume(cmd *cobra.Command, args []string, f consumeFlags) error {
	where, err := position.Parse(f.offset, a.now())
	if err != nil {
		return exit.Usagef("--offset %w", err)
	}
	print, err := newRecordPrinter(f.format)
	if err != nil {
		return exit.Usagef("--format %s: %w", f.format, err)
	}
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	cmd.SetContext(ctx)
	if print.decode, err = a.recordDecoder(ctx, &f); err != nil {
		return err
	}
	defer print.decode.close()
	parts, err := a.find(cmd, args, f, where)
	if err != nil {
		return err
	}
	r := reading{parts: parts, number: f.number, control: f.control, print: print, out: bufio.NewWriterSize(a.out, 64<<10)}
	r.skipEmpty()
	if len(r.parts) == 0 {
		return nil
	}
	if err := a.withClient(cmd, r.run, f.options(r.parts)...); err != nil {
		return err
	}
	return print.decode.verdict() // also when interrupted: that is how a tail ends
}

// find looks the topics up and turns the range into offsets.
func (a *app) find(cmd *cobra.Command, args []string, f consumeFlags, where position.Range) (partitions, error) {
	var parts partitions
	err := a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
		all, err := adm.ListTopicsWithInternal(ctx)
		if err != nil {
			return err
		}
		chosen, err := choose(all, args, f.regex)
		if err != nil || len(chosen) == 0 {
			return err
		}
		parts, err = resolve(ctx, adm, chosen, f.only, where, f.committed)
		return err
	})
	return parts, err
}

func (f *consumeFlags) options(parts partitions) []kgo.Opt {
	consume := map[string]map[int32]kgo.Offset{}
	for topic, ps := range parts {
		consume[topic] = map[int32]kgo.Offset{}
		for p, s := range ps {
			consume[topic][p] = kgo.NewOffset().At(s.from)
		}
	}
	// Control records are kept to see the end of a stretch that ends in one.
	opts := []kgo.Opt{kgo.ConsumePartitions(consume), kgo.KeepControlRecords(), kgo.FetchMaxWait(500 * time.Millisecond)}
	if f.committed {
		opts = append(opts, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	if f.rack != "" {
		opts = append(opts, kgo.Rack(f.rack))
	}
	return opts
}

// reading is one run of consume.
type reading struct {
	parts   partitions // what is still to be read
	number  int        // records to print; 0 for no limit
	control bool
	printed int
	print   *recordPrinter
	out     *bufio.Writer
}

// skipEmpty drops the partitions in which there is nothing to read.
func (r *reading) skipEmpty() {
	for topic, ps := range r.parts {
		for p, s := range ps {
			if s.to >= 0 && s.from >= s.to {
				r.finish(topic, p)
			}
		}
		if len(ps) == 0 {
			delete(r.parts, topic)
		}
	}
}

func (r *reading) finish(topic string, p int32) {
	delete(r.parts[topic], p)
	if len(r.parts[topic]) == 0 {
		delete(r.parts, topic)
	}
}

// idle is how long nothing may come before a stretch with an end is looked at:
// compaction may have left nothing up to its end.
const idle = time.Second

func (r *reading) run(ctx context.Context, cl *kgo.Client) (err error) {
	defer func() {
		if ferr := r.out.Flush(); err == nil {
			err = ferr
		}
	}()
	for len(r.parts) > 0 {
		waiting, cancel := context.WithTimeout(ctx, idle)
		fetches := cl.PollFetches(waiting)
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		if err := fetchError(fetches); err != nil {
			return err
		}
		if fetches.NumRecords() == 0 {
			if err := r.endGaps(ctx, cl); err != nil {
				return err
			}
			continue
		}
		done, err := r.take(fetches)
		if err != nil || done {
			return err
		}
		if err := r.out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// fetchError returns the first error of a poll that is more than its end.
func fetchError(fetches kgo.Fetches) error {
	for _, e := range fetches.Errors() {
		if !errors.Is(e.Err, context.DeadlineExceeded) && !errors.Is(e.Err, context.Canceled) {
			if e.Topic == "" {
				return e.Err
			}
			return fmt.Errorf("topic %s, partition %d: %w", e.Topic, e.Partition, e.Err)
		}
	}
	return nil
}

// take prints what was fetched; done is true when enough was printed.
func (r *reading) take(fetches kgo.Fetches) (done bool, err error) {
	fetches.EachPartition(func(fp kgo.FetchTopicPartition) {
		s, open := r.parts[fp.Topic][fp.Partition]
		for _, rec := range fp.Records {
			if !open || done || err != nil {
				return
			}
			if s.to >= 0 && rec.Offset >= s.to {
				r.finish(fp.Topic, fp.Partition)
				return
			}
			if !rec.Attrs.IsControl() || r.control {
				if err = r.print.write(r.out, &fp.FetchPartition, rec); err != nil {
					return
				}
				r.printed++
				done = r.number > 0 && r.printed >= r.number
			}
			s.from = rec.Offset + 1
		}
		if !open {
			return
		}
		r.parts[fp.Topic][fp.Partition] = s
		if s.to >= 0 && s.from >= s.to {
			r.finish(fp.Topic, fp.Partition)
		}
	})
	return done, err
}
