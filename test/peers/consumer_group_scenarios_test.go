//go:build peers

package peers

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumerGroupScenarios are the requests of groups of the consumer protocol (KIP-848), and of groups that change their protocol.
var consumerGroupScenarios = []scenario{
	{"consumer group of one", consumerGroupOfOne},
	{"consumer group of two", consumerGroupOfTwo},
	{"consumer group static members", consumerGroupStatic},
	{"consumer group refusals", consumerGroupRefusals},
	{"consumer group regex", consumerGroupRegex},
	{"consumer group offsets", consumerGroupOffsets},
	{"consumer group transactions", consumerGroupTransactions},
	{"consumer group topics", consumerGroupTopics},
	{"consumer group revocation", consumerGroupRevocation},
	{"consumer group upgrade of two", consumerGroupUpgradeOfTwo},
	{"consumer group upgrade", consumerGroupUpgrade},
	{"consumer group configs", consumerGroupConfigs},
}

// consumerBeat is a heartbeat. One with epoch 0 joins, and says all that has to be said.
func consumerBeat(group, member string, epoch int32, topics ...string) *kmsg.ConsumerGroupHeartbeatRequest {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Group, req.MemberID, req.MemberEpoch = group, member, epoch
	if len(topics) > 0 {
		req.SubscribedTopicNames = topics
	}
	if epoch == 0 {
		req.RebalanceTimeoutMillis, req.Topics = 30_000, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	}
	return req
}

// owning says what the member has.
func owning(req *kmsg.ConsumerGroupHeartbeatRequest, topic [16]byte, partitions ...int32) *kmsg.ConsumerGroupHeartbeatRequest {
	t := kmsg.NewConsumerGroupHeartbeatRequestTopic()
	t.TopicID, t.Partitions = topic, partitions
	req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	if len(partitions) > 0 {
		req.Topics = append(req.Topics, t)
	}
	return req
}

// beat asks and puts what is a set in order. It returns the assignment, if there is one.
func (s *session) beat(label string, req *kmsg.ConsumerGroupHeartbeatRequest, v int16) *kmsg.ConsumerGroupHeartbeatResponse {
	s.tb.Helper()
	n := len(s.log)
	resp, ok := s.ask("ConsumerGroupHeartbeat "+label, req, v).(*kmsg.ConsumerGroupHeartbeatResponse)
	if !ok {
		s.tb.Fatalf("%s: no answer", label)
	}
	if resp.Assignment != nil {
		slices.SortFunc(resp.Assignment.Topics, func(a, b kmsg.ConsumerGroupHeartbeatResponseAssignmentTopic) int {
			return slices.Compare(a.TopicID[:], b.TopicID[:])
		})
		for i := range resp.Assignment.Topics {
			slices.Sort(resp.Assignment.Topics[i].Partitions)
		}
	}
	s.log[n].fields = s.normalize(Flatten(resp))
	if req.MemberID == "" {
		s.log[n].fields["MemberID"] = "<chosen>"
	}
	s.hideMembers(n)
	return resp
}

// partitionsOf returns the partitions of a topic that an answer assigns.
func partitionsOf(resp *kmsg.ConsumerGroupHeartbeatResponse, topic [16]byte) []int32 {
	if resp.Assignment == nil {
		return nil
	}
	for _, t := range resp.Assignment.Topics {
		if t.TopicID == topic {
			return t.Partitions
		}
	}
	return nil
}

