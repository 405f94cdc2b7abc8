package gateway

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
)

func TestFailureOf(t *testing.T) {
	for _, c := range []struct {
		err       error
		code      codes.Code
		status    int
		reason    string
		retriable bool
	}{
		{kerr.UnknownTopicOrPartition, codes.NotFound, 404, "UNKNOWN_TOPIC_OR_PARTITION", false},
		{kerr.NotLeaderForPartition, codes.Unavailable, 503, "NOT_LEADER_FOR_PARTITION", true},
		{kerr.LeaderNotAvailable, codes.Unavailable, 503, "LEADER_NOT_AVAILABLE", true},
		{kerr.CoordinatorNotAvailable, codes.Unavailable, 503, "COORDINATOR_NOT_AVAILABLE", true},
		{kerr.NotEnoughReplicas, codes.Unavailable, 503, "NOT_ENOUGH_REPLICAS", true},
		{kerr.NotEnoughReplicasAfterAppend, codes.DeadlineExceeded, 504, "NOT_ENOUGH_REPLICAS_AFTER_APPEND", true},
		{kerr.RequestTimedOut, codes.DeadlineExceeded, 504, "REQUEST_TIMED_OUT", true},
		{kerr.TopicAuthorizationFailed, codes.PermissionDenied, 403, "TOPIC_AUTHORIZATION_FAILED", false},
		{kerr.SaslAuthenticationFailed, codes.Unauthenticated, 401, "SASL_AUTHENTICATION_FAILED", false},
		{&OffsetError{Partition: 1, Offset: 9}, codes.OutOfRange, 400, "OFFSET_OUT_OF_RANGE", false},
		{kerr.MessageTooLarge, codes.InvalidArgument, 400, "MESSAGE_TOO_LARGE", false},
		{kerr.TopicAlreadyExists, codes.AlreadyExists, 409, "TOPIC_ALREADY_EXISTS", false},
		{kerr.InvalidProducerEpoch, codes.Aborted, 409, "INVALID_PRODUCER_EPOCH", false},
		{kerr.ThrottlingQuotaExceeded, codes.ResourceExhausted, 429, "THROTTLING_QUOTA_EXCEEDED", true},
		{kerr.CorruptMessage, codes.DataLoss, 500, "CORRUPT_MESSAGE", true},
		{kerr.KafkaStorageError, codes.Internal, 500, "KAFKA_STORAGE_ERROR", true},
		{kerr.UnknownServerError, codes.Internal, 500, "UNKNOWN_SERVER_ERROR", false},
		{invalid("limit", "wrong"), codes.InvalidArgument, 400, "INVALID_ARGUMENT", false},
		{fmt.Errorf("%w: 5", ErrTooLarge), codes.ResourceExhausted, 413, "REQUEST_TOO_LARGE", false},
		{ErrOverloaded, codes.ResourceExhausted, 429, "OVERLOADED", true},
		{ErrCursor, codes.InvalidArgument, 400, "INVALID_CURSOR", false},
		{ErrCursorTopic, codes.FailedPrecondition, 400, "CURSOR_OF_ANOTHER_TOPIC", false},
		{ErrClosed, codes.Unavailable, 503, "SHUTTING_DOWN", true},
		{kgo.ErrClientClosed, codes.Unavailable, 503, "SHUTTING_DOWN", true},
		{fmt.Errorf("%w: %w", ErrOutcomeUnknown, context.Canceled), codes.DeadlineExceeded, 504, "REQUEST_TIMED_OUT", false},
		{context.DeadlineExceeded, codes.DeadlineExceeded, 504, "REQUEST_TIMED_OUT", false},
		{context.Canceled, codes.Canceled, 499, "CANCELED", false},
		{errors.New("connection refused"), codes.Unavailable, 503, "BROKER_UNAVAILABLE", true},
	} {
		f := FailureOf(fmt.Errorf("while testing: %w", c.err))
		if f.Code != c.code || f.HTTPStatus != c.status || f.Reason != c.reason || f.Retriable != c.retriable || f.Message == "" {
			t.Errorf("%v: %+v", c.err, f)
		}
		if wait := f.Code == codes.Unavailable || c.status == 429; wait != (f.RetryAfter > 0) {
			t.Errorf("%v: retry after %v", c.err, f.RetryAfter)
		}
	}
}

// A failure survives the way through a gRPC status: the administrative endpoints take it back from there.
func TestFailureThroughStatus(t *testing.T) {
	f := Failure{
		Code: codes.Unavailable, HTTPStatus: 503, Reason: "NOT_LEADER_FOR_PARTITION", KafkaCode: 6, Message: "m", Retriable: true,
		RetryAfter: time.Second, Field: "a.b", Record: 3, Details: map[string]string{"partition": "4"},
	}
	st := f.Status()
	got := Failure{Record: -1}
	seen := 0
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			got.FromInfo(d)
			seen++
		case *errdetails.RetryInfo:
			got.RetryAfter = d.RetryDelay.AsDuration()
			seen++
		case *errdetails.BadRequest:
			got.Field = d.FieldViolations[0].Field
			seen++
		}
	}
	if seen != 3 || st.Code() != f.Code || st.Message() != "m" || got.Reason != f.Reason || got.KafkaCode != 6 || !got.Retriable ||
		got.Record != 3 || got.Field != "a.b" || got.RetryAfter != time.Second || got.Details["partition"] != "4" || len(got.Details) != 1 {
		t.Errorf("%+v", got)
	}
	var foreign Failure
	foreign.FromInfo(&errdetails.ErrorInfo{Domain: "elsewhere", Reason: "X"})
	if foreign.Reason != "" {
		t.Error("the reason of another system is taken for ours")
	}
}

func TestCheckTopic(t *testing.T) {
	for name, ok := range map[string]bool{
		"a": true, "A-b_c.9": true, "..a": true, "": false, ".": false, "..": false, "a b": false, "a/b": false, "ü": false, "a\x00": false, "a:b": false,
	} {
		if err := checkTopic(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestSoftwareVersion(t *testing.T) {
	for in, want := range map[string]string{"v1.2.3": "v1.2.3", "v0.0.0-2026+dirty": "v0.0.0-2026-dirty", "": "unknown", "(devel)": "devel", "ü": "unknown"} {
		if got := softwareVersion(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestConfigValidate(t *testing.T) {
	good := DefaultConfig()
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Config){
		"gateway.max.records":       func(c *Config) { c.MaxRecords = 0 },
		"gateway.principal":         func(c *Config) { c.Principal = "" },
		"gateway.linger.ms":         func(c *Config) { c.Linger = time.Hour },
		"gateway.client.idle.ms":    func(c *Config) { c.ClientIdle = time.Microsecond },
		"gateway.max.request.bytes": func(c *Config) { c.MaxRequestBytes = 1 << 40 },
	} {
		c := DefaultConfig()
		change(&c)
		if err := c.Validate(); err == nil {
			t.Errorf("%s: nothing is wrong", name)
		}
	}
	if _, err := New(DefaultConfig(), nil, nil, nil); err == nil {
		t.Error("a gateway without a broker")
	}
}
