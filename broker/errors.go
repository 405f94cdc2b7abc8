package broker

import (
	"errors"

	"moldau/broker/controller"
	"moldau/broker/coordinator"
	"moldau/broker/coordinator/group"
	"moldau/broker/coordinator/txn"
	"moldau/broker/partition"
	"moldau/broker/record"
	"moldau/broker/storage"
)

// The node's errors. A verb returns one of them, possibly wrapped with what was attempted; every edge maps them once
// (the Kafka edge in broker/kafka/errors.go). Names follow Kafka's error names. Those that come from a deeper room are
// the very sentinels of that room, so that errors.Is works with either name.
var (
	// ErrUnknownTopicOrPartition says that this node knows no such topic, or the topic has no such partition.
	ErrUnknownTopicOrPartition = controller.ErrUnknownTopicOrPartition
	// ErrUnknownTopicID says that no topic has the asked id: it was deleted, or made anew under another id.
	ErrUnknownTopicID = controller.ErrUnknownTopicID
	// ErrInconsistentTopicID says that the asked name and the asked id belong to different topics, or that the log on
	// disk belongs to another topic than the metadata says.
	ErrInconsistentTopicID = errors.New("topic name and topic id do not belong together")
	// ErrNotLeader says that this node doesn't lead the partition (NOT_LEADER_OR_FOLLOWER); the answer carries a hint.
	ErrNotLeader = partition.ErrNotLeader
	// ErrLeaderNotAvailable says that the partition has no leader at the moment.
	ErrLeaderNotAvailable = errors.New("the partition has no leader at the moment")
	// ErrReplicaNotAvailable says that the asked replica isn't there.
	ErrReplicaNotAvailable = errors.New("the replica is not available")
	// ErrFencedLeaderEpoch says that the caller's leader epoch is older than the partition's.
	ErrFencedLeaderEpoch = partition.ErrFencedLeaderEpoch
	// ErrUnknownLeaderEpoch says that the caller's leader epoch is newer than the partition's.
	ErrUnknownLeaderEpoch = partition.ErrUnknownLeaderEpoch
	// ErrOffsetOutOfRange says that an offset lies outside of what the partition holds.
	ErrOffsetOutOfRange = storage.ErrOffsetOutOfRange
	// ErrOffsetNotAvailable says that the high watermark has not yet caught up with the leader's epoch.
	ErrOffsetNotAvailable = partition.ErrOffsetNotAvailable
	// ErrTimedOut says that what was asked did not happen within the time given (REQUEST_TIMED_OUT).
	ErrTimedOut = errors.New("the request timed out")
	// ErrInvalidRequest says that a request contradicts itself or leaves out what is needed.
	ErrInvalidRequest = controller.ErrInvalidRequest
	// ErrInvalidRequiredAcks says that acks is none of -1, 0 and 1.
	ErrInvalidRequiredAcks = errors.New("acks must be -1, 0 or 1")
	// ErrUnsupportedVersion says that the version of the request cannot express what was asked.
	ErrUnsupportedVersion = errors.New("the version of the request does not support this")

	// ErrMessageTooLarge says that a record batch is larger than max.message.bytes.
	ErrMessageTooLarge = record.ErrTooLarge
	// ErrRecordListTooLarge says that a set of batches is larger than segment.bytes (RECORD_LIST_TOO_LARGE).
	ErrRecordListTooLarge = storage.ErrTooLarge
	// ErrCorruptMessage says that a batch failed its CRC or its structure is broken (CORRUPT_MESSAGE).
	ErrCorruptMessage = record.ErrCorrupt
	// ErrInvalidTimestamp says that record timestamps lie outside of message.timestamp.before.max.ms and
	// message.timestamp.after.max.ms (KIP-937).
	ErrInvalidTimestamp = record.ErrInvalidTimestamp
	// ErrInvalidRecord says that records broke a rule of the topic or of the format; the answer names them (KIP-467).
	ErrInvalidRecord = record.ErrInvalidRecord
	// ErrSchemasNotAvailable says that records can't be validated at the moment; nothing was appended and the producer should
	// try again (LEADER_NOT_AVAILABLE, which all clients retry).
	ErrSchemasNotAvailable = errors.New("the records cannot be validated at the moment")
	// ErrDeadLettersNotAvailable says that records which do not conform can't be written to the topic of dead letters that theirs
	// asks for; the batch is not acknowledged, and the producer should try again (LEADER_NOT_AVAILABLE).
	ErrDeadLettersNotAvailable = errors.New("the dead letters of the topic cannot be written at the moment")
	// ErrUnsupportedCompressionType says that a batch uses a codec that is unknown, or that the request's version
	// doesn't permit.
	ErrUnsupportedCompressionType = record.ErrUnsupportedCodec
	// ErrNotEnoughReplicas says that fewer replicas are in sync than min.insync.replicas asks; nothing was appended.
	ErrNotEnoughReplicas = partition.ErrNotEnoughReplicas
	// ErrNotEnoughReplicasAfterAppend says the same, found out after the append.
	ErrNotEnoughReplicasAfterAppend = partition.ErrNotEnoughReplicasAfterAppend

	// ErrOutOfOrderSequence says that a batch of an idempotent producer leaves a gap (OUT_OF_ORDER_SEQUENCE_NUMBER).
	ErrOutOfOrderSequence = storage.ErrOutOfOrderSequence
	// ErrInvalidProducerEpoch says that the producer's epoch is older than the one the partition has seen.
	ErrInvalidProducerEpoch = storage.ErrInvalidProducerEpoch
	// ErrUnknownProducerID says that the partition holds no state of this producer (answer of old versions, KIP-360).
	ErrUnknownProducerID = errors.New("the producer id is unknown to the partition")
	// ErrStorage says that the disk below the partition failed or is offline (KAFKA_STORAGE_ERROR).
	ErrStorage = storage.ErrStorage
	// ErrReadOnly says that the partition's log is damaged and takes no writes until an operator has looked at it.
	ErrReadOnly = storage.ErrReadOnly
	// ErrNoSpace says that the file system is full; writes resume when there is space again.
	ErrNoSpace = storage.ErrNoSpace
	// ErrLogDirNotFound says that no such log directory is configured.
	ErrLogDirNotFound = errors.New("no such log directory")
	// ErrClosed says that the node is closing.
	ErrClosed = partition.ErrClosed

	// ErrTopicExists says that a topic of this name is there already (TOPIC_ALREADY_EXISTS).
	ErrTopicExists = controller.ErrTopicExists
	// ErrInvalidTopic says that a topic name is empty, too long, or has characters that Kafka doesn't permit, or that
	// an internal topic was asked for something only the broker may do.
	ErrInvalidTopic = controller.ErrInvalidTopic
	// ErrInvalidPartitions says that a number of partitions is out of range, or would shrink a topic.
	ErrInvalidPartitions = controller.ErrInvalidPartitions
	// ErrInvalidReplicationFactor says that a replication factor is below one or above the number of brokers.
	ErrInvalidReplicationFactor = controller.ErrInvalidReplicationFactor
	// ErrInvalidReplicaAssignment says that a manual assignment of replicas is inconsistent.
	ErrInvalidReplicaAssignment = controller.ErrInvalidReplicaAssignment
	// ErrInvalidConfig says that a configuration name or value is not accepted.
	ErrInvalidConfig = errors.New("the configuration is invalid")
	// ErrPolicyViolation says that a limit or a policy of the cluster forbids what was asked.
	ErrPolicyViolation = controller.ErrPolicyViolation
	// ErrTopicDeletionDisabled says that delete.topic.enable is off.
	ErrTopicDeletionDisabled = errors.New("the deletion of topics is disabled")
	// ErrReassignmentInProgress says that a reassignment of the partition's replicas goes on.
	ErrReassignmentInProgress = errors.New("a reassignment of the partition is in progress")
	// ErrNoReassignmentInProgress says that there is no reassignment to cancel.
	ErrNoReassignmentInProgress = controller.ErrNoReassignmentInProgress
	// ErrElectionNotNeeded says that the partition's leader is already the one an election would choose.
	ErrElectionNotNeeded = controller.ErrElectionNotNeeded
	// ErrPreferredLeaderNotAvailable says that the preferred replica can't lead at the moment.
	ErrPreferredLeaderNotAvailable = controller.ErrPreferredLeaderNotAvailable
	// ErrEligibleLeadersNotAvailable says that no replica may lead at the moment.
	ErrEligibleLeadersNotAvailable = controller.ErrEligibleLeadersNotAvailable
	// ErrResourceNotFound says that a named configuration resource isn't there.
	ErrResourceNotFound = errors.New("the resource is not there")
	// ErrUnknownSubscriptionID says that a client pushed telemetry under a subscription it wasn't given (KIP-714).
	ErrUnknownSubscriptionID = errors.New("the telemetry subscription is unknown")
	// ErrTelemetryTooLarge says that pushed telemetry is larger than telemetry.max.bytes.
	ErrTelemetryTooLarge = errors.New("the telemetry payload is too large")
	// ErrThrottlingQuotaExceeded says that the client pushes or creates more often than it may.
	ErrThrottlingQuotaExceeded = errors.New("the quota is exceeded")
)

