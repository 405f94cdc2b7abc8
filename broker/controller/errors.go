package controller

import (
	"errors"
	"fmt"
)

// Reasons of a refusal. Test with errors.Is; the message for the client is that of the Refusal.
var (
	ErrTopicExists                 = errors.New("topic already exists")
	ErrInvalidTopic                = errors.New("invalid topic name")
	ErrInvalidPartitions           = errors.New("invalid number of partitions")
	ErrInvalidReplicationFactor    = errors.New("invalid replication factor")
	ErrInvalidReplicaAssignment    = errors.New("invalid replica assignment")
	ErrInvalidRequest              = errors.New("invalid request")
	ErrPolicyViolation             = errors.New("policy violation")
	ErrUnknownTopicOrPartition     = errors.New("unknown topic or partition")
	ErrUnknownTopicID              = errors.New("unknown topic id")
	ErrElectionNotNeeded           = errors.New("election not needed")
	ErrPreferredLeaderNotAvailable = errors.New("preferred leader not available")
	ErrEligibleLeadersNotAvailable = errors.New("eligible leaders not available")
	ErrNoReassignmentInProgress    = errors.New("no reassignment in progress")
	ErrDuplicateBroker             = errors.New("broker id already registered")
	ErrUnknownBroker               = errors.New("unknown broker")
)

// ErrContention means that other writers were faster in every attempt; the caller may try again.
var ErrContention = errors.New("controller: too many conflicting changes")

// Refusal is a request that the controller will not carry out, with a message in Kafka's words for the client. Unwrap
// gives the reason, one of the errors above.
type Refusal struct {
	Reason  error
	Message string
}

// Error is the message for the client.
func (r *Refusal) Error() string { return r.Message }

// Unwrap returns the reason.
func (r *Refusal) Unwrap() error { return r.Reason }

func refuse(reason error, format string, args ...any) error {
	return &Refusal{Reason: reason, Message: fmt.Sprintf(format, args...)}
}
