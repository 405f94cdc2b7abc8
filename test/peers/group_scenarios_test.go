//go:build peers

package peers

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupScenarios are the requests of consumer groups and committed offsets.
var groupScenarios = []scenario{
	{"group coordinator", findCoordinators},
	{"group of one", groupOfOne},
	{"group of two", groupOfTwo},
	{"group static members", staticMembers},
	{"group refusals", groupRefusals},
	{"group offsets", groupOffsets},
	{"group offsets by id", groupOffsetsByID},
	{"group deletion", groupDeletion},
	{"group lists", groupLists},
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// askGroup asks and takes what is random out of member ids.
func (s *session) askGroup(label string, req kmsg.Request, v int16) kmsg.Response {
	s.tb.Helper()
	n := len(s.log)
	resp := s.ask(label, req, v)
	if d, ok := resp.(*kmsg.DescribeGroupsResponse); ok { // members come in no order
		for i := range d.Groups {
			slices.SortFunc(d.Groups[i].Members, func(a, b kmsg.DescribeGroupsResponseGroupMember) int {
				return bytes.Compare(a.MemberAssignment, b.MemberAssignment)
			})
		}
		s.log[n].fields = s.normalize(Flatten(d))
	}
	s.hideMembers(n)
	return resp
}

func (s *session) hideMembers(from int) {
	for i := range s.log[from:] {
		e := &s.log[from+i]
		out := Fields{}
		for path, v := range e.fields {
			out[uuid.ReplaceAllString(path, "<uuid>")] = uuid.ReplaceAllString(v, "<uuid>")
		}
		e.fields = out
	}
}

// awaitCoordinator returns when groups can be used.
func (s *session) awaitCoordinator(group string) {
	s.tb.Helper()
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKeys = []string{group}
	s.until("coordinator of "+group, func() bool {
		resp := s.quiet(req, 6).(*kmsg.FindCoordinatorResponse)
		return resp.Coordinators[0].ErrorCode == 0
	})
	fetch := kmsg.NewPtrOffsetFetchRequest()
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	fetch.Groups = append(fetch.Groups, g)
	s.until("loaded coordinator of "+group, func() bool {
		return s.quiet(fetch, 8).(*kmsg.OffsetFetchResponse).Groups[0].ErrorCode == 0
	})
}

// consumerMetadata is what a consumer says of itself when it joins.
func consumerMetadata(topics ...string) []byte {
	m := kmsg.NewConsumerMemberMetadata()
	m.Topics = topics
	return m.AppendTo(nil)
}

func joinRequest(group, member string, protocols ...string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.ProtocolType = group, member, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 10_000, 20_000
	for _, p := range protocols {
		rp := kmsg.NewJoinGroupRequestProtocol()
		rp.Name, rp.Metadata = p, consumerMetadata("t-"+group)
		req.Protocols = append(req.Protocols, rp)
	}
	return req
}

func syncRequest(group, member string, generation int32, assignments ...string) *kmsg.SyncGroupRequest {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.MemberID, req.Generation = group, member, generation
	req.ProtocolType, req.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	for i := 0; i < len(assignments); i += 2 {
		a := kmsg.NewSyncGroupRequestGroupAssignment()
		a.MemberID, a.MemberAssignment = assignments[i], []byte(assignments[i+1])
		req.GroupAssignment = append(req.GroupAssignment, a)
	}
	return req
}

func heartbeatRequest(group, member string, generation int32) *kmsg.HeartbeatRequest {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.Generation = group, member, generation
	return req
}

func leaveRequest(group string, members ...string) *kmsg.LeaveGroupRequest {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group = group
	for _, m := range members {
		req.MemberID = m
		o := kmsg.NewLeaveGroupRequestMember()
		o.MemberID = m
		req.Members = append(req.Members, o)
	}
	return req
}

func describeRequest(groups ...string) *kmsg.DescribeGroupsRequest {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups, req.IncludeAuthorizedOperations = groups, true
	return req
}

func commitRequest(group, topic string, id [16]byte, offsets ...int64) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = group, -1
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic, t.TopicID = topic, id
	for i, o := range offsets {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = int32(i), o, 3, kmsg.StringPtr("note")
		t.Partitions = append(t.Partitions, p)
	}
	req.Topics = append(req.Topics, t)
	return req
}