// The errors of transactions.
var (
	// ErrInvalidTxnState says that a batch doesn't fit the transaction of its producer.
	ErrInvalidTxnState = storage.ErrInvalidTxnState
	// ErrInvalidTxnTransition says that the transaction is in a state that doesn't permit what was asked.
	ErrInvalidTxnTransition = txn.ErrInvalidState
	// ErrInvalidTransactionTimeout says that a transaction timeout is above transaction.max.timeout.ms, or not above zero.
	ErrInvalidTransactionTimeout = txn.ErrInvalidTimeout
	// ErrInvalidProducerIDMapping says that the transactional id is unknown, or has another producer id.
	ErrInvalidProducerIDMapping = txn.ErrInvalidProducerIDMapping
	// ErrProducerFenced says that there is a newer producer with the same transactional id.
	ErrProducerFenced = txn.ErrProducerFenced
	// ErrConcurrentTransactions says that the transaction before is still being completed.
	ErrConcurrentTransactions = txn.ErrConcurrentTransactions
	// ErrTransactionAbortable says that a partition is not part of the transaction, which can only be aborted.
	ErrTransactionAbortable = txn.ErrNotInTransaction
	// ErrTransactionalIDNotFound says that there is no such transactional id.
	ErrTransactionalIDNotFound = txn.ErrNotFound
	// ErrTransactionCoordinatorFenced says that a marker comes from an older transaction coordinator.
	ErrTransactionCoordinatorFenced = storage.ErrCoordinatorFenced
	// ErrTransactionalIDAuthorization says that a transactional batch came without a transactional id that its sender may use.
	ErrTransactionalIDAuthorization = errors.New("transactional records need a transactional id that their producer may use")
	// ErrOperationNotAttempted says that a partition was not added to a transaction because another one of the request could not be.
	ErrOperationNotAttempted = errors.New("nothing was attempted, because another partition of the request was refused")
)