// describeConsumers asks for groups, and puts members and partitions in order.
func (s *session) describeConsumers(label string, v int16, groups ...string) *kmsg.ConsumerGroupDescribeResponse {
	s.tb.Helper()
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Groups, req.IncludeAuthorizedOperations = groups, true
	n := len(s.log)
	resp := s.ask("ConsumerGroupDescribe "+label, req, v).(*kmsg.ConsumerGroupDescribeResponse)
	for i := range resp.Groups {
		members := resp.Groups[i].Members
		slices.SortFunc(members, func(a, b kmsg.ConsumerGroupDescribeResponseGroupMember) int {
			return strings.Compare(a.MemberID, b.MemberID)
		})
		for j := range members {
			slices.Sort(members[j].SubscribedTopics)
			for _, a := range []*kmsg.Assignment{&members[j].Assignment, &members[j].TargetAssignment} {
				for k := range a.TopicPartitions {
					slices.Sort(a.TopicPartitions[k].Partitions)
				}
			}
		}
	}
	s.log[n].fields = s.normalize(Flatten(resp))
	s.hideMembers(n)
	return resp
}

// createVisible makes a topic and waits until coordinators of groups see it.
func (s *session) createVisible(topic string, partitions int32) [16]byte {
	s.tb.Helper()
	id, probe := s.create(topic, partitions), "probe-"+topic
	s.awaitCoordinator(probe)
	beat := consumerBeat(probe, "p", 0, topic)
	s.until("topic "+topic+" for groups", func() bool {
		resp := s.quiet(beat, 1).(*kmsg.ConsumerGroupHeartbeatResponse)
		if resp.ErrorCode != 0 {
			return false
		}
		beat = consumerBeat(probe, "p", resp.MemberEpoch)
		return len(partitionsOf(resp, id)) == int(partitions)
	})
	s.quiet(consumerBeat(probe, "p", -1), 1)
	return id
}

// settleConsumers sends heartbeats, unrecorded, until the group is stable.
func (s *session) settleConsumers(group string, members map[string]*kmsg.ConsumerGroupHeartbeatRequest) {
	s.tb.Helper()
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Groups = []string{group}
	s.until("stable group "+group, func() bool {
		for _, beat := range members {
			if resp := s.quiet(beat, 1).(*kmsg.ConsumerGroupHeartbeatResponse); resp.ErrorCode == 0 {
				beat.MemberEpoch = resp.MemberEpoch
			}
		}
		return s.quiet(req, 1).(*kmsg.ConsumerGroupDescribeResponse).Groups[0].State == "Stable"
	})
}

func consumerGroupOfOne(s *session) {
	versions(0, 1, func(v int16) {
		group, topic := name("consumers-one", v), name("consumers-one-topic", v)
		s.awaitCoordinator(group)
		id := s.createVisible(topic, 3)
		s.beat("join", consumerBeat(group, "a", 0, topic), v)
		s.beat("again", consumerBeat(group, "a", 2), v)
		s.beat("in the epoch before", owning(consumerBeat(group, "a", 0, topic), id), v)
		s.describeConsumers("of one", v, group, "nobody")
		full := owning(consumerBeat(group, "a", 2, topic), id, 0, 1, 2)
		full.RebalanceTimeoutMillis = 30_000
		s.beat("with everything", full, v)
		s.beat("ahead", consumerBeat(group, "a", 9), v)
		s.beat("of a stranger", consumerBeat(group, "b", 1), v)
		s.beat("leaves as a stranger", consumerBeat(group, "b", -1), v)
		s.askGroup("DescribeGroups of consumers", describeRequest(group), 6)
		s.askGroup("Heartbeat of consumers", heartbeatRequest(group, "a", 2), 4)
		s.askGroup("SyncGroup of consumers", syncRequest(group, "a", 2), 5)
		remove := kmsg.NewPtrDeleteGroupsRequest()
		remove.Groups = []string{group}
		s.ask("DeleteGroups consumers with members", remove, 3)
		s.beat("leaves", consumerBeat(group, "a", -1), v)
		s.beat("leaves again", consumerBeat(group, "a", -1), v)
		s.describeConsumers("of nobody", v, group)
		s.beat("comes back", consumerBeat(group, "a", 0, topic), v)
		s.askGroup("LeaveGroup of consumers", leaveRequest(group, "a", "stranger"), 5)
		s.beat("leaves for good", consumerBeat(group, "a", -1), v)
		s.ask("DeleteGroups consumers", remove, 3)
		s.describeConsumers("deleted", v, group)
	})
}

