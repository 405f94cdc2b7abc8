package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
)

// completionPatience is how long a shell waits for live completion.
const completionPatience = 2 * time.Second

// completeTopics completes the names of the cluster's topics.
func (a *app) completeTopics(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeNames(cmd, typed, func(ctx context.Context, adm *kadm.Client) ([]string, error) {
		topics, err := adm.ListTopics(ctx)
		return topics.Names(), err
	})
}

// completeFirst completes a topic as the first argument only.
func (a *app) completeFirst(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeTopics(cmd, args, typed)
}

// completeGroups completes the names of the cluster's groups.
func (a *app) completeGroups(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeNames(cmd, typed, func(ctx context.Context, adm *kadm.Client) ([]string, error) {
		groups, err := adm.ListGroups(ctx)
		return groups.Groups(), err
	})
}

// completeGroup completes a group as the first argument only.
func (a *app) completeGroup(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeGroups(cmd, args, typed)
}

// completeNames completes what was typed to the names that begin so.
func (a *app) completeNames(cmd *cobra.Command, typed string, list func(context.Context, *kadm.Client) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	var names []string
	err := a.admin(cmd, func(ctx context.Context, adm *kadm.Client) (err error) {
		ctx, cancel := context.WithTimeout(ctx, completionPatience)
		defer cancel()
		names, err = list(ctx, adm)
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, typed) }), cobra.ShellCompDirectiveNoFileComp
}
