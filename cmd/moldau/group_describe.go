package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"

	"moldau/cmd/moldau/internal/output"
)

// groupDescription is what `group describe` tells about one group.
type groupDescription struct {
	Name         string      `json:"name"`
	State        string      `json:"state"`
	Type         string      `json:"type"`
	ProtocolType string      `json:"protocol_type"`
	Protocol     string      `json:"protocol"`        // of a group of the consumer protocol: the assignor
	Epoch        *int32      `json:"epoch,omitempty"` // of a group of the consumer protocol
	Coordinator  int32       `json:"coordinator"`
	Lag          int64       `json:"lag"`
	Members      []memberRow `json:"members"`
	// WithoutPartition is how many members of a stable group have nothing to do.
	WithoutPartition int      `json:"members_without_partition"`
	Partitions       []lagRow `json:"partitions"`
}

func newGroupDescribe(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "describe GROUP...",
		Aliases: []string{"info"},
		Short:   "Show state, members, offsets and lag of groups",
		Example: `  moldau group describe billing
  moldau group describe billing -o json`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				lags, err := groupLags(ctx, adm, args)
				if err != nil {
					return err
				}
				groups := make([]groupDescription, len(lags))
				for i := range lags {
					groups[i] = groupDescriptionOf(&lags[i])
				}
				return a.printGroups(groups)
			})
		},
	}
	a.withFormat(cmd)
	return cmd
}

func groupDescriptionOf(l *describedGroup) groupDescription {
	d := groupDescription{
		Name: l.Group, State: l.State, Type: l.kind(), ProtocolType: l.ProtocolType, Protocol: l.Protocol, Coordinator: l.Coordinator.NodeID,
		Members: membersOf(l), Partitions: lagRowsOf(l.DescribedGroupLag),
	}
	if l.consumer != nil {
		d.Epoch = &l.consumer.Epoch
	}
	if d.Partitions == nil {
		d.Partitions = []lagRow{}
	}
	for _, p := range d.Partitions {
		d.Lag += p.Lag
	}
	if l.State != "Stable" || l.ProtocolType != "consumer" {
		return d
	}
	for _, m := range d.Members {
		if len(m.Partitions) == 0 {
			d.WithoutPartition++
		}
	}
	return d
}

func (a *app) printGroups(groups []groupDescription) error {
	return output.Value(a.out, a.format, groups, func(w io.Writer) error {
		for i, d := range groups {
			if i > 0 {
				if _, err := fmt.Fprintln(w); err != nil {
					return err
				}
			}
			if err := a.printGroup(w, d); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *app) printGroup(w io.Writer, d groupDescription) error {
	protocol := d.ProtocolType
	if d.Protocol != "" {
		protocol += " " + d.Protocol
	}
	if _, err := fmt.Fprintf(w, "group         %s\nstate         %s\ntype          %s\nprotocol      %s\ncoordinator   %d\nmembers       %d\nlag           %d\n",
		d.Name, d.State, d.typeText(), protocol, d.Coordinator, len(d.Members), d.Lag); err != nil {
		return err
	}
	if d.WithoutPartition > 0 {
		if _, err := fmt.Fprintf(w, "idle members  %d of %d have no partition: there are %d partitions for them, so add %d (moldau topic add-partitions)\n",
			d.WithoutPartition, len(d.Members), d.assigned(), d.WithoutPartition); err != nil {
			return err
		}
	}
	if len(d.Members) > 0 {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := memberList.Print(w, a.format, d.Members); err != nil {
			return err
		}
	}
	if len(d.Partitions) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return lagList.Print(w, a.format, d.Partitions)
}

// typeText is the type of the group, with the epoch where it has one.
func (d *groupDescription) typeText() string {
	if d.Epoch == nil {
		return d.Type
	}
	return fmt.Sprintf("%s, epoch %d", d.Type, *d.Epoch)
}

// assigned is how many partitions the members share.
func (d *groupDescription) assigned() int {
	n := 0
	for _, m := range d.Members {
		for _, list := range m.Partitions {
			n += len(list)
		}
	}
	return n
}