func consumerGroupOfTwo(s *session) {
	for _, assignor := range []string{"uniform", "range"} {
		group, topic := "consumers-two-"+assignor, "consumers-two-topic-"+assignor
		s.awaitCoordinator(group)
		id := s.createVisible(topic, 4)
		join := func(member string) *kmsg.ConsumerGroupHeartbeatRequest {
			req := consumerBeat(group, member, 0, topic)
			req.ServerAssignor = kmsg.StringPtr(assignor)
			return req
		}
		s.beat("first", join("a"), 1)
		s.beat("second waits", join("b"), 1)
		s.describeConsumers("second waits", 1, group)
		told := s.beat("first is told to revoke", owning(consumerBeat(group, "a", 2), id, 0, 1, 2, 3), 1)
		keeps := partitionsOf(told, id)
		s.beat("first has not revoked", owning(consumerBeat(group, "a", 2), id, 0, 1, 2, 3), 1)
		s.beat("second waits on", consumerBeat(group, "b", 3), 1)
		s.beat("first has revoked", owning(consumerBeat(group, "a", 2), id, keeps...), 1)
		s.beat("second has its own", consumerBeat(group, "b", 3), 1)
		s.describeConsumers("of two", 1, group)
		s.beat("first joins anew", join("a"), 1)
		s.beat("second leaves", consumerBeat(group, "b", -1), 1)
		s.describeConsumers("second left", 1, group)
		s.beat("first has all", owning(consumerBeat(group, "a", 3), id, keeps...), 1)
		list := kmsg.NewPtrListGroupsRequest()
		list.TypesFilter, list.StatesFilter = []string{"Consumer"}, []string{"stable"}
		listed := s.quiet(list, 5).(*kmsg.ListGroupsResponse)
		listed.Groups = slices.DeleteFunc(listed.Groups, func(g kmsg.ListGroupsResponseGroup) bool { return g.Group != group })
		s.log = append(s.log, exchange{"ListGroups consumers v5", Flatten(listed)})
	}
}

func consumerGroupStatic(s *session) {
	group, topic := "consumers-static", "consumers-static-topic"
	s.awaitCoordinator(group)
	s.createVisible(topic, 2)
	static := func(req *kmsg.ConsumerGroupHeartbeatRequest) *kmsg.ConsumerGroupHeartbeatRequest {
		req.InstanceID = kmsg.StringPtr("i")
		return req
	}
	s.beat("static join", static(consumerBeat(group, "a", 0, topic)), 1)
	s.beat("static unreleased", static(consumerBeat(group, "b", 0, topic)), 1)
	s.beat("static fenced", static(consumerBeat(group, "b", 2)), 1)
	s.beat("static leaves fenced", static(consumerBeat(group, "b", -2)), 1)
	s.beat("static leaves for a while", static(consumerBeat(group, "a", -2)), 1)
	s.describeConsumers("static away", 1, group)
	s.beat("static comes back", static(consumerBeat(group, "b", 0, topic)), 1)
	s.beat("static old id", consumerBeat(group, "a", 2), 1)
	s.describeConsumers("static back", 1, group)
	unknown := consumerBeat(group, "b", 2)
	unknown.InstanceID = kmsg.StringPtr("other")
	s.beat("static unknown", unknown, 1)
	s.beat("static leaves", static(consumerBeat(group, "b", -1)), 1)
	s.describeConsumers("static gone", 1, group)
}

