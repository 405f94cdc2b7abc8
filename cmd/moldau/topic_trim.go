package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"

	"moldau/cmd/moldau/internal/exit"
	"moldau/cmd/moldau/internal/position"
)

func newTopicTrim(a *app) *cobra.Command {
	var (
		c    change
		upTo string
		only []int32
	)
	cmd := &cobra.Command{
		Use:   "trim TOPIC",
		Short: "Delete the oldest records of a topic",
		Long: `Delete the records of a topic up to, not including, a position. Space on disk
comes back with whole segments.`,
		Example: `  moldau topic trim orders --up-to end
  moldau topic trim orders --up-to @-24h -p 0,1
  moldau topic trim orders --up-to 1000 --dry-run`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst,
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := position.Parse(upTo, a.now())
			if err != nil {
				return exit.Usagef("--up-to %w", err)
			}
			if at.To.Kind != position.None {
				return exit.Usagef("--up-to %s: want one position, not a range", upTo)
			}
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error { return a.trim(ctx, adm, args, only, at, c) })
		},
	}
	cmd.Flags().StringVar(&upTo, "up-to", "", "the position up to which to delete: an offset, end, -100, @-24h, ...")
	cmd.Flags().Int32SliceVarP(&only, "partitions", "p", nil, "only these partitions")
	must(cmd.MarkFlagRequired("up-to"))
	c.bind(cmd)
	return cmd
}

func (a *app) trim(ctx context.Context, adm *kadm.Client, args []string, only []int32, at position.Range, c change) error {
	all, err := adm.ListTopicsWithInternal(ctx, args...)
	if err != nil {
		return err
	}
	chosen, err := choose(all, args, false)
	if err != nil {
		return err
	}
	// From the start up to the position, to know how many records that is.
	stretches, err := resolve(ctx, adm, chosen, only, position.Range{From: position.Position{Kind: position.Start}, To: at.From}, false)
	if err != nil {
		return err
	}
	offsets, plan := kadm.Offsets{}, []string{}
	for _, p := range chosen[0].Partitions.Numbers() {
		s, ok := stretches[args[0]][p]
		if !ok || s.to <= s.from {
			continue
		}
		offsets.Add(kadm.Offset{Topic: args[0], Partition: p, At: s.to})
		plan = append(plan, fmt.Sprintf("%s, partition %d: delete the records from %d up to %d", args[0], p, s.from, s.to))
	}
	if len(plan) == 0 {
		fmt.Fprintln(a.err, "there are no records before that position")
		return nil
	}
	ok, err := a.agreed(c, plan...)
	if !ok {
		return err
	}
	answers, err := adm.DeleteRecords(ctx, offsets)
	if err != nil {
		return err
	}
	o := outcome{a: a}
	for _, r := range answers.Sorted() {
		o.add(fmt.Sprintf("%s, partition %d", r.Topic, r.Partition), fmt.Sprintf("begins at %d", r.LowWatermark), r.Err)
	}
	return o.err
}
