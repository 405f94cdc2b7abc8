package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"moldau/cmd/moldau/internal/exit"
)

func newGroupDelete(a *app) *cobra.Command {
	var c change
	cmd := &cobra.Command{
		Use:               "delete GROUP...",
		Aliases:           []string{"rm"},
		Short:             "Delete groups without members, with their offsets",
		Example:           `  moldau group delete billing-old -y`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				plan := make([]string, len(args))
				for i, g := range args {
					plan[i] = "delete with all offsets: " + g
				}
				ok, err := a.agreed(c, plan...)
				if !ok {
					return err
				}
				answers, err := adm.DeleteGroups(ctx, args...)
				if err != nil {
					return err
				}
				o := groupOutcome{a: a}
				for _, r := range answers.Sorted() {
					o.add(r.Group, "deleted", r.Err)
				}
				return o.err
			})
		},
	}
	c.bind(cmd)
	return cmd
}

func newGroupOffsetDelete(a *app) *cobra.Command {
	var (
		c      change
		topics []string
		only   []int32
	)
	cmd := &cobra.Command{
		Use:   "offset-delete GROUP",
		Short: "Delete the committed offsets of a group for topics that it does not read",
		Example: `  moldau group offset-delete billing --topic orders-old
  moldau group offset-delete billing --topic orders -p 7 --dry-run`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeGroup,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				return a.deleteOffsets(ctx, adm, args[0], topics, only, c)
			})
		},
	}
	cmd.Flags().StringSliceVarP(&topics, "topic", "t", nil, "the topics")
	cmd.Flags().Int32SliceVarP(&only, "partitions", "p", nil, "only these partitions")
	must(cmd.MarkFlagRequired("topic"))
	must(cmd.RegisterFlagCompletionFunc("topic", a.completeTopics))
	c.bind(cmd)
	return cmd
}

func (a *app) deleteOffsets(ctx context.Context, adm *kadm.Client, group string, topics []string, only []int32, c change) error {
	now, err := committed(ctx, adm, group)
	if err != nil {
		return err
	}
	set, plan := kadm.TopicsSet{}, []string{}
	for _, o := range now.Sorted() {
		if slices.Contains(topics, o.Topic) && (len(only) == 0 || slices.Contains(only, o.Partition)) {
			set.Add(o.Topic, o.Partition)
			plan = append(plan, fmt.Sprintf("%s, partition %d: delete the offset %d", o.Topic, o.Partition, o.At))
		}
	}
	if len(plan) == 0 {
		return &exit.Error{Code: exit.NotFound, Err: fmt.Errorf("group %s has no such offsets", group), Next: "moldau group lag " + group}
	}
	ok, err := a.agreed(c, plan...)
	if !ok {
		return err
	}
	answers, err := adm.DeleteOffsets(ctx, group, set)
	if err != nil {
		return fmt.Errorf("group %s: %w", group, err)
	}
	o := outcome{a: a}
	for _, p := range set.Sorted() {
		for _, n := range p.Partitions {
			e, answered := answers.Lookup(p.Topic, n)
			if !answered {
				e = errors.New("the cluster did not answer")
			}
			o.add(fmt.Sprintf("%s, partition %d", p.Topic, n), "offset deleted", e)
		}
	}
	return o.err
}

// groupOutcome prints what happened to each group and keeps the first error for the exit code.
type groupOutcome struct {
	a   *app
	err error
}

func (o *groupOutcome) add(group, done string, err error) {
	switch {
	case err == nil:
		fmt.Fprintf(o.a.err, "%s: %s\n", group, done)
		return
	case errors.Is(err, kerr.GroupIDNotFound):
		err = groupNotFound(group)
	case errors.Is(err, kerr.NonEmptyGroup):
		err = &exit.Error{Code: exit.Failed, Err: fmt.Errorf("group %s: %w", group, err), Next: "moldau group members " + group}
	default:
		err = o.a.cluster.Explain(fmt.Errorf("group %s: %w", group, err))
	}
	if o.err == nil {
		o.err = err
		return
	}
	fmt.Fprintf(o.a.err, "error: %v\n", err)
}
