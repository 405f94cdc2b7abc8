package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

//go:generate go test -run "^Test(APIDocument|ReadmeTable)$" -args -write

// plane says which slots a request runs under.
type plane uint8

const (
	// dataPlane requests never wait for more than the disk while they hold a slot.
	dataPlane plane = iota
	// controlPlane requests may block in a verb: changes of metadata, descriptions of everything.
	controlPlane
)

// handler answers one request. It is called in the order of the connection's requests.
type handler func(c *conn, ctx context.Context, r *request) reply

// api is one row of the table.
type api struct {
	key  kmsg.Key
	name string
	// min and max are the versions that are advertised, and of which every field is handled.
	min, max int16
	plane    plane
	handle   handler
	// refuseBelow closes the connection on versions that are advertised for the sake of clients that compare ranges, but
	// that Kafka 4 does not speak either (KAFKA-18659).
	refuseBelow int16
	// ahead permits to execute a request while the answer to an earlier one of its connection waits. Only Produce gains
	// by it; the answers of others may be large, and so may only pile up one per connection.
	ahead bool

	// Worked out when the server is made.
	flexibleFrom int16      // the first version with tagged fields
	errors       []*errPath // where kmsg's response keeps error codes
}

// apiTable is the one list of what this broker speaks, by key.
func apiTable() []api {
	return []api{
		{key: kmsg.Produce, name: "Produce", min: 0, max: 13, plane: dataPlane, handle: (*conn).produce, refuseBelow: 3, ahead: true},
		{key: kmsg.Fetch, name: "Fetch", min: 4, max: 18, plane: dataPlane, handle: (*conn).fetch},
		{key: kmsg.ListOffsets, name: "ListOffsets", min: 1, max: 11, plane: dataPlane, handle: decoded((*conn).listOffsets)},
		{key: kmsg.Metadata, name: "Metadata", min: 0, max: 13, plane: dataPlane, handle: decoded((*conn).metadata)},
		{key: kmsg.OffsetCommit, name: "OffsetCommit", min: 2, max: 10, plane: dataPlane, handle: decoded((*conn).offsetCommit)},
		{key: kmsg.OffsetFetch, name: "OffsetFetch", min: 1, max: 10, plane: dataPlane, handle: decoded((*conn).offsetFetch)},
		{key: kmsg.FindCoordinator, name: "FindCoordinator", min: 0, max: 6, plane: controlPlane, handle: decoded((*conn).findCoordinator)},
		{key: kmsg.JoinGroup, name: "JoinGroup", min: 0, max: 9, plane: dataPlane, handle: decoded((*conn).joinGroup)},
		{key: kmsg.Heartbeat, name: "Heartbeat", min: 0, max: 4, plane: dataPlane, handle: decoded((*conn).heartbeat)},
		{key: kmsg.LeaveGroup, name: "LeaveGroup", min: 0, max: 5, plane: dataPlane, handle: decoded((*conn).leaveGroup)},
		{key: kmsg.SyncGroup, name: "SyncGroup", min: 0, max: 5, plane: dataPlane, handle: decoded((*conn).syncGroup)},
		{key: kmsg.DescribeGroups, name: "DescribeGroups", min: 0, max: 6, plane: dataPlane, handle: decoded((*conn).describeGroups)},
		{key: kmsg.ListGroups, name: "ListGroups", min: 0, max: 5, plane: controlPlane, handle: decoded((*conn).listGroups)},
		{key: kmsg.ApiVersions, name: "ApiVersions", min: 0, max: 5, plane: dataPlane, handle: decoded((*conn).apiVersions)},
		{key: kmsg.CreateTopics, name: "CreateTopics", min: 0, max: 7, plane: controlPlane, handle: decoded((*conn).createTopics)},
		{key: kmsg.DeleteTopics, name: "DeleteTopics", min: 0, max: 6, plane: controlPlane, handle: decoded((*conn).deleteTopics)},
		{key: kmsg.DeleteRecords, name: "DeleteRecords", min: 0, max: 2, plane: controlPlane, handle: decoded((*conn).deleteRecords)},
		{key: kmsg.InitProducerID, name: "InitProducerId", min: 0, max: 5, plane: controlPlane, handle: decoded((*conn).initProducerID)},
		{key: kmsg.OffsetForLeaderEpoch, name: "OffsetForLeaderEpoch", min: 0, max: 4, plane: dataPlane, handle: decoded((*conn).offsetForLeaderEpoch)},
		{key: kmsg.AddPartitionsToTxn, name: "AddPartitionsToTxn", min: 0, max: 5, plane: dataPlane, handle: decoded((*conn).addPartitionsToTxn)},
		{key: kmsg.AddOffsetsToTxn, name: "AddOffsetsToTxn", min: 0, max: 4, plane: controlPlane, handle: decoded((*conn).addOffsetsToTxn)},
		{key: kmsg.EndTxn, name: "EndTxn", min: 0, max: 5, plane: controlPlane, handle: decoded((*conn).endTxn)},
		{key: kmsg.WriteTxnMarkers, name: "WriteTxnMarkers", min: 1, max: 2, plane: controlPlane, handle: decoded((*conn).writeTxnMarkers)},
		{key: kmsg.TxnOffsetCommit, name: "TxnOffsetCommit", min: 0, max: 6, plane: controlPlane, handle: decoded((*conn).txnOffsetCommit)},
		{key: kmsg.DescribeConfigs, name: "DescribeConfigs", min: 0, max: 4, plane: controlPlane, handle: decoded((*conn).describeConfigs)},
		{key: kmsg.AlterConfigs, name: "AlterConfigs", min: 0, max: 2, plane: controlPlane, handle: decoded((*conn).alterConfigs)},
		{key: kmsg.DescribeLogDirs, name: "DescribeLogDirs", min: 0, max: 5, plane: controlPlane, handle: decoded((*conn).describeLogDirs)},
		{key: kmsg.CreatePartitions, name: "CreatePartitions", min: 0, max: 3, plane: controlPlane, handle: decoded((*conn).createPartitions)},
		{key: kmsg.DeleteGroups, name: "DeleteGroups", min: 0, max: 3, plane: dataPlane, handle: decoded((*conn).deleteGroups)},
		{key: kmsg.ElectLeaders, name: "ElectLeaders", min: 0, max: 2, plane: controlPlane, handle: decoded((*conn).electLeaders)},
		{key: kmsg.IncrementalAlterConfigs, name: "IncrementalAlterConfigs", min: 0, max: 1, plane: controlPlane, handle: decoded((*conn).incrementalAlterConfigs)},
		{key: kmsg.AlterPartitionAssignments, name: "AlterPartitionReassignments", min: 0, max: 1, plane: controlPlane, handle: decoded((*conn).alterPartitionReassignments)},
		{key: kmsg.ListPartitionReassignments, name: "ListPartitionReassignments", min: 0, max: 0, plane: controlPlane, handle: decoded((*conn).listPartitionReassignments)},
		{key: kmsg.OffsetDelete, name: "OffsetDelete", min: 0, max: 0, plane: dataPlane, handle: decoded((*conn).offsetDelete)},
		{key: kmsg.DescribeCluster, name: "DescribeCluster", min: 0, max: 2, plane: controlPlane, handle: decoded((*conn).describeCluster)},
		{key: kmsg.DescribeProducers, name: "DescribeProducers", min: 0, max: 0, plane: controlPlane, handle: decoded((*conn).describeProducers)},
		{key: kmsg.DescribeTransactions, name: "DescribeTransactions", min: 0, max: 0, plane: dataPlane, handle: decoded((*conn).describeTransactions)},
		{key: kmsg.ListTransactions, name: "ListTransactions", min: 0, max: 2, plane: controlPlane, handle: decoded((*conn).listTransactions)},
		{key: kmsg.ConsumerGroupHeartbeat, name: "ConsumerGroupHeartbeat", min: 0, max: 1, plane: dataPlane, handle: decoded((*conn).consumerGroupHeartbeat)},
		{key: kmsg.ConsumerGroupDescribe, name: "ConsumerGroupDescribe", min: 0, max: 1, plane: dataPlane, handle: decoded((*conn).consumerGroupDescribe)},
		{key: kmsg.GetTelemetrySubscriptions, name: "GetTelemetrySubscriptions", min: 0, max: 0, plane: controlPlane, handle: decoded((*conn).getTelemetrySubscriptions)},
		{key: kmsg.PushTelemetry, name: "PushTelemetry", min: 0, max: 0, plane: controlPlane, handle: decoded((*conn).pushTelemetry)},
		{key: kmsg.ListConfigResources, name: "ListConfigResources", min: 0, max: 1, plane: controlPlane, handle: decoded((*conn).listConfigResources)},
		{key: kmsg.DescribeTopicPartitions, name: "DescribeTopicPartitions", min: 0, max: 0, plane: controlPlane, handle: decoded((*conn).describeTopicPartitions)},
	}
}

// decoded makes a handler of a method that takes a request decoded by kmsg. The decoded request shares no bytes with the
// frame but those of raw byte fields.
func decoded[T any, Q interface {
	*T
	kmsg.Request
}](method func(*conn, context.Context, *request, Q) reply) handler {
	return func(c *conn, ctx context.Context, r *request) reply {
		q := Q(new(T))
		q.SetVersion(r.version)
		if err := q.ReadFrom(r.body); err != nil {
			return hangUp(malformed(r, err))
		}
		return method(c, ctx, r, q)
	}
}