func consumerGroupRefusals(s *session) {
	group, topic := "consumers-refused", "consumers-refused-topic"
	s.awaitCoordinator(group)
	id := s.createVisible(topic, 1)
	versions(0, 1, func(v int16) {
		s.beat("refused no group", consumerBeat("", "a", 0, topic), v)
		s.beat("refused unknown group", consumerBeat("consumers-none", "a", 1), v)
		s.beat("refused leave of unknown group", consumerBeat("consumers-none", "a", -1), v)
		s.beat("refused epoch", consumerBeat(group, "a", -3), v)
		s.beat("refused static without instance", consumerBeat(group, "a", -2), v)
		s.beat("refused no member id", consumerBeat(group, "", 1), v)
		s.beat("refused owned when joining", owning(consumerBeat(group, "a", 0, topic), id, 0), v)
		nothing := consumerBeat(group, "a", 0)
		s.beat("refused no subscription", nothing, v)
		noTimeout := consumerBeat(group, "a", 0, topic)
		noTimeout.RebalanceTimeoutMillis = -1
		s.beat("refused no rebalance timeout", noTimeout, v)
		assignor := consumerBeat(group, "a", 0, topic)
		assignor.ServerAssignor = kmsg.StringPtr("mine")
		s.beat("refused assignor", assignor, v)
		instance := consumerBeat(group, "a", 0, topic)
		instance.InstanceID = kmsg.StringPtr("")
		s.beat("refused empty instance", instance, v)
		rack := consumerBeat(group, "a", 0, topic)
		rack.RackID = kmsg.StringPtr("")
		s.beat("refused empty rack", rack, v)
	})
	s.beat("refused no member id to join", consumerBeat(group, "", 0, topic), 1)
	regex := consumerBeat(group, "a", 0)
	regex.SubscribedTopicRegex = kmsg.StringPtr("a(")
	s.beat("refused regex", regex, 1)
	empty := consumerBeat(group, "a", 0)
	empty.SubscribedTopicRegex = kmsg.StringPtr("")
	s.beat("empty regex", empty, 1)
	s.describeConsumers("no group id", 1, "")
	s.beat("joined without an id", consumerBeat(name(group, 0), "", 0, topic), 0)
}

func consumerGroupRegex(s *session) {
	group := "consumers-regex"
	s.awaitCoordinator(group)
	s.createVisible("consumers-rx-1", 1)
	s.createVisible("x-consumers-rx-1", 1)
	join := consumerBeat(group, "a", 0)
	join.SubscribedTopicRegex = kmsg.StringPtr("consumers-rx.*")
	epoch := s.quiet(join, 1).(*kmsg.ConsumerGroupHeartbeatResponse).MemberEpoch
	beats := map[string]*kmsg.ConsumerGroupHeartbeatRequest{"a": consumerBeat(group, "a", epoch)}
	described := func() *kmsg.ConsumerGroupDescribeResponseGroup {
		req := kmsg.NewPtrConsumerGroupDescribeRequest()
		req.Groups = []string{group}
		return &s.quiet(req, 1).(*kmsg.ConsumerGroupDescribeResponse).Groups[0]
	}
	s.until("resolved expression", func() bool {
		s.settleConsumers(group, beats)
		return len(described().Members[0].Assignment.TopicPartitions) == 1
	})
	d := described()
	d.Epoch, d.AssignmentEpoch, d.Members[0].MemberEpoch = 0, 0, 0 // Kafka resolves later, which takes another epoch
	s.log = append(s.log, exchange{"ConsumerGroupDescribe regex v1", s.normalize(Flatten(d))})
	s.hideMembers(len(s.log) - 1)
}

