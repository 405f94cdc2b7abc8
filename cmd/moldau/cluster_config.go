package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/cmd/moldau/internal/exit"
)

func newClusterConfig(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change the configs of brokers",
	}
	cmd.AddCommand(newClusterConfigGet(a), newClusterConfigSet(a))
	return cmd
}

func newClusterConfigGet(a *app) *cobra.Command {
	var broker int32
	var all bool
	cmd := &cobra.Command{
		Use:   "get [KEY...]",
		Short: "Show configs of a broker, those that are set by default",
		Example: `  moldau cluster config get
  moldau cluster config get log.retention.ms message.max.bytes
  moldau cluster config get --all --broker 2 -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				id, err := someBroker(ctx, adm, broker)
				if err != nil {
					return err
				}
				answer, err := adm.DescribeBrokerConfigs(ctx, id)
				if err != nil {
					return err
				}
				var rows []configValue
				for _, rc := range answer {
					if rc.Err != nil {
						return fmt.Errorf("configs of broker %d: %w", id, rc.Err)
					}
					rows = configValues(rc.Configs)
				}
				rows, err = pickConfigs(rows, args, all)
				if err != nil {
					return err
				}
				return configList.Print(a.out, a.format, rows)
			})
		},
	}
	cmd.Flags().Int32Var(&broker, "broker", -1, "the broker to ask; -1 for any")
	cmd.Flags().BoolVarP(&all, "all", "a", false, "defaults too")
	a.withFormat(cmd)
	return cmd
}

// someBroker returns the broker that was asked for, or the first there is.
func someBroker(ctx context.Context, adm *kadm.Client, wanted int32) (int32, error) {
	brokers, err := adm.ListBrokers(ctx)
	if err != nil {
		return 0, err
	}
	ids := brokers.NodeIDs()
	switch {
	case len(ids) == 0:
		return 0, &exit.Error{Code: exit.Unhealthy, Err: fmt.Errorf("the cluster names no brokers"), Next: "moldau cluster health"}
	case wanted < 0:
		return ids[0], nil
	case !slices.Contains(ids, wanted):
		return 0, &exit.Error{Code: exit.NotFound, Err: fmt.Errorf("there is no broker %d", wanted), Next: "moldau cluster info"}
	}
	return wanted, nil
}

// pickConfigs keeps the named ones, or those that are not defaults.
func pickConfigs(rows []configValue, names []string, all bool) ([]configValue, error) {
	var out []configValue
	for _, r := range rows {
		set := r.Source != kmsg.ConfigSourceDefaultConfig.String()
		if len(names) == 0 && (all || set) || slices.Contains(names, r.Name) {
			out = append(out, r)
		}
	}
	for _, n := range names {
		if !slices.ContainsFunc(out, func(r configValue) bool { return r.Name == n }) {
			return nil, &exit.Error{Code: exit.NotFound, Err: fmt.Errorf("there is no config %s", n), Next: "moldau cluster config get --all"}
		}
	}
	return out, nil
}

func newClusterConfigSet(a *app) *cobra.Command {
	var (
		c      change
		broker int32
		remove []string
	)
	cmd := &cobra.Command{
		Use:   "set [KEY=VALUE...]",
		Short: "Change dynamic configs of the whole cluster or of one broker",
		Example: `  moldau cluster config set log.retention.ms=86400000
  moldau cluster config set --unset log.retention.ms --broker 1 -y`,
		RunE: func(cmd *cobra.Command, args []string) error {
			alter, plan, err := configChanges(args, remove)
			if err != nil {
				return err
			}
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				whom, brokers := "every broker", []int32(nil)
				if broker >= 0 {
					whom, brokers = fmt.Sprintf("broker %d", broker), []int32{broker}
				}
				checked, err := adm.ValidateAlterBrokerConfigs(ctx, alter, brokers...)
				if err == nil {
					err = brokerOutcome(a, whom, checked, "")
				}
				if err != nil {
					return err
				}
				ok, err := a.agreed(c, whom+": "+strings.Join(plan, ", "))
				if !ok {
					return err
				}
				done, err := adm.AlterBrokerConfigs(ctx, alter, brokers...)
				if err != nil {
					return err
				}
				return brokerOutcome(a, whom, done, "changed")
			})
		},
	}
	cmd.Flags().Int32Var(&broker, "broker", -1, "only this broker")
	cmd.Flags().StringArrayVar(&remove, "unset", nil, "a config to set back; may be repeated")
	c.bind(cmd)
	return cmd
}

func brokerOutcome(a *app, whom string, answers kadm.AlterConfigsResponses, done string) error {
	for _, r := range answers {
		if r.Err != nil {
			return fmt.Errorf("%s: %w", whom, withMessage(r.Err, r.ErrMessage))
		}
	}
	if done != "" {
		fmt.Fprintf(a.err, "%s: %s\n", whom, done)
	}
	return nil
}
