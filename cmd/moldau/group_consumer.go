package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
)

// describedGroup is a group with its members and its lag. consumer is what only groups of the consumer protocol (KIP-848) have.
type describedGroup struct {
	kadm.DescribedGroupLag
	consumer *kadm.DescribedConsumerGroup
}

// kind is the type of the group, as group list names it.
func (g *describedGroup) kind() string {
	if g.consumer != nil {
		return "consumer"
	}
	return "classic"
}

// isConsumers tells whether a group is one of the consumer protocol.
func isConsumers(g kadm.ListedGroup) bool { return strings.EqualFold(g.GroupType, "consumer") }

// describeConsumers asks for the groups of the consumer protocol, and works out their lag.
func describeConsumers(ctx context.Context, adm *kadm.Client, listed kadm.ListedGroups, groups []describedGroup) error {
	var names []string
	for _, g := range groups {
		if isConsumers(listed[g.Group]) {
			names = append(names, g.Group)
		}
	}
	if len(names) == 0 {
		return nil
	}
	found, err := adm.DescribeConsumerGroups(ctx, names...)
	if err != nil && len(found) == 0 {
		return err
	}
	for i := range groups {
		c, ok := found[groups[i].Group]
		if !ok || c.Err != nil {
			continue
		}
		groups[i].consumer = &c
		if err := groups[i].fill(ctx, adm); err != nil {
			return err
		}
	}
	return nil
}

// fill works out what a classic group would say of itself.
func (g *describedGroup) fill(ctx context.Context, adm *kadm.Client) error {
	c := g.consumer
	g.Coordinator, g.State, g.ProtocolType, g.Protocol, g.DescribeErr = c.Coordinator, c.State, "consumer", c.AssignorName, nil
	fetched := adm.FetchManyOffsets(ctx, g.Group)[g.Group]
	if fetched.Err != nil {
		return fetched.Err
	}
	commits := fetched.Fetched
	owners := make(map[string]map[int32]*kadm.DescribedGroupMember)
	for _, m := range c.Members {
		member := &kadm.DescribedGroupMember{MemberID: m.MemberID, InstanceID: m.InstanceID, ClientID: m.ClientID, ClientHost: m.ClientHost}
		for topic, partitions := range m.Assignment {
			for p := range partitions {
				if _, ok := commits.Lookup(topic, p); !ok { // nothing was committed yet
					commits.Add(kadm.OffsetResponse{Offset: kadm.Offset{Topic: topic, Partition: p, At: -1}})
				}
				if owners[topic] == nil {
					owners[topic] = make(map[int32]*kadm.DescribedGroupMember)
				}
				owners[topic][p] = member
			}
		}
	}
	if len(commits) == 0 {
		return nil
	}
	topics := commits.Partitions().Topics()
	starts, err := adm.ListStartOffsets(ctx, topics...)
	if err != nil {
		return err
	}
	ends, err := adm.ListEndOffsets(ctx, topics...)
	if err != nil {
		return err
	}
	g.Lag = kadm.CalculateGroupLagWithStartOffsets(kadm.DescribedGroup{Group: g.Group}, commits, starts, ends)
	for topic, partitions := range g.Lag {
		for p, l := range partitions {
			l.Member = owners[topic][p]
			partitions[p] = l
		}
	}
	return nil
}

// consumerMembers returns the members of a group of the consumer protocol.
func consumerMembers(c *kadm.DescribedConsumerGroup) []memberRow {
	rows := make([]memberRow, 0, len(c.Members))
	for _, m := range c.Members {
		r := memberRow{
			Group: c.Group, Member: m.MemberID, Client: m.ClientID, Host: strings.TrimPrefix(m.ClientHost, "/"),
			Epoch: &m.MemberEpoch, Protocol: "consumer", Partitions: map[string][]int32{},
		}
		if m.MemberType == 0 {
			r.Protocol = "classic"
		}
		if m.InstanceID != nil {
			r.Instance = *m.InstanceID
		}
		for topic, partitions := range m.Assignment {
			if len(partitions) > 0 {
				r.Partitions[topic] = slices.Sorted(maps.Keys(partitions))
			}
		}
		rows = append(rows, r)
	}
	return rows
}
