package kafka

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"

	"moldau/broker"
)

// errForgedReplica says that somebody who is no broker asked as a replica. Were it believed, it could move the high
// watermark over records that no replica has (CVE-2018-1288).
var errForgedReplica = errors.New("only a broker may ask as a replica")

// codes is the only translation of the broker's errors into Kafka's. The first row that errors.Is accepts wins.
var codes = []struct {
	err   error
	kafka *kerr.Error
}{
	{errForgedReplica, kerr.TopicAuthorizationFailed},
	{broker.ErrUnknownTopicOrPartition, kerr.UnknownTopicOrPartition},
	{broker.ErrUnknownTopicID, kerr.UnknownTopicID},
	{broker.ErrInconsistentTopicID, kerr.InconsistentTopicID},
	{broker.ErrNotLeader, kerr.NotLeaderForPartition},
	{broker.ErrLeaderNotAvailable, kerr.LeaderNotAvailable},
	{broker.ErrSchemasNotAvailable, kerr.LeaderNotAvailable},
	{broker.ErrDeadLettersNotAvailable, kerr.LeaderNotAvailable},
	{broker.ErrReplicaNotAvailable, kerr.ReplicaNotAvailable},
	{broker.ErrFencedLeaderEpoch, kerr.FencedLeaderEpoch},
	{broker.ErrUnknownLeaderEpoch, kerr.UnknownLeaderEpoch},
	{broker.ErrOffsetOutOfRange, kerr.OffsetOutOfRange},
	{broker.ErrOffsetNotAvailable, kerr.OffsetNotAvailable},
	{broker.ErrTimedOut, kerr.RequestTimedOut},
	{broker.ErrInvalidRequest, kerr.InvalidRequest},
	{broker.ErrInvalidRequiredAcks, kerr.InvalidRequiredAcks},
	{broker.ErrUnsupportedVersion, kerr.UnsupportedVersion},
	{broker.ErrMessageTooLarge, kerr.MessageTooLarge},
	{broker.ErrRecordListTooLarge, kerr.RecordListTooLarge},
	{broker.ErrCorruptMessage, kerr.CorruptMessage},
	{broker.ErrInvalidTimestamp, kerr.InvalidTimestamp},
	{broker.ErrInvalidRecord, kerr.InvalidRecord},
	{broker.ErrUnsupportedCompressionType, kerr.UnsupportedCompressionType},
	{broker.ErrNotEnoughReplicasAfterAppend, kerr.NotEnoughReplicasAfterAppend},
	{broker.ErrNotEnoughReplicas, kerr.NotEnoughReplicas},
	{broker.ErrOutOfOrderSequence, kerr.OutOfOrderSequenceNumber},
	{broker.ErrInvalidProducerEpoch, kerr.InvalidProducerEpoch},
	{broker.ErrUnknownProducerID, kerr.UnknownProducerID},
	{broker.ErrInvalidTxnState, kerr.InvalidTxnState},
	{broker.ErrInvalidTxnTransition, kerr.InvalidTxnState},
	{broker.ErrInvalidTransactionTimeout, kerr.InvalidTransactionTimeout},
	{broker.ErrInvalidProducerIDMapping, kerr.InvalidProducerIDMapping},
	{broker.ErrProducerFenced, kerr.ProducerFenced},
	{broker.ErrConcurrentTransactions, kerr.ConcurrentTransactions},
	{broker.ErrTransactionAbortable, kerr.TransactionAbortable},
	{broker.ErrTransactionalIDNotFound, kerr.TransactionalIDNotFound},
	{broker.ErrTransactionCoordinatorFenced, kerr.TransactionCoordinatorFenced},
	{broker.ErrTransactionalIDAuthorization, kerr.TransactionalIDAuthorizationFailed},
	{broker.ErrOperationNotAttempted, kerr.OperationNotAttempted},
	{broker.ErrReadOnly, kerr.KafkaStorageError},
	{broker.ErrNoSpace, kerr.KafkaStorageError},
	{broker.ErrStorage, kerr.KafkaStorageError},
	{broker.ErrLogDirNotFound, kerr.LogDirNotFound},
	{broker.ErrClosed, kerr.NotLeaderForPartition},
	{broker.ErrTopicExists, kerr.TopicAlreadyExists},
	{broker.ErrInvalidTopic, kerr.InvalidTopicException},
	{broker.ErrInvalidPartitions, kerr.InvalidPartitions},
	{broker.ErrInvalidReplicationFactor, kerr.InvalidReplicationFactor},
	{broker.ErrInvalidReplicaAssignment, kerr.InvalidReplicaAssignment},
	{broker.ErrInvalidConfig, kerr.InvalidConfig},
	{broker.ErrPolicyViolation, kerr.PolicyViolation},
	{broker.ErrTopicDeletionDisabled, kerr.TopicDeletionDisabled},
	{broker.ErrReassignmentInProgress, kerr.ReassignmentInProgress},
	{broker.ErrNoReassignmentInProgress, kerr.NoReassignmentInProgress},
	{broker.ErrElectionNotNeeded, kerr.ElectionNotNeeded},
	{broker.ErrPreferredLeaderNotAvailable, kerr.PreferredLeaderNotAvailable},
	{broker.ErrEligibleLeadersNotAvailable, kerr.EligibleLeadersNotAvailable},
	{broker.ErrResourceNotFound, kerr.ResourceNotFound},
	{broker.ErrUnknownSubscriptionID, kerr.UnknownSubscriptionID},
	{broker.ErrTelemetryTooLarge, kerr.TelemetryTooLarge},
	{broker.ErrThrottlingQuotaExceeded, kerr.ThrottlingQuotaExceeded},
	{broker.ErrNotCoordinator, kerr.NotCoordinator},
	{broker.ErrCoordinatorLoading, kerr.CoordinatorLoadInProgress},
	{broker.ErrCoordinatorNotAvailable, kerr.CoordinatorNotAvailable},
	{broker.ErrCoordinatorTimedOut, kerr.CoordinatorNotAvailable},
	{broker.ErrInvalidGroupID, kerr.InvalidGroupID},
	{broker.ErrGroupNotFound, kerr.GroupIDNotFound},
	{broker.ErrNonEmptyGroup, kerr.NonEmptyGroup},
	{broker.ErrUnknownMember, kerr.UnknownMemberID},
	{broker.ErrMemberIDRequired, kerr.MemberIDRequired},
	{broker.ErrFencedInstance, kerr.FencedInstanceID},
	{broker.ErrIllegalGeneration, kerr.IllegalGeneration},
	{broker.ErrInconsistentProtocol, kerr.InconsistentGroupProtocol},
	{broker.ErrRebalanceInProgress, kerr.RebalanceInProgress},
	{broker.ErrInvalidSessionTimeout, kerr.InvalidSessionTimeout},
	{broker.ErrGroupMaxSizeReached, kerr.GroupMaxSizeReached},
	{broker.ErrOffsetMetadataTooLarge, kerr.OffsetMetadataTooLarge},
	{broker.ErrInvalidCommitOffsetSize, kerr.InvalidCommitOffsetSize},
	{broker.ErrUnstableOffsetCommit, kerr.UnstableOffsetCommit},
	{broker.ErrInvalidGroupRequest, kerr.InvalidRequest},
	{broker.ErrFencedMemberEpoch, kerr.FencedMemberEpoch},
	{broker.ErrStaleMemberEpoch, kerr.StaleMemberEpoch},
	{broker.ErrUnreleasedInstanceID, kerr.UnreleasedInstanceID},
	{broker.ErrUnsupportedAssignor, kerr.UnsupportedAssignor},
	{broker.ErrInvalidRegularExpression, kerr.InvalidRegularExpression},
	{broker.ErrEpochlessVersion, kerr.UnsupportedVersion},
	{broker.ErrGroupSubscribedToTopic, kerr.GroupSubscribedToTopic},
	{context.DeadlineExceeded, kerr.RequestTimedOut},
	{context.Canceled, kerr.RequestTimedOut},
}

// code is Kafka's error code of an error: 0 for nil, UNKNOWN_SERVER_ERROR for errors without a row.
func code(err error) int16 {
	if err == nil {
		return 0
	}
	for i := range codes {
		if errors.Is(err, codes[i].err) {
			return codes[i].kafka.Code
		}
	}
	return kerr.UnknownServerError.Code
}

// errorMessage is the text that goes with code(err) in answers that have a field for it; nil for nil. Errors that no row
// knows are not shown to clients: they may name files.
func errorMessage(err error) *string {
	if err == nil {
		return nil
	}
	text := kerr.UnknownServerError.Description
	if code(err) != kerr.UnknownServerError.Code {
		text = err.Error()
	}
	return &text
}