// fetchRequest asks for the offsets of a group, in the form of the version.
func offsetFetchRequest(v int16, group, topic string, id [16]byte, partitions ...int32) *kmsg.OffsetFetchRequest {
	req := kmsg.NewPtrOffsetFetchRequest()
	if v < 8 {
		req.Group = group
		if topic != "" {
			t := kmsg.NewOffsetFetchRequestTopic()
			t.Topic, t.Partitions = topic, partitions
			req.Topics = append(req.Topics, t)
		}
		return req
	}
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	if topic != "" {
		t := kmsg.NewOffsetFetchRequestGroupTopic()
		t.Topic, t.TopicID, t.Partitions = topic, id, partitions
		g.Topics = append(g.Topics, t)
	}
	req.Groups = append(req.Groups, g)
	return req
}

func findCoordinators(s *session) {
	s.awaitCoordinator("anything")
	versions(0, 6, func(v int16) {
		ask := func(label string, kind int8, keys ...string) {
			req := kmsg.NewPtrFindCoordinatorRequest()
			req.CoordinatorType, req.CoordinatorKeys = kind, keys
			if len(keys) > 0 {
				req.CoordinatorKey = keys[0]
			}
			s.ask("FindCoordinator "+label, req, v)
		}
		ask("group", 0, "anything")
		ask("empty group", 0, "")
		if v >= 1 {
			ask("no such type", 9, "anything")
		}
		if v >= 4 {
			ask("several", 0, "a", "b", "a")
			ask("none", 0)
		}
	})
}

// joinAlone makes a member the only one of a group and returns its id.
func (s *session) joinAlone(label string, req *kmsg.JoinGroupRequest, v int16) *kmsg.JoinGroupResponse {
	s.tb.Helper()
	resp := s.askGroup(label, req, v).(*kmsg.JoinGroupResponse)
	if resp.MemberID != "" && resp.ErrorCode == 79 {
		req.MemberID = resp.MemberID
		resp = s.askGroup(label+" again", req, v).(*kmsg.JoinGroupResponse)
	}
	return resp
}

func groupOfOne(s *session) {
	versions(0, 9, func(v int16) {
		group := name("one", v)
		s.awaitCoordinator(group)
		join := s.joinAlone("JoinGroup", joinRequest(group, "", "range", "roundrobin"), v)
		member := join.MemberID
		s.askGroup("Heartbeat before sync", heartbeatRequest(group, member, 1), min(v, 4))
		s.askGroup("DescribeGroups before sync", describeRequest(group), min(v, 6))
		s.askGroup("JoinGroup while completing", joinRequest(group, member, "range", "roundrobin"), v)
		s.askGroup("SyncGroup of another generation", syncRequest(group, member, 7), min(v, 5))
		s.askGroup("SyncGroup", syncRequest(group, member, 1, member, "assigned"), min(v, 5))
		s.askGroup("SyncGroup again", syncRequest(group, member, 1), min(v, 5))
		s.askGroup("Heartbeat", heartbeatRequest(group, member, 1), min(v, 4))
		s.askGroup("Heartbeat of another generation", heartbeatRequest(group, member, 2), min(v, 4))
		s.askGroup("Heartbeat of a stranger", heartbeatRequest(group, "stranger", 1), min(v, 4))
		s.askGroup("DescribeGroups", describeRequest(group), min(v, 6))
		s.askGroup("JoinGroup of the leader", joinRequest(group, member, "range", "roundrobin"), v)
		s.askGroup("SyncGroup without assignment", syncRequest(group, member, 2), min(v, 5))
		s.askGroup("JoinGroup with another protocol", joinRequest(group, member, "sticky"), v)
		s.askGroup("LeaveGroup of a stranger", leaveRequest(group, "stranger"), min(v, 5))
		s.askGroup("LeaveGroup", leaveRequest(group, member), min(v, 5))
		s.askGroup("LeaveGroup again", leaveRequest(group, member), min(v, 5))
		s.askGroup("Heartbeat after leaving", heartbeatRequest(group, member, 1), min(v, 4))
		s.askGroup("SyncGroup after leaving", syncRequest(group, member, 3), min(v, 5))
		s.askGroup("JoinGroup after leaving", joinRequest(group, member, "range"), v)
		s.askGroup("DescribeGroups empty", describeRequest(group), min(v, 6))
		other := joinRequest(group, "", "any")
		other.ProtocolType = "connect"
		s.joinAlone("JoinGroup with another type", other, v)
	})
}

