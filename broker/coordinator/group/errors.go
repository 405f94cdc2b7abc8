package group

import "errors"

// The refusals of the group coordinator, by Kafka's names.
var (
	// ErrInvalidGroupID says that the group id is empty where that is not permitted: INVALID_GROUP_ID.
	ErrInvalidGroupID = errors.New("the group id is invalid")
	// ErrNotFound says that there is no such group: GROUP_ID_NOT_FOUND.
	ErrNotFound = errors.New("the group does not exist")
	// ErrNonEmpty says that the group has members: NON_EMPTY_GROUP.
	ErrNonEmpty = errors.New("the group is not empty")
	// ErrUnknownMember says that the group has no such member: UNKNOWN_MEMBER_ID. The member joins anew.
	ErrUnknownMember = errors.New("the group does not know the member")
	// ErrMemberIDRequired says that the member must join again with the id it was given: MEMBER_ID_REQUIRED (KIP-394).
	ErrMemberIDRequired = errors.New("the member must join again with the member id it was given")
	// ErrFencedInstance says that another member has taken over the instance id: FENCED_INSTANCE_ID (KIP-345).
	ErrFencedInstance = errors.New("another member has the instance id")
	// ErrIllegalGeneration says that the generation is not the group's: ILLEGAL_GENERATION.
	ErrIllegalGeneration = errors.New("the generation is not the group's")
	// ErrInconsistentProtocol says that the member has no protocol, or none that all others have, or another protocol
	// type: INCONSISTENT_GROUP_PROTOCOL.
	ErrInconsistentProtocol = errors.New("the member's protocols do not fit the group's")
	// ErrRebalanceInProgress says that the member must join again: REBALANCE_IN_PROGRESS.
	ErrRebalanceInProgress = errors.New("the group is rebalancing")
	// ErrInvalidSessionTimeout says that the session timeout is outside of group.min.session.timeout.ms and
	// group.max.session.timeout.ms: INVALID_SESSION_TIMEOUT.
	ErrInvalidSessionTimeout = errors.New("the session timeout is out of range")
	// ErrMaxSizeReached says that the group is full: GROUP_MAX_SIZE_REACHED.
	ErrMaxSizeReached = errors.New("the group is full")
	// ErrMetadataTooLarge says that the metadata of an offset is longer than offset.metadata.max.bytes:
	// OFFSET_METADATA_TOO_LARGE.
	ErrMetadataTooLarge = errors.New("the metadata of the offset is too large")
	// ErrCommitTooLarge says that an offset does not fit into a record: INVALID_COMMIT_OFFSET_SIZE.
	ErrCommitTooLarge = errors.New("the offset does not fit into a record")
	// ErrUnstableOffset says that a transaction under way has committed the offset: UNSTABLE_OFFSET_COMMIT (KIP-447).
	ErrUnstableOffset = errors.New("a transaction in progress has committed the offset")
	// ErrSubscribed says that the group's members subscribe to the topic: GROUP_SUBSCRIBED_TO_TOPIC.
	ErrSubscribed = errors.New("members of the group subscribe to the topic")
	// ErrInvalidRequest says that a heartbeat contradicts itself or leaves out what is needed: INVALID_REQUEST.
	ErrInvalidRequest = errors.New("the request is invalid")
	// ErrFencedEpoch says that the member has another epoch than it says, and must join anew: FENCED_MEMBER_EPOCH (KIP-848).
	ErrFencedEpoch = errors.New("the member epoch is fenced, the member must give up its partitions and join anew")
	// ErrStaleEpoch says that the member has another epoch by now: STALE_MEMBER_EPOCH (KIP-848).
	ErrStaleEpoch = errors.New("the member epoch is stale, the member must learn the current one by a heartbeat")
	// ErrUnreleasedInstance says that another member has the instance id and has not left: UNRELEASED_INSTANCE_ID (KIP-848).
	ErrUnreleasedInstance = errors.New("the instance id is in use by another member")
	// ErrUnsupportedAssignor says that there is no such assignor: UNSUPPORTED_ASSIGNOR (KIP-848).
	ErrUnsupportedAssignor = errors.New("the assignor is not supported")
	// ErrInvalidRegex says that a regular expression cannot be compiled: INVALID_REGULAR_EXPRESSION (KIP-848).
	ErrInvalidRegex = errors.New("the regular expression is invalid")
	// ErrOldVersion says that a member of the consumer protocol used a version that knows no member epochs: UNSUPPORTED_VERSION.
	ErrOldVersion = errors.New("the version of the request knows no member epochs")
	// ErrSubscriptionTooLarge says that what a member says of itself does not fit into a record.
	ErrSubscriptionTooLarge = errors.New("the member's subscription does not fit into a record")
	// ErrAssignmentTooLarge says that the group with its assignment does not fit into a record.
	ErrAssignmentTooLarge = errors.New("the group with its assignment does not fit into a record")
)