func consumerGroupOffsets(s *session) {
	group, topic := "consumers-offsets", "consumers-offsets-topic"
	s.awaitCoordinator(group)
	id := s.createVisible(topic, 2)
	s.beat("join to commit", consumerBeat(group, "a", 0, topic), 1)
	commit := func(label, member string, epoch int32, v int16) {
		req := commitRequest(group, topic, id, 5, 6)
		req.MemberID, req.Generation = member, epoch
		s.ask("OffsetCommit consumer "+label, req, v)
	}
	for _, v := range []int16{8, 9, 10} {
		commit("member", "a", 2, v)
		commit("stale", "a", 1, v)
		commit("ahead", "a", 4, v)
		commit("stranger", "b", 2, v)
		commit("nobody", "", -1, v)
	}
	for _, v := range []int16{9, 10} {
		for _, epoch := range []int32{-1, 0, 2, 3} {
			req := offsetFetchRequest(v, group, topic, id, 0, 1)
			req.Groups[0].MemberID, req.Groups[0].MemberEpoch = kmsg.StringPtr("a"), epoch
			s.ask("OffsetFetch consumer", req, v)
			req.Groups[0].MemberID = kmsg.StringPtr("b")
			s.ask("OffsetFetch consumer stranger", req, v)
		}
	}
	s.ask("OffsetFetch consumers all", offsetFetchRequest(8, group, "", id), 8)
	remove := kmsg.NewPtrOffsetDeleteRequest()
	remove.Group = group
	t := kmsg.NewOffsetDeleteRequestTopic()
	t.Topic = topic
	t.Partitions = append(t.Partitions, kmsg.NewOffsetDeleteRequestTopicPartition())
	remove.Topics = append(remove.Topics, t)
	s.ask("OffsetDelete consumers subscribed", remove, 0)
	s.beat("leaves to commit", consumerBeat(group, "a", -1), 1)
	commit("of an empty group", "", -1, 9)
	s.ask("OffsetDelete consumers", remove, 0)
	s.ask("OffsetFetch consumers all", offsetFetchRequest(8, group, "", id), 8)
}

// consumerGroupTransactions is about offsets that members commit in transactions.
func consumerGroupTransactions(s *session) {
	group, topic := "consumers-txn", "consumers-txn-topic"
	s.awaitCoordinator(group)
	id := s.createVisible(topic, 2)
	s.beat("join to commit in a transaction", consumerBeat(group, "a", 0, topic), 1)
	versions(3, 6, func(v int16) {
		p := s.begin(name(group, v))
		if v < 5 {
			add := kmsg.NewPtrAddOffsetsToTxnRequest()
			add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = p.id, p.pid, p.epoch, group
			s.quiet(add, 4)
		}
		for _, c := range []struct {
			label, group, member string
			epoch                int32
		}{
			{"member", group, "a", 2},
			{"stale", group, "a", 1},
			{"ahead", group, "a", 4},
			{"stranger", group, "b", 2},
			{"nobody", group, "", -1},
			{"without an epoch", group, "a", -1},
			{"of another group", name("consumers-txn-none", v), "a", 2},
		} {
			req := txnCommit(p, c.group, topic, id, 0, 7)
			req.MemberID, req.Generation = c.member, c.epoch
			s.ask("TxnOffsetCommit consumer "+c.label, req, v)
		}
		end := int16(4)
		if v >= 5 {
			end = 5
		}
		s.quiet(endRequest(p, true), end)
		s.settle(p.id)
	})
	s.ask("OffsetFetch consumers after transactions", offsetFetchRequest(8, group, "", id), 8)
}

// consumerGroupRevocation is about a member that does not give up in time what it is told to.
func consumerGroupRevocation(s *session) {
	group, topic := "consumers-revocation", "consumers-revocation-topic"
	s.awaitCoordinator(group)
	id := s.createVisible(topic, 2)
	slow := consumerBeat(group, "a", 0, topic)
	slow.RebalanceTimeoutMillis = 500
	s.beat("slow joins", slow, 1)
	s.beat("quick joins", consumerBeat(group, "b", 0, topic), 1)
	s.beat("slow is told", owning(consumerBeat(group, "a", 2), id, 0, 1), 1)
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Groups = []string{group}
	s.until("slow is removed", func() bool {
		return len(s.quiet(req, 1).(*kmsg.ConsumerGroupDescribeResponse).Groups[0].Members) == 1
	})
	s.describeConsumers("slow is gone", 1, group)
	s.beat("slow comes too late", owning(consumerBeat(group, "a", 2), id, 0), 1)
	s.beat("quick has all", consumerBeat(group, "b", 3), 1)
	s.beat("slow joins again", slow, 1)
}