// groupOfTwo has two members on two connections.
func groupOfTwo(s *session) {
	for _, v := range []int16{3, 5, 9} {
		group := name("two", v)
		s.awaitCoordinator(group)
		first := s.joinAlone("JoinGroup first", joinRequest(group, "", "range", "roundrobin"), v).MemberID
		s.askGroup("SyncGroup first", syncRequest(group, first, 1, first, "all"), 5)

		other := newSession(s.tb, s.addr, s.clock)
		second := joinRequest(group, "", "roundrobin", "range")
		if v >= 4 {
			second.MemberID = other.askGroup("JoinGroup second", second, v).(*kmsg.JoinGroupResponse).MemberID
		}
		done := make(chan *kmsg.JoinGroupResponse, 1)
		go func() {
			resp, _ := other.wire.Do(second, v)
			r, _ := resp.(*kmsg.JoinGroupResponse)
			done <- r
		}()
		s.until("rebalance", func() bool {
			return s.quiet(heartbeatRequest(group, first, 1), 4).(*kmsg.HeartbeatResponse).ErrorCode == 27
		})
		s.askGroup("SyncGroup while preparing", syncRequest(group, first, 1), 5)
		s.askGroup("DescribeGroups while preparing", describeRequest(group), 6)
		s.askGroup("JoinGroup first again", joinRequest(group, first, "range", "roundrobin"), v)
		joined := <-done
		if joined == nil {
			s.tb.Fatal("the second member got no answer")
		}
		other.log = append(other.log, exchange{"JoinGroup second", other.normalize(Flatten(joined))})
		follower := make(chan kmsg.Response, 1)
		go func() {
			resp, _ := other.wire.Do(syncRequest(group, joined.MemberID, 2), 5)
			follower <- resp
		}()
		s.askGroup("SyncGroup leader", syncRequest(group, first, 2, first, "mine", joined.MemberID, "yours"), 5)
		other.log = append(other.log, exchange{"SyncGroup follower", other.normalize(Flatten(<-follower))})
		other.askGroup("JoinGroup follower in stable", joinRequest(group, joined.MemberID, "roundrobin", "range"), v)
		s.askGroup("DescribeGroups stable", describeRequest(group), 6)
		s.askGroup("JoinGroup of a third with other protocols", joinRequest(group, "", "sticky"), v)
		other.askGroup("LeaveGroup second", leaveRequest(group, joined.MemberID), 5)
		s.askGroup("Heartbeat after that", heartbeatRequest(group, first, 2), 4)
		s.askGroup("JoinGroup alone again", joinRequest(group, first, "range"), v)
		s.askGroup("LeaveGroup first", leaveRequest(group, first), 5)
		other.hideMembers(0)
		s.log = append(s.log, other.log...)
	}
}

