package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/cmd/moldau/internal/output"
)

// memberRow is one line of `group members`.
type memberRow struct {
	Group      string             `json:"group"`
	Member     string             `json:"member"`
	Instance   string             `json:"instance,omitempty"`
	Client     string             `json:"client"`
	Host       string             `json:"host"`
	Epoch      *int32             `json:"epoch,omitempty"`    // of members in groups of the consumer protocol
	Protocol   string             `json:"protocol,omitempty"` // of members in groups of the consumer protocol
	Partitions map[string][]int32 `json:"partitions"`
}

var memberList = output.List[memberRow]{
	Columns: []output.Column[memberRow]{
		{Head: "GROUP", Text: func(r memberRow) string { return r.Group }},
		{Head: "CLIENT", Text: func(r memberRow) string { return r.Client }},
		{Head: "HOST", Text: func(r memberRow) string { return r.Host }},
		{Head: "PARTITIONS", Text: func(r memberRow) string { return showPartitions(r.Partitions) }},
		{Head: "EPOCH", Wide: true, Text: func(r memberRow) string { return r.epochText() }},
		{Head: "MEMBER", Wide: true, Text: func(r memberRow) string { return r.Member }},
		{Head: "INSTANCE", Wide: true, Text: func(r memberRow) string { return r.Instance }},
	},
	Name: func(r memberRow) string { return r.Member },
}

// epochText is the epoch of a member, with the protocol that it speaks if that is not the group's.
func (r *memberRow) epochText() string {
	switch {
	case r.Epoch == nil:
		return "-"
	case r.Protocol == "classic":
		return fmt.Sprintf("%d (classic)", *r.Epoch)
	default:
		return strconv.Itoa(int(*r.Epoch))
	}
}

// showPartitions writes partitions as topic[0 1 2], a member without any as a warning.
func showPartitions(partitions map[string][]int32) string {
	if len(partitions) == 0 {
		return "none"
	}
	var parts []string
	for topic, list := range partitions {
		parts = append(parts, topic+strings.ReplaceAll(fmt.Sprint(list), "\n", " "))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

func newGroupMembers(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "members GROUP...",
		Short: "Show the members of groups and what they are assigned",
		Example: `  moldau group members billing
  moldau group members billing -o wide`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				lags, err := groupLags(ctx, adm, args)
				if err != nil {
					return err
				}
				var rows []memberRow
				for i := range lags {
					rows = append(rows, membersOf(&lags[i])...)
				}
				return memberList.Print(a.out, a.format, rows)
			})
		},
	}
	a.withFormat(cmd)
	return cmd
}

// membersOf returns the members of a group in the order that the client library gives them.
func membersOf(l *describedGroup) []memberRow {
	if l.consumer != nil {
		return consumerMembers(l.consumer)
	}
	rows := make([]memberRow, 0, len(l.Members))
	for _, m := range l.Members {
		r := memberRow{Group: l.Group, Member: m.MemberID, Client: m.ClientID, Host: strings.TrimPrefix(m.ClientHost, "/"), Partitions: map[string][]int32{}}
		if m.InstanceID != nil {
			r.Instance = *m.InstanceID
		}
		if assigned, ok := m.Assigned.AsConsumer(); ok {
			addAssigned(r.Partitions, assigned)
		}
		rows = append(rows, r)
	}
	return rows
}

func addAssigned(partitions map[string][]int32, assigned *kmsg.ConsumerMemberAssignment) {
	for _, t := range assigned.Topics {
		if len(t.Partitions) > 0 {
			list := slices.Clone(t.Partitions)
			slices.Sort(list)
			partitions[t.Topic] = append(partitions[t.Topic], list...)
		}
	}
}
