package broker

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"moldau/broker/coordinator"
	"moldau/broker/coordinator/group"
)

var (
	groupCount      = gauge("kafka_coordinator_group_groupmetadatamanager_numgroups", "Groups that this broker coordinates.")
	groupOffsets    = gauge("kafka_coordinator_group_groupmetadatamanager_numoffsets", "Offsets that those groups have committed.")
	deadGroups      = gauge("kafka_coordinator_group_groupmetadatamanager_numgroupsdead", "Groups that are being removed; here that takes no time.")
	groupMembers    = gauge("moldau_group_members", "Members of a group that this broker coordinates.", "group")
	groupIdle       = gauge("moldau_group_members_without_partition", "Members of a stable group of consumers that were assigned no partition.", "group")
	groupStateCount = map[group.State]*prometheus.Desc{
		group.Empty:               gauge("kafka_coordinator_group_groupmetadatamanager_numgroupsempty", "Groups without members."),
		group.PreparingRebalance:  gauge("kafka_coordinator_group_groupmetadatamanager_numgroupspreparingrebalance", "Groups that wait for their members to join."),
		group.CompletingRebalance: gauge("kafka_coordinator_group_groupmetadatamanager_numgroupscompletingrebalance", "Groups that wait for their leader's assignment."),
		group.Stable:              gauge("kafka_coordinator_group_groupmetadatamanager_numgroupsstable", "Groups whose members have their assignments."),
	}
	consumerGroupCount = gauge("kafka_server_group_coordinator_metrics_consumer_group_count", "Groups of the consumer protocol (KIP-848), by state.", "state")
	groupProtocolCount = gauge("kafka_server_group_coordinator_metrics_group_count", "Groups by protocol.", "protocol")
	groupPartitions    = gauge("moldau_coordinator_partitions", "Partitions of __consumer_offsets that this broker coordinates.", "state")
)

// groupScrapeTimeout bounds how long a scrape waits for a coordinator that is busy.
const groupScrapeTimeout = 2 * time.Second

// collectGroups tells the numbers of the groups that this node coordinates. What is being loaded is left out.
func (n *Node) collectGroups(send func(*prometheus.Desc, float64, ...string)) {
	partitions := n.groups.Partitions()
	loading := n.groups.Loading()
	send(groupPartitions, float64(loading), "loading")
	send(groupPartitions, float64(len(partitions)-loading), "loaded")
	counts := make([]*coordinator.Reply[group.Counts], len(partitions))
	for i, p := range partitions {
		counts[i] = coordinator.Ask(n.groups, p,
			func(_ *coordinator.Turn, s *group.Shard, reply *coordinator.Reply[group.Counts]) {
				reply.SendNow(s.Count())
			})
	}
	ctx, cancel := context.WithTimeout(context.Background(), groupScrapeTimeout)
	defer cancel()
	groups, consumers, offsets := 0, 0, 0
	states, consumerStates := map[group.State]int{}, map[group.State]int{}
	for _, r := range counts {
		c, err := r.Wait(ctx)
		if err != nil {
			continue
		}
		offsets += c.Offsets
		for state, count := range c.Groups {
			states[state] += count
			groups += count
		}
		for state, count := range c.Consumers {
			consumerStates[state] += count
			consumers += count
		}
		for id, members := range c.Members {
			send(groupMembers, float64(members), label(id))
			send(groupIdle, float64(c.IdleMembers[id]), label(id))
		}
	}
	send(groupCount, float64(groups+consumers))
	send(groupProtocolCount, float64(groups), string(group.Classic))
	send(groupProtocolCount, float64(consumers), string(group.Consumer))
	for _, state := range []group.State{group.Empty, group.Assigning, group.Reconciling, group.Stable} {
		send(consumerGroupCount, float64(consumerStates[state]), strings.ToLower(state.String()))
	}
	send(groupOffsets, float64(offsets))
	send(deadGroups, 0)
	for state, desc := range groupStateCount {
		send(desc, float64(states[state]))
	}
}