func staticMembers(s *session) {
	versions(5, 9, func(v int16) {
		group := name("static", v)
		s.awaitCoordinator(group)
		join := func(label, member, instance string) *kmsg.JoinGroupResponse {
			req := joinRequest(group, member, "range")
			req.InstanceID = kmsg.StringPtr(instance)
			return s.askGroup(label, req, v).(*kmsg.JoinGroupResponse)
		}
		sync := func(label, member, instance string, generation int32, assignments ...string) {
			req := syncRequest(group, member, generation, assignments...)
			req.InstanceID = kmsg.StringPtr(instance)
			s.askGroup(label, req, 5)
		}
		beat := func(label, member, instance string, generation int32) {
			req := heartbeatRequest(group, member, generation)
			req.InstanceID = kmsg.StringPtr(instance)
			s.askGroup(label, req, 4)
		}
		one := join("JoinGroup static", "", "i1").MemberID
		sync("SyncGroup static", one, "i1", 1, one, "mine")
		beat("Heartbeat static", one, "i1", 1)
		two := join("JoinGroup comes back", "", "i1").MemberID
		beat("Heartbeat fenced", one, "i1", 1)
		beat("Heartbeat of the new one", two, "i1", 1)
		beat("Heartbeat of an unknown instance", two, "i2", 1)
		sync("SyncGroup of the new one", two, "i1", 1)
		sync("SyncGroup fenced", one, "i1", 1)
		join("JoinGroup fenced", one, "i1")
		s.askGroup("DescribeGroups static", describeRequest(group), 6)
		commit := commitRequest(group, "t-none", [16]byte{}, 1)
		commit.Generation, commit.MemberID, commit.InstanceID = 1, one, kmsg.StringPtr("i1")
		s.askGroup("OffsetCommit fenced, no topic", commit, 9)
		leave := leaveRequest(group, one, two, "")
		leave.Members[0].InstanceID = kmsg.StringPtr("i1")
		leave.Members[2].InstanceID = kmsg.StringPtr("i9")
		s.askGroup("LeaveGroup fenced, known, unknown instance", leave, 5)
		three := join("JoinGroup static after all left", "", "i1").MemberID
		sync("SyncGroup static after all left", three, "i1", 3, three, "mine")
		byInstance := leaveRequest(group, "")
		byInstance.Members[0].InstanceID = kmsg.StringPtr("i1")
		s.askGroup("LeaveGroup by instance", byInstance, 5)
		s.askGroup("DescribeGroups nobody", describeRequest(group), 6)
	})
}

func groupRefusals(s *session) {
	s.awaitCoordinator("refused")
	s.awaitCoordinator("")
	versions(0, 9, func(v int16) {
		s.askGroup("JoinGroup no group", joinRequest("", "", "range"), v)
		s.askGroup("JoinGroup unknown member of no group", joinRequest("refused", "stranger", "range"), v)
		short := joinRequest("refused", "", "range")
		short.SessionTimeoutMillis = 100
		s.askGroup("JoinGroup short session", short, v)
		long := joinRequest("refused", "", "range")
		long.SessionTimeoutMillis = 2_000_000
		s.askGroup("JoinGroup long session", long, v)
		s.askGroup("JoinGroup no protocols", joinRequest("refused", ""), v)
		untyped := joinRequest("refused", "", "range")
		untyped.ProtocolType = ""
		s.askGroup("JoinGroup no type", untyped, v)
	})
	versions(0, 5, func(v int16) {
		s.askGroup("SyncGroup no group", syncRequest("", "m", 1), v)
		s.askGroup("SyncGroup unknown group", syncRequest("refused-unknown", "m", 1), v)
		s.askGroup("LeaveGroup no group", leaveRequest("", "m"), v)
		s.askGroup("LeaveGroup unknown group", leaveRequest("refused-unknown", "m"), v)
	})
	versions(0, 4, func(v int16) {
		s.askGroup("Heartbeat no group", heartbeatRequest("", "m", 1), v)
		s.askGroup("Heartbeat unknown group", heartbeatRequest("refused-unknown", "m", 1), v)
	})
	versions(0, 6, func(v int16) {
		s.askGroup("DescribeGroups unknown", describeRequest("refused-unknown"), v)
		s.askGroup("DescribeGroups empty id", describeRequest(""), v)
		s.askGroup("DescribeGroups none", describeRequest(), v)
	})
	versions(0, 5, func(v int16) {
		if v < 4 {
			return
		}
		req := kmsg.NewPtrListGroupsRequest()
		req.StatesFilter = []string{"Dead"}
		s.askGroup("ListGroups dead", req, v)
	})
}

