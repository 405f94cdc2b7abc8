package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"

	"moldau/cmd/moldau/internal/exit"
)

func newTopicAlter(a *app) *cobra.Command {
	var (
		c           change
		set, remove []string
	)
	cmd := &cobra.Command{
		Use:   "alter TOPIC...",
		Short: "Change configs of topics",
		Example: `  moldau topic alter orders --set retention.ms=3600000
  moldau topic alter orders --unset retention.ms -y`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeTopics,
		RunE: func(cmd *cobra.Command, args []string) error {
			alter, plan, err := configChanges(set, remove)
			if err != nil {
				return err
			}
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				checked, err := adm.ValidateAlterTopicConfigs(ctx, alter, args...)
				if err == nil {
					err = alterOutcome(a, checked, "")
				}
				if err != nil {
					return err
				}
				ok, err := a.agreed(c, "topics "+strings.Join(args, ", ")+": "+strings.Join(plan, ", "))
				if !ok {
					return err
				}
				done, err := adm.AlterTopicConfigs(ctx, alter, args...)
				if err != nil {
					return err
				}
				return alterOutcome(a, done, "changed")
			})
		},
	}
	cmd.Flags().StringArrayVar(&set, "set", nil, "a config to set, key=value; may be repeated")
	cmd.Flags().StringArrayVar(&remove, "unset", nil, "a config to set back to its default; may be repeated")
	c.bind(cmd)
	return cmd
}

// configChanges turns --set and --unset into a request and the plan in words.
func configChanges(set, remove []string) ([]kadm.AlterConfig, []string, error) {
	var alter []kadm.AlterConfig
	var plan []string
	for _, p := range set {
		key, value, ok := strings.Cut(p, "=")
		if !ok || key == "" {
			return nil, nil, usagePair(p)
		}
		alter = append(alter, kadm.AlterConfig{Op: kadm.SetConfig, Name: key, Value: &value})
		plan = append(plan, "set "+p)
	}
	for _, key := range remove {
		alter = append(alter, kadm.AlterConfig{Op: kadm.DeleteConfig, Name: key})
		plan = append(plan, "unset "+key)
	}
	if len(alter) == 0 {
		return nil, nil, exit.Usagef("nothing to change: --set key=value or --unset key")
	}
	return alter, plan, nil
}

// alterOutcome reports the answers of a change; with done == "" only errors.
func alterOutcome(a *app, answers kadm.AlterConfigsResponses, done string) error {
	o := outcome{a: a}
	for _, r := range answers {
		if r.Err != nil || done != "" {
			o.add(r.Name, done, withMessage(r.Err, r.ErrMessage))
		}
	}
	return o.err
}

func newTopicDelete(a *app) *cobra.Command {
	var (
		c     change
		regex bool
	)
	cmd := &cobra.Command{
		Use:     "delete TOPIC...",
		Aliases: []string{"rm"},
		Short:   "Delete topics with all their records",
		Example: `  moldau topic delete orders
  moldau topic delete -r '^test-' --dry-run`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeTopics,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				all, err := adm.ListTopicsWithInternal(ctx)
				if err != nil {
					return err
				}
				chosen, err := choose(all, args, regex)
				if err != nil || len(chosen) == 0 {
					return err
				}
				names := make([]string, len(chosen))
				for i, d := range chosen {
					names[i] = d.Topic
				}
				ok, err := a.agreed(c, "delete with all records: "+strings.Join(names, ", "))
				if !ok {
					return err
				}
				answers, err := adm.DeleteTopics(ctx, names...)
				if err != nil {
					return err
				}
				o := outcome{a: a}
				for _, r := range answers.Sorted() {
					o.add(r.Topic, "deleted", withMessage(r.Err, r.ErrMessage))
				}
				return o.err
			})
		},
	}
	cmd.Flags().BoolVarP(&regex, "regex", "r", false, "the arguments are regular expressions")
	c.bind(cmd)
	return cmd
}

func newTopicAddPartitions(a *app) *cobra.Command {
	var (
		c       change
		add, to int
	)
	cmd := &cobra.Command{
		Use:   "add-partitions TOPIC",
		Short: "Give a topic more partitions",
		Long: `Give a topic more partitions. It cannot be undone, and keys move: a producer
that chooses the partition by key will write some keys elsewhere from now on.`,
		Example: `  moldau topic add-partitions orders --add 3
  moldau topic add-partitions orders --to 12 -y`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				all, err := adm.ListTopicsWithInternal(ctx, args...)
				if err != nil {
					return err
				}
				chosen, err := choose(all, args, false)
				if err != nil {
					return err
				}
				now, total := len(chosen[0].Partitions), to
				if add > 0 {
					total = now + add
				}
				if total <= now {
					return exit.Usagef("topic %s has %d partitions already", args[0], now)
				}
				check, err := adm.ValidateUpdatePartitions(ctx, total, args...)
				if err == nil {
					err = partitionsOutcome(a, check, "")
				}
				if err != nil {
					return err
				}
				ok, err := a.agreed(c, fmt.Sprintf("topic %s: from %d to %d partitions; keys move to other partitions", args[0], now, total))
				if !ok {
					return err
				}
				done, err := adm.UpdatePartitions(ctx, total, args...)
				if err != nil {
					return err
				}
				return partitionsOutcome(a, done, fmt.Sprintf("has %d partitions now", total))
			})
		},
	}
	cmd.Flags().IntVar(&add, "add", 0, "how many to add")
	cmd.Flags().IntVar(&to, "to", 0, "how many there shall be")
	cmd.MarkFlagsOneRequired("add", "to")
	cmd.MarkFlagsMutuallyExclusive("add", "to")
	c.bind(cmd)
	return cmd
}

func partitionsOutcome(a *app, answers kadm.CreatePartitionsResponses, done string) error {
	o := outcome{a: a}
	for _, r := range answers.Sorted() {
		if r.Err != nil || done != "" {
			o.add(r.Topic, done, withMessage(r.Err, r.ErrMessage))
		}
	}
	return o.err
}