// The errors of coordinators.
var (
	// ErrNotCoordinator says that another node coordinates the id (NOT_COORDINATOR).
	ErrNotCoordinator = coordinator.ErrNotCoordinator
	// ErrCoordinatorLoading says that the coordinator is reading its state (COORDINATOR_LOAD_IN_PROGRESS).
	ErrCoordinatorLoading = coordinator.ErrLoading
	// ErrCoordinatorNotAvailable says that the coordinator cannot write its state, or isn't there yet.
	ErrCoordinatorNotAvailable = coordinator.ErrNotAvailable
	// ErrCoordinatorTimedOut says that what the coordinator wrote was not committed in time.
	ErrCoordinatorTimedOut = coordinator.ErrTimedOut
	// ErrInvalidGroupID says that the group id is empty where that is not permitted.
	ErrInvalidGroupID = group.ErrInvalidGroupID
	// ErrGroupNotFound says that there is no such group (GROUP_ID_NOT_FOUND).
	ErrGroupNotFound = group.ErrNotFound
	// ErrNonEmptyGroup says that the group has members.
	ErrNonEmptyGroup = group.ErrNonEmpty
	// ErrUnknownMember says that the group has no such member (UNKNOWN_MEMBER_ID).
	ErrUnknownMember = group.ErrUnknownMember
	// ErrMemberIDRequired says that the member must join again with the id it was given (KIP-394).
	ErrMemberIDRequired = group.ErrMemberIDRequired
	// ErrFencedInstance says that another member has taken over the instance id (KIP-345).
	ErrFencedInstance = group.ErrFencedInstance
	// ErrIllegalGeneration says that the generation is not the group's.
	ErrIllegalGeneration = group.ErrIllegalGeneration
	// ErrInconsistentProtocol says that the member's protocols do not fit the group's.
	ErrInconsistentProtocol = group.ErrInconsistentProtocol
	// ErrRebalanceInProgress says that the member must join again.
	ErrRebalanceInProgress = group.ErrRebalanceInProgress
	// ErrInvalidSessionTimeout says that the session timeout is out of range.
	ErrInvalidSessionTimeout = group.ErrInvalidSessionTimeout
	// ErrGroupMaxSizeReached says that the group is full.
	ErrGroupMaxSizeReached = group.ErrMaxSizeReached
	// ErrOffsetMetadataTooLarge says that the metadata of an offset is longer than offset.metadata.max.bytes.
	ErrOffsetMetadataTooLarge = group.ErrMetadataTooLarge
	// ErrInvalidCommitOffsetSize says that an offset does not fit into a record.
	ErrInvalidCommitOffsetSize = group.ErrCommitTooLarge
	// ErrUnstableOffsetCommit says that a transaction in progress has committed the offset (KIP-447).
	ErrUnstableOffsetCommit = group.ErrUnstableOffset
	// ErrInvalidGroupRequest says that a heartbeat of a group's member contradicts itself or leaves out what is needed.
	ErrInvalidGroupRequest = group.ErrInvalidRequest
	// ErrFencedMemberEpoch says that the member has another epoch than it says, and must join anew (KIP-848).
	ErrFencedMemberEpoch = group.ErrFencedEpoch
	// ErrStaleMemberEpoch says that the member has another epoch by now.
	ErrStaleMemberEpoch = group.ErrStaleEpoch
	// ErrUnreleasedInstanceID says that another member has the instance id and has not left.
	ErrUnreleasedInstanceID = group.ErrUnreleasedInstance
	// ErrUnsupportedAssignor says that there is no such assignor.
	ErrUnsupportedAssignor = group.ErrUnsupportedAssignor
	// ErrInvalidRegularExpression says that a regular expression cannot be compiled.
	ErrInvalidRegularExpression = group.ErrInvalidRegex
	// ErrEpochlessVersion says that a member of the consumer protocol used a version that knows no member epochs.
	ErrEpochlessVersion = group.ErrOldVersion
	// ErrGroupSubscribedToTopic says that members of the group subscribe to the topic.
	ErrGroupSubscribedToTopic = group.ErrSubscribed
)