func groupOffsets(s *session) {
	s.create("offsets", 3)
	long := strings.Repeat("x", 5000)
	versions(2, 9, func(v int16) {
		group := name("commits", v)
		s.awaitCoordinator(group)
		s.askGroup("OffsetCommit", commitRequest(group, "offsets", [16]byte{}, 7, 8, 9), v)
		s.askGroup("OffsetCommit unknown partition", commitRequest(group, "offsets", [16]byte{}, 7, 8, 9, 10), v)
		s.askGroup("OffsetCommit unknown topic", commitRequest(group, "offsets-none", [16]byte{}, 7), v)
		req := commitRequest(group, "offsets", [16]byte{}, 7, 8)
		req.Topics[0].Partitions[1].Metadata = &long
		s.askGroup("OffsetCommit long metadata", req, v)
		req = commitRequest(group, "offsets", [16]byte{}, 7)
		req.Topics[0].Partitions[0].Metadata = nil
		s.askGroup("OffsetCommit no metadata", req, v)
		req = commitRequest(group, "offsets", [16]byte{}, -5)
		s.askGroup("OffsetCommit negative", req, v)
		req = commitRequest(group, "offsets", [16]byte{}, 1)
		req.Generation = 4
		s.askGroup("OffsetCommit of a generation", req, v)
		req = commitRequest(group, "offsets", [16]byte{}, 1)
		req.MemberID = "stranger"
		s.askGroup("OffsetCommit of a stranger", req, v)
		req = commitRequest("nowhere"+group, "offsets", [16]byte{}, 1)
		req.Generation, req.MemberID = 1, "stranger"
		s.awaitCoordinator(req.Group)
		s.askGroup("OffsetCommit to no group", req, v)
		empty := commitRequest(group, "offsets", [16]byte{})
		s.askGroup("OffsetCommit nothing", empty, v)
		empty.Topics = nil
		s.askGroup("OffsetCommit no topics", empty, v)
	})
	group := name("commits", 9)
	versions(1, 9, func(v int16) {
		s.askGroup("OffsetFetch", offsetFetchRequest(v, group, "offsets", [16]byte{}, 0, 1, 2, 3), v)
		s.askGroup("OffsetFetch unknown topic", offsetFetchRequest(v, group, "offsets-none", [16]byte{}, 0), v)
		s.askGroup("OffsetFetch unknown group", offsetFetchRequest(v, "nobody", "offsets", [16]byte{}, 0), v)
		if v >= 2 {
			s.askGroup("OffsetFetch all", offsetFetchRequest(v, group, "", [16]byte{}), v)
			s.askGroup("OffsetFetch all of unknown group", offsetFetchRequest(v, "nobody", "", [16]byte{}), v)
		}
		if v >= 7 {
			req := offsetFetchRequest(v, group, "offsets", [16]byte{}, 0, 1)
			req.RequireStable = true
			s.askGroup("OffsetFetch stable", req, v)
		}
	})
	s.askGroup("OffsetCommit of a member", memberCommit(s), 9)
}

// memberCommit joins a group and returns a commit of its member while the group waits for the leader's assignment.
func memberCommit(s *session) kmsg.Request {
	s.awaitCoordinator("member-commit")
	join := s.joinAlone("JoinGroup of a committer", joinRequest("member-commit", "", "range"), 9)
	commit := commitRequest("member-commit", "offsets", [16]byte{}, 5)
	commit.MemberID, commit.Generation = join.MemberID, join.Generation
	s.askGroup("OffsetCommit while completing", commit, 9)
	s.askGroup("SyncGroup of a committer", syncRequest("member-commit", join.MemberID, join.Generation, join.MemberID, "x"), 5)
	outside := commitRequest("member-commit", "offsets", [16]byte{}, 5)
	s.askGroup("OffsetCommit from outside", outside, 9)
	wrong := commitRequest("member-commit", "offsets", [16]byte{}, 5)
	wrong.MemberID, wrong.Generation = join.MemberID, 9
	s.askGroup("OffsetCommit of another generation", wrong, 9)
	return commit
}

func groupOffsetsByID(s *session) {
	id := s.create("offsets-id", 2)
	s.awaitCoordinator("by-id")
	s.askGroup("OffsetCommit by id", commitRequest("by-id", "", id, 4, 5), 10)
	s.askGroup("OffsetCommit unknown id", commitRequest("by-id", "", [16]byte{7}, 4), 10)
	s.askGroup("OffsetCommit zero id", commitRequest("by-id", "", [16]byte{}, 4), 10)
	s.askGroup("OffsetFetch by id", offsetFetchRequest(10, "by-id", "x", id, 0, 1, 2), 10)
	s.askGroup("OffsetFetch unknown id", offsetFetchRequest(10, "by-id", "x", [16]byte{7}, 0), 10)
	s.askGroup("OffsetFetch all by id", offsetFetchRequest(10, "by-id", "", id), 10)
	req := offsetFetchRequest(9, "by-id", "", id)
	req.Groups = append(req.Groups, offsetFetchRequest(9, "by-id-2", "offsets-id", id, 1).Groups...)
	s.askGroup("OffsetFetch two groups", req, 9)
	member := offsetFetchRequest(9, "by-id", "", id)
	member.Groups[0].MemberID, member.Groups[0].MemberEpoch = kmsg.StringPtr("m"), 3
	s.askGroup("OffsetFetch with member", member, 9)
}

