package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"moldau/cmd/moldau/internal/exit"
	"moldau/cmd/moldau/internal/position"
)

// seekFlags are the flags of `group seek`.
type seekFlags struct {
	change
	to      string
	toGroup string
	topics  []string
	only    []int32
}

func newGroupSeek(a *app) *cobra.Command {
	var f seekFlags
	cmd := &cobra.Command{
		Use:   "seek GROUP",
		Short: "Move the committed offsets of a group",
		Long: `Move the committed offsets of a group to a position, or to where another group
stands. What would change is shown first. The group must have no members: they
would not notice, and commit over it.`,
		Example: `  moldau group seek billing --to start
  moldau group seek billing --to @2026-01-02T03:04:05Z --topic orders --dry-run
  moldau group seek billing --to -100 --topic orders -p 0,1
  moldau group seek billing --to-group billing-old`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeGroup,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (f.to == "") == (f.toGroup == "") {
				return exit.Usagef("say where to: --to or --to-group")
			}
			var at position.Range
			if f.to != "" {
				var err error
				if at, err = position.Parse(f.to, a.now()); err != nil {
					return exit.Usagef("--to %w", err)
				}
				if at.To.Kind != position.None {
					return exit.Usagef("--to %s: want one position, not a range", f.to)
				}
			}
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error { return a.seek(ctx, adm, args[0], &f, at) })
		},
	}
	cmd.Flags().StringVar(&f.to, "to", "", "the position: start, end, an offset, +10, -100, @-24h, @2026-01-02, ...")
	cmd.Flags().StringVar(&f.toGroup, "to-group", "", "the group to take the offsets of")
	cmd.Flags().StringSliceVarP(&f.topics, "topic", "t", nil, "the topics; without, those that the group has committed offsets of")
	cmd.Flags().Int32SliceVarP(&f.only, "partitions", "p", nil, "only these partitions")
	must(cmd.RegisterFlagCompletionFunc("topic", a.completeTopics))
	f.bind(cmd)
	return cmd
}

func (a *app) seek(ctx context.Context, adm *kadm.Client, group string, f *seekFlags, at position.Range) error {
	now, err := committed(ctx, adm, group)
	if err != nil {
		return err
	}
	var target kadm.Offsets
	if f.toGroup != "" {
		other, err := committed(ctx, adm, f.toGroup)
		if err != nil {
			return err
		}
		if len(other) == 0 {
			return groupNotFound(f.toGroup)
		}
		target = other
	} else if target, err = positions(ctx, adm, now, f, at); err != nil {
		return err
	}
	target.KeepFunc(func(o kadm.Offset) bool {
		return (len(f.topics) == 0 || slices.Contains(f.topics, o.Topic)) && (len(f.only) == 0 || slices.Contains(f.only, o.Partition))
	})
	return a.moveOffsets(ctx, adm, group, now, target, f.change)
}

// committed returns what a group has committed: nothing if it does not exist.
func committed(ctx context.Context, adm *kadm.Client, group string) (kadm.Offsets, error) {
	found, err := adm.FetchOffsets(ctx, group)
	if err == nil {
		err = found.Error()
	}
	switch {
	case errors.Is(err, kerr.GroupIDNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("group %s: %w", group, err)
	}
	return found.Offsets(), nil
}

// positions returns the offsets of a position in the topics that are asked for, or else those that the group knows.
func positions(ctx context.Context, adm *kadm.Client, now kadm.Offsets, f *seekFlags, at position.Range) (kadm.Offsets, error) {
	topics := f.topics
	if len(topics) == 0 {
		topics = slices.Sorted(maps.Keys(now))
	}
	if len(topics) == 0 {
		return nil, exit.Usagef("the group has committed no offsets; name the topics with --topic")
	}
	all, err := adm.ListTopicsWithInternal(ctx, topics...)
	if err != nil {
		return nil, err
	}
	chosen, err := choose(all, topics, false)
	if err != nil {
		return nil, err
	}
	stretches, err := resolve(ctx, adm, chosen, f.only, at, false)
	if err != nil {
		return nil, err
	}
	target := kadm.Offsets{}
	for topic, list := range stretches {
		for p, s := range list {
			target.Add(kadm.Offset{Topic: topic, Partition: p, At: s.from, LeaderEpoch: -1})
		}
	}
	return target, nil
}

// moveOffsets shows what would change, asks, and commits it.
func (a *app) moveOffsets(ctx context.Context, adm *kadm.Client, group string, now, target kadm.Offsets, c change) error {
	var plan []string
	moved := kadm.Offsets{}
	for _, o := range target.Sorted() {
		was, known := now.Lookup(o.Topic, o.Partition)
		if known && was.At == o.At {
			continue
		}
		from := "none"
		if known {
			from = fmt.Sprint(was.At)
		}
		moved.Add(o)
		plan = append(plan, fmt.Sprintf("%s, partition %d: %s -> %d", o.Topic, o.Partition, from, o.At))
	}
	if len(plan) == 0 {
		fmt.Fprintln(a.err, "the group is there already")
		return nil
	}
	ok, err := a.agreed(c, plan...)
	if !ok {
		return err
	}
	answers, err := adm.CommitOffsets(ctx, group, moved)
	if err != nil {
		return fmt.Errorf("group %s: %w", group, err)
	}
	o := outcome{a: a}
	for _, r := range answers.Sorted() {
		o.add(fmt.Sprintf("%s, partition %d", r.Topic, r.Partition), fmt.Sprintf("at %d", r.At), hasMembers(group, r.Err))
	}
	return o.err
}

// hasMembers says in words what a coordinator means that does not know the committer.
func hasMembers(group string, err error) error {
	if errors.Is(err, kerr.UnknownMemberID) || errors.Is(err, kerr.RebalanceInProgress) {
		return &exit.Error{
			Code: exit.Failed,
			Err:  fmt.Errorf("group %s has members; stop them first: %w", group, err),
			Next: "moldau group members " + group,
		}
	}
	return err
}