// consumerGroupUpgradeOfTwo has two members of the classic protocol, one of them static, replaced one by one.
func consumerGroupUpgradeOfTwo(s *session) {
	group, topic := "consumers-upgrade-two", "t-consumers-upgrade-two"
	s.awaitCoordinator(group)
	s.createVisible(topic, 4)
	static := joinRequest(group, "", "range")
	static.InstanceID = kmsg.StringPtr("i")
	member := s.joinAlone("JoinGroup static", static, 9).MemberID
	assignment := kmsg.NewConsumerMemberAssignment()
	at := kmsg.NewConsumerMemberAssignmentTopic()
	at.Topic, at.Partitions = topic, []int32{0, 1, 2, 3}
	assignment.Topics = append(assignment.Topics, at)
	s.askGroup("SyncGroup static", syncRequest(group, member, 1, member, string(assignment.AppendTo(nil))), 5)
	s.beat("comes to a static one", consumerBeat(group, "n", 0, topic), 1)
	s.describeConsumers("static upgraded", 1, group)
	replacing := consumerBeat(group, "r", 0, topic)
	replacing.InstanceID = kmsg.StringPtr("i")
	s.beat("replaces the static one", replacing, 1)
	s.describeConsumers("static replaced", 1, group)
	s.askGroup("Heartbeat static replaced", heartbeatRequest(group, member, 1), 4)
	away := consumerBeat(group, "r", -2)
	away.InstanceID = kmsg.StringPtr("i")
	s.beat("static away for a while", away, 1)
	s.beat("other leaves", consumerBeat(group, "n", -1), 1)
	s.describeConsumers("only the one away", 1, group)
	back := joinRequest(group, "", "range")
	back.InstanceID = kmsg.StringPtr("i")
	joined := s.askGroup("JoinGroup static downgrades", back, 9).(*kmsg.JoinGroupResponse)
	s.log[len(s.log)-1].fields["MemberID"] = "<chosen>" // a UUID alone in Kafka, here with the instance id before it
	back.MemberID = joined.MemberID
	s.askGroup("DescribeGroups static downgraded", describeRequest(group), 6)
	s.log[len(s.log)-1].fields["Groups["+group+"].Members[0].MemberID"] = "<chosen>"
}

func consumerGroupTopics(s *session) {
	group := "consumers-topics"
	s.awaitCoordinator(group)
	s.createVisible("consumers-topics-1", 1)
	joined := s.beat("join topics to come", consumerBeat(group, "a", 0, "consumers-topics-1", "consumers-topics-2"), 1)
	id := s.create("consumers-topics-2", 2)
	beats := map[string]*kmsg.ConsumerGroupHeartbeatRequest{"a": consumerBeat(group, "a", joined.MemberEpoch)}
	s.until("assigned new topic", func() bool {
		s.settleConsumers(group, beats)
		req := kmsg.NewPtrConsumerGroupDescribeRequest()
		req.Groups = []string{group}
		return len(s.quiet(req, 1).(*kmsg.ConsumerGroupDescribeResponse).Groups[0].Members[0].Assignment.TopicPartitions) == 2
	})
	s.nameID(string(id[:]))
	s.describeConsumers("new topic", 1, group)
	s.beat("fewer topics", consumerBeat(group, "a", beats["a"].MemberEpoch, "consumers-topics-2"), 1)
	s.beat("fewer topics revoked", owning(consumerBeat(group, "a", beats["a"].MemberEpoch), id, 0, 1), 1)
	s.describeConsumers("fewer topics", 1, group)
}

