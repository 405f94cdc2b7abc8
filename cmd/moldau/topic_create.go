package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"moldau/cmd/moldau/internal/exit"
)

func newTopicCreate(a *app) *cobra.Command {
	var (
		partitions  int32
		replicas    int16
		configs     []string
		dryRun      bool
		ifNotExists bool
	)
	cmd := &cobra.Command{
		Use:   "create TOPIC...",
		Short: "Make topics",
		Example: `  moldau topic create orders
  moldau topic create orders -p 6 -r 3 -c retention.ms=86400000`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := parseConfigs(configs)
			if err != nil {
				return err
			}
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				create, done := adm.CreateTopics, "made"
				if dryRun {
					create, done = adm.ValidateCreateTopics, "could be made"
				}
				answers, err := create(ctx, partitions, replicas, set, args...)
				if err != nil {
					return err
				}
				o := outcome{a: a}
				for _, r := range answers.Sorted() {
					switch {
					case ifNotExists && errors.Is(r.Err, kerr.TopicAlreadyExists):
						o.add(r.Topic, "is there already", nil)
					case errors.Is(r.Err, kerr.TopicAlreadyExists):
						o.add(r.Topic, "", &exit.Error{Code: exit.Failed, Err: r.Err, Next: "moldau topic describe " + r.Topic})
					default:
						o.add(r.Topic, made(done, r), withMessage(r.Err, r.ErrMessage))
					}
				}
				return o.err
			})
		},
	}
	flags := cmd.Flags()
	flags.Int32VarP(&partitions, "partitions", "p", -1, "the number of partitions; -1 for the cluster's default")
	flags.Int16VarP(&replicas, "replicas", "r", -1, "the number of replicas; -1 for the cluster's default")
	flags.StringArrayVarP(&configs, "config", "c", nil, "a config, key=value; may be repeated")
	flags.BoolVar(&dryRun, "dry-run", false, "let the cluster check the request, and make nothing")
	flags.BoolVar(&ifNotExists, "if-not-exists", false, "a topic that is there already is no error")
	return cmd
}

func made(done string, r kadm.CreateTopicResponse) string {
	if r.NumPartitions <= 0 {
		return done
	}
	return fmt.Sprintf("%s, %d partitions, %d replicas", done, r.NumPartitions, r.ReplicationFactor)
}
