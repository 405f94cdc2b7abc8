package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"moldau/cmd/moldau/internal/exit"
	"moldau/cmd/moldau/internal/output"
)

func newGroup(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "group",
		Short: "List, describe, move and delete consumer groups",
	}
	a.withCluster(cmd)
	cmd.AddCommand(
		newGroupList(a), newGroupDescribe(a), newGroupLag(a), newGroupMembers(a), newGroupSeek(a), newGroupDelete(a),
		newGroupOffsetDelete(a), newGroupExport(a), newGroupImport(a),
	)
	return cmd
}

// groupRow is one line of `group list`.
type groupRow struct {
	Name         string `json:"name"`
	State        string `json:"state"`
	Type         string `json:"type"`
	ProtocolType string `json:"protocol_type"`
	Coordinator  int32  `json:"coordinator"`
}

var groupList = output.List[groupRow]{
	Columns: []output.Column[groupRow]{
		{Head: "GROUP", Text: func(r groupRow) string { return r.Name }},
		{Head: "STATE", Text: func(r groupRow) string { return r.State }},
		{Head: "TYPE", Text: func(r groupRow) string { return r.Type }},
		{Head: "PROTOCOL", Text: func(r groupRow) string { return r.ProtocolType }},
		{Head: "COORDINATOR", Wide: true, Text: func(r groupRow) string { return strconv.Itoa(int(r.Coordinator)) }},
	},
	Name: func(r groupRow) string { return r.Name },
}

func newGroupList(a *app) *cobra.Command {
	var states, types []string
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List groups",
		Example: `  moldau group list
  moldau group list --state Stable,Empty -o name
  moldau group list --type consumer`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				listed, err := adm.ListGroups(ctx, states...)
				if err != nil {
					return err
				}
				var rows []groupRow
				for _, g := range listed.Sorted() {
					if len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return strings.EqualFold(t, g.GroupType) }) {
						continue
					}
					rows = append(rows, groupRow{g.Group, g.State, strings.ToLower(g.GroupType), g.ProtocolType, g.Coordinator})
				}
				return groupList.Print(a.out, a.format, rows)
			})
		},
	}
	cmd.Flags().StringSliceVarP(&states, "state", "s", nil, "only groups in one of these states")
	must(cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(
		[]string{"Empty", "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling", "Stable"}, cobra.ShellCompDirectiveNoFileComp)))
	cmd.Flags().StringSliceVarP(&types, "type", "t", nil, "only groups of one of these types: classic, where members assign, consumer, where the broker does")
	must(cmd.RegisterFlagCompletionFunc("type", cobra.FixedCompletions([]string{"classic", "consumer"}, cobra.ShellCompDirectiveNoFileComp)))
	a.withFormat(cmd)
	return cmd
}

// groupLags asks for groups, with members, offsets and lag, in the order of their names. No names are all groups. A named
// group that is not there is an error.
func groupLags(ctx context.Context, adm *kadm.Client, names []string) ([]describedGroup, error) {
	listed, err := adm.ListGroups(ctx)
	if err != nil && len(listed) == 0 {
		return nil, err
	}
	all, err := adm.Lag(ctx, names...)
	if err != nil && len(all) == 0 {
		return nil, err
	}
	for _, g := range listed.Sorted() { // the library knows classic ones only
		if _, ok := all[g.Group]; !ok && len(names) == 0 && isConsumers(g) {
			all[g.Group] = kadm.DescribedGroupLag{Group: g.Group}
		}
	}
	lags := make([]describedGroup, 0, len(all))
	for _, l := range all.Sorted() {
		lags = append(lags, describedGroup{DescribedGroupLag: l})
	}
	if err := describeConsumers(ctx, adm, listed, lags); err != nil {
		return nil, err
	}
	for _, l := range lags {
		switch err := l.Error(); {
		case slices.Contains(names, l.Group) && l.State == "Dead":
			return nil, groupNotFound(l.Group)
		case err != nil:
			return nil, fmt.Errorf("group %s: %w", l.Group, err)
		}
	}
	return lags, nil
}

func groupNotFound(group string) error {
	return &exit.Error{
		Code: exit.NotFound,
		Err:  fmt.Errorf("group %s: %w", group, kerr.GroupIDNotFound),
		Next: "moldau group list",
	}
}