func consumerGroupUpgrade(s *session) {
	group, topic := "consumers-upgrade", "t-consumers-upgrade"
	s.awaitCoordinator(group)
	s.createVisible(topic, 2)
	member := s.joinAlone("JoinGroup upgrade", joinRequest(group, "", "range"), 9).MemberID
	assignment := kmsg.NewConsumerMemberAssignment()
	at := kmsg.NewConsumerMemberAssignmentTopic()
	at.Topic, at.Partitions = topic, []int32{0, 1}
	assignment.Topics = append(assignment.Topics, at)
	s.askGroup("SyncGroup upgrade", syncRequest(group, member, 1, member, string(assignment.AppendTo(nil))), 5)
	s.beat("upgrades", consumerBeat(group, "n", 0, topic), 1)
	s.describeConsumers("upgraded", 1, group)
	s.askGroup("DescribeGroups upgraded", describeRequest(group), 6)
	s.askGroup("Heartbeat upgraded", heartbeatRequest(group, member, 1), 4)
	s.askGroup("Heartbeat upgraded ahead", heartbeatRequest(group, member, 2), 4)
	s.askGroup("SyncGroup upgraded", syncRequest(group, member, 1), 5)
	s.askGroup("JoinGroup upgraded", joinRequest(group, member, "range"), 9)
	s.askGroup("SyncGroup upgraded joined", syncRequest(group, member, 2), 5)
	s.askGroup("Heartbeat upgraded joined", heartbeatRequest(group, member, 2), 4)
	s.beat("upgraded has its own", consumerBeat(group, "n", 2), 1)
	s.describeConsumers("upgraded and joined", 1, group)
	commit := commitRequest(group, topic, [16]byte{}, 1)
	commit.MemberID, commit.Generation = member, 1
	s.askGroup("OffsetCommit upgraded stale", commit, 8)
	commit.Generation = 2
	s.askGroup("OffsetCommit upgraded", commit, 8)
	s.askGroup("JoinGroup upgraded other protocol", joinRequest(group, "", "sticky"), 3)
	s.beat("downgrades", consumerBeat(group, "n", -1), 1)
	s.describeConsumers("downgraded", 1, group)
	s.askGroup("DescribeGroups downgraded", describeRequest(group), 6)
	s.askGroup("Heartbeat downgraded", heartbeatRequest(group, member, 2), 4)
	s.askGroup("JoinGroup downgraded", joinRequest(group, member, "range"), 9)
	s.askGroup("LeaveGroup downgraded", leaveRequest(group, member), 5)
	s.beat("joins an empty classic group", consumerBeat(group, "n", 0, topic), 1)
	s.beat("leaves it", consumerBeat(group, "n", -1), 1)
	s.joinAlone("JoinGroup of an empty consumer group", joinRequest(group, "", "range"), 9)
}

func consumerGroupConfigs(s *session) {
	alter := func(label, key, value string) {
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		r := kmsg.NewIncrementalAlterConfigsRequestResource()
		r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeGroupConfig, "consumers-configs"
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Value = key, kmsg.StringPtr(value)
		r.Configs = append(r.Configs, c)
		req.Resources = append(req.Resources, r)
		s.ask("IncrementalAlterConfigs group "+label, req, 1)
	}
	alter("session", "consumer.session.timeout.ms", "50000")
	alter("heartbeat", "consumer.heartbeat.interval.ms", "7000")
	alter("session too long", "consumer.session.timeout.ms", "70000")
	alter("session too short", "consumer.session.timeout.ms", "10")
	alter("heartbeat too long", "consumer.heartbeat.interval.ms", "20000")
	alter("no number", "consumer.heartbeat.interval.ms", "soon")
	alter("unknown", "consumer.nothing", "1")
	topic := "consumers-configs-topic"
	s.createVisible(topic, 1)
	s.awaitCoordinator("consumers-configs")
	s.beat("with the group's interval", consumerBeat("consumers-configs", "a", 0, topic), 1)
	describe := kmsg.NewPtrDescribeConfigsRequest()
	dr := kmsg.NewDescribeConfigsRequestResource()
	dr.ResourceType, dr.ResourceName = kmsg.ConfigResourceTypeGroupConfig, "consumers-configs"
	dr.ConfigNames = []string{"consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"}
	describe.Resources = append(describe.Resources, dr)
	s.ask("DescribeConfigs group", describe, 4)
}