func groupDeletion(s *session) {
	s.create("t-delete", 2)
	s.awaitCoordinator("delete")
	s.awaitCoordinator("delete-none")
	join := s.joinAlone("JoinGroup to delete", joinRequest("delete", "", "range"), 9)
	s.askGroup("SyncGroup to delete", syncRequest("delete", join.MemberID, 1, join.MemberID, "x"), 5)
	commit := commitRequest("delete", "t-delete", [16]byte{}, 1, 2)
	commit.MemberID, commit.Generation = join.MemberID, 1
	s.askGroup("OffsetCommit to delete", commit, 9)
	deleteOffsets := func(label, group, topic string, partitions ...int32) {
		req := kmsg.NewPtrOffsetDeleteRequest()
		req.Group = group
		t := kmsg.NewOffsetDeleteRequestTopic()
		t.Topic = topic
		for _, n := range partitions {
			p := kmsg.NewOffsetDeleteRequestTopicPartition()
			p.Partition = n
			t.Partitions = append(t.Partitions, p)
		}
		req.Topics = append(req.Topics, t)
		s.askGroup("OffsetDelete "+label, req, 0)
	}
	deleteOffsets("subscribed", "delete", "t-delete", 0)
	deleteOffsets("unknown group", "delete-none", "t-delete", 0)
	deleteOffsets("no group", "", "t-delete", 0)
	versions(0, 3, func(v int16) {
		req := kmsg.NewPtrDeleteGroupsRequest()
		req.Groups = []string{"delete", "delete-none"}
		s.askGroup("DeleteGroups", req, v)
		req.Groups = []string{""}
		s.askGroup("DeleteGroups empty id", req, v)
	})
	s.askGroup("LeaveGroup to delete", leaveRequest("delete", join.MemberID), 5)
	deleteOffsets("empty", "delete", "t-delete", 0, 1, 2)
	deleteOffsets("unknown topic", "delete", "t-delete-none", 0)
	s.askGroup("OffsetFetch after deletion", offsetFetchRequest(9, "delete", "t-delete", [16]byte{}, 0, 1), 9)
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = []string{"delete"}
	s.askGroup("DeleteGroups empty", req, 2)
	s.askGroup("DescribeGroups deleted", describeRequest("delete"), 6)
	s.askGroup("DeleteGroups again", req, 2)
}

func groupLists(s *session) {
	s.create("t-list", 1)
	for _, g := range []string{"list-a", "list-b"} {
		s.awaitCoordinator(g)
	}
	s.askGroup("OffsetCommit list", commitRequest("list-a", "t-list", [16]byte{}, 1), 9)
	s.joinAlone("JoinGroup list", joinRequest("list-b", "", "range"), 9)
	list := func(label string, v int16, states, types []string) {
		req := kmsg.NewPtrListGroupsRequest()
		req.StatesFilter, req.TypesFilter = states, types
		resp, err := s.wire.Do(req, v)
		if err != nil {
			s.tb.Fatal(err)
		}
		l := resp.(*kmsg.ListGroupsResponse)
		kept := l.Groups[:0]
		for _, g := range l.Groups { // other scenarios leave groups behind
			if strings.HasPrefix(g.Group, "list-") {
				kept = append(kept, g)
			}
		}
		l.Groups = kept
		s.log = append(s.log, exchange{"ListGroups " + label, s.normalize(Flatten(l))})
	}
	versions(0, 5, func(v int16) { list("all", v, nil, nil) })
	list("empty", 4, []string{"Empty"}, nil)
	list("any case", 4, []string{"completingrebalance"}, nil)
	list("no such state", 4, []string{"Happy"}, nil)
	list("classic", 5, nil, []string{"classic"})
	list("consumer", 5, nil, []string{"consumer"})
	list("no such type", 5, nil, []string{"odd"})
	list("both", 5, []string{"Empty", "CompletingRebalance"}, []string{"Classic", "share"})
}
