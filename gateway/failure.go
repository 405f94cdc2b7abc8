package gateway

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
)

// errorDomain is the domain of error reasons in gRPC's ErrorInfo.
const errorDomain = "moldau"

// Failure is an error as the doors tell it.
type Failure struct {
	// Code is the gRPC code, HTTPStatus the HTTP status.
	Code       codes.Code
	HTTPStatus int
	// Reason is Kafka's name of the error where the broker gave it, else one of ours, in the same style.
	Reason string
	// KafkaCode is Kafka's number of the error; 0 if the broker did not give it.
	KafkaCode int16
	// Message is for people.
	Message string
	// Retriable tells whether the same request may succeed later.
	Retriable bool
	// RetryAfter is how long to wait before that; 0 if not known.
	RetryAfter time.Duration
	// Field is the field of the request that is wrong, Record the index of the record, -1 if none.
	Field  string
	Record int
	// Details are further facts, by name: partition, log_start_offset, high_watermark.
	Details map[string]string
}

// class is how a kind of error is told.
type class struct {
	code       codes.Code
	httpStatus int
	retryAfter time.Duration
}

var (
	classInvalid     = class{codes.InvalidArgument, http.StatusBadRequest, 0}
	classState       = class{codes.FailedPrecondition, http.StatusBadRequest, 0}
	classRange       = class{codes.OutOfRange, http.StatusBadRequest, 0}
	classNotFound    = class{codes.NotFound, http.StatusNotFound, 0}
	classExists      = class{codes.AlreadyExists, http.StatusConflict, 0}
	classConflict    = class{codes.Aborted, http.StatusConflict, 0}
	classDenied      = class{codes.PermissionDenied, http.StatusForbidden, 0}
	classUnknownUser = class{codes.Unauthenticated, http.StatusUnauthorized, 0}
	classUnavailable = class{codes.Unavailable, http.StatusServiceUnavailable, time.Second}
	classTimeout     = class{codes.DeadlineExceeded, http.StatusGatewayTimeout, 0}
	classExhausted   = class{codes.ResourceExhausted, http.StatusTooManyRequests, time.Second}
	classDataLoss    = class{codes.DataLoss, http.StatusInternalServerError, 0}
	classInternal    = class{codes.Internal, http.StatusInternalServerError, 0}
	classUnsupported = class{codes.Unimplemented, http.StatusNotImplemented, 0}
)

// kafkaClasses is the one table from Kafka's errors to gRPC and HTTP. What is not in it is unavailable if Kafka calls
// it retriable, else internal.
var kafkaClasses = map[int16]class{
	kerr.OffsetOutOfRange.Code:                   classRange,
	kerr.CorruptMessage.Code:                     classDataLoss,
	kerr.UnknownTopicOrPartition.Code:            classNotFound,
	kerr.UnknownTopicID.Code:                     classNotFound,
	kerr.RequestTimedOut.Code:                    classTimeout,
	kerr.NotEnoughReplicasAfterAppend.Code:       classTimeout,
	kerr.MessageTooLarge.Code:                    classInvalid,
	kerr.RecordListTooLarge.Code:                 classInvalid,
	kerr.InvalidRecord.Code:                      classInvalid,
	kerr.InvalidTimestamp.Code:                   classInvalid,
	kerr.InvalidTopicException.Code:              classInvalid,
	kerr.InvalidPartitions.Code:                  classInvalid,
	kerr.InvalidReplicationFactor.Code:           classInvalid,
	kerr.InvalidReplicaAssignment.Code:           classInvalid,
	kerr.InvalidConfig.Code:                      classInvalid,
	kerr.InvalidRequest.Code:                     classInvalid,
	kerr.InvalidRequiredAcks.Code:                classInvalid,
	kerr.UnsupportedForMessageFormat.Code:        classInvalid,
	kerr.UnsupportedCompressionType.Code:         classInvalid,
	kerr.PolicyViolation.Code:                    classState,
	kerr.TopicDeletionDisabled.Code:              classState,
	kerr.TopicAlreadyExists.Code:                 classExists,
	kerr.ReassignmentInProgress.Code:             classConflict,
	kerr.InvalidProducerEpoch.Code:               classConflict,
	kerr.ProducerFenced.Code:                     classConflict,
	kerr.TopicAuthorizationFailed.Code:           classDenied,
	kerr.ClusterAuthorizationFailed.Code:         classDenied,
	kerr.TransactionalIDAuthorizationFailed.Code: classDenied,
	kerr.SaslAuthenticationFailed.Code:           classUnknownUser,
	kerr.IllegalSaslState.Code:                   classUnknownUser,
	kerr.UnsupportedSaslMechanism.Code:           classUnknownUser,
	kerr.ThrottlingQuotaExceeded.Code:            classExhausted,
	kerr.KafkaStorageError.Code:                  classInternal,
	kerr.UnsupportedVersion.Code:                 classUnsupported,
}

// codeNames are the names of the gRPC codes as their JSON form has them.
var codeNames = [...]string{
	codes.OK: "OK", codes.Canceled: "CANCELLED", codes.Unknown: "UNKNOWN", codes.InvalidArgument: "INVALID_ARGUMENT",
	codes.DeadlineExceeded: "DEADLINE_EXCEEDED", codes.NotFound: "NOT_FOUND", codes.AlreadyExists: "ALREADY_EXISTS",
	codes.PermissionDenied: "PERMISSION_DENIED", codes.ResourceExhausted: "RESOURCE_EXHAUSTED",
	codes.FailedPrecondition: "FAILED_PRECONDITION", codes.Aborted: "ABORTED", codes.OutOfRange: "OUT_OF_RANGE",
	codes.Unimplemented: "UNIMPLEMENTED", codes.Internal: "INTERNAL", codes.Unavailable: "UNAVAILABLE",
	codes.DataLoss: "DATA_LOSS", codes.Unauthenticated: "UNAUTHENTICATED",
}

// CodeName returns the name of a gRPC code in its JSON form, such as NOT_FOUND.
func CodeName(c codes.Code) string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return "UNKNOWN"
}

// FailureOf tells how an error of a verb is answered. It is the only place that knows.
func FailureOf(err error) Failure {
	f := Failure{Message: err.Error(), Record: -1}
	var (
		bad    *InvalidError
		offset *OffsetError
		kafka  *kerr.Error
	)
	switch {
	case errors.As(err, &bad):
		f.Field, f.Record = bad.Field, bad.Record
		f.is(classInvalid, bad.Reason)
		if f.Reason == "" {
			f.Reason = "INVALID_ARGUMENT"
		}
	case errors.As(err, &offset):
		f.is(classRange, kerr.OffsetOutOfRange.Message)
		f.KafkaCode = kerr.OffsetOutOfRange.Code
		f.Details = map[string]string{
			"partition":        strconv.Itoa(int(offset.Partition)),
			"offset":           strconv.FormatInt(offset.Offset, 10),
			"log_start_offset": strconv.FormatInt(offset.LogStartOffset, 10),
			"high_watermark":   strconv.FormatInt(offset.LogHighWatermark, 10),
		}
	case errors.As(err, &kafka):
		f.isKafka(kafka, err)
	default:
		f.isOurs(err)
	}
	f.Retriable = f.Retriable || f.RetryAfter > 0
	return f
}

func (f *Failure) is(c class, reason string) {
	f.Code, f.HTTPStatus, f.RetryAfter, f.Reason = c.code, c.httpStatus, c.retryAfter, reason
}

func (f *Failure) isKafka(k *kerr.Error, err error) {
	c, ok := kafkaClasses[k.Code]
	switch {
	case ok:
	case k.Retriable:
		c = classUnavailable
	default:
		c = classInternal
	}
	f.is(c, k.Message)
	f.KafkaCode = k.Code
	f.Retriable = k.Retriable && c.code != codes.NotFound
	if err == error(k) { //nolint:errorlint // asks whether there is a text of its own
		f.Message = k.Description
	}
	if c.code == codes.DeadlineExceeded {
		f.Message += " The record may have been written."
	}
}

// isOurs tells the conditions that have no Kafka code.
func (f *Failure) isOurs(err error) {
	switch {
	case f.isRegistrys(err):
	case errors.Is(err, ErrTooLarge):
		f.is(class{codes.ResourceExhausted, http.StatusRequestEntityTooLarge, 0}, "REQUEST_TOO_LARGE")
	case errors.Is(err, ErrOverloaded):
		f.is(classExhausted, "OVERLOADED")
	case errors.Is(err, ErrCursor):
		f.is(classInvalid, "INVALID_CURSOR")
		f.Field = "cursor"
	case errors.Is(err, ErrCursorTopic):
		f.is(classState, "CURSOR_OF_ANOTHER_TOPIC")
		f.Field = "cursor"
	case errors.Is(err, ErrClosed), errors.Is(err, kgo.ErrClientClosed):
		f.is(classUnavailable, "SHUTTING_DOWN")
	case errors.Is(err, ErrOutcomeUnknown), errors.Is(err, context.DeadlineExceeded):
		f.is(classTimeout, kerr.RequestTimedOut.Message)
	case errors.Is(err, context.Canceled):
		f.is(class{codes.Canceled, 499, 0}, "CANCELED")
	default: // dial and connection faults: what the client could not mend by trying again
		f.is(classUnavailable, "BROKER_UNAVAILABLE")
	}
}

// Status returns the failure as a gRPC status with its details.
func (f *Failure) Status() *status.Status {
	info := &errdetails.ErrorInfo{Reason: f.Reason, Domain: errorDomain, Metadata: map[string]string{
		"retriable": strconv.FormatBool(f.Retriable),
	}}
	for name, value := range f.Details {
		info.Metadata[name] = value
	}
	if f.KafkaCode != 0 {
		info.Metadata["kafka_code"] = strconv.Itoa(int(f.KafkaCode))
	}
	if f.Record >= 0 {
		info.Metadata["record"] = strconv.Itoa(f.Record)
	}
	details := []protoadapt.MessageV1{protoadapt.MessageV1Of(info)}
	if f.Field != "" {
		details = append(details, protoadapt.MessageV1Of(&errdetails.BadRequest{
			FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: f.Field, Description: f.Message}},
		}))
	}
	if f.RetryAfter > 0 {
		details = append(details, protoadapt.MessageV1Of(&errdetails.RetryInfo{RetryDelay: durationpb.New(f.RetryAfter)}))
	}
	st := status.New(f.Code, f.Message)
	if with, err := st.WithDetails(details...); err == nil {
		st = with
	}
	return st
}

// FromInfo takes back what Status put into an ErrorInfo.
func (f *Failure) FromInfo(info *errdetails.ErrorInfo) {
	if info.GetDomain() != errorDomain {
		return
	}
	f.Reason = info.GetReason()
	for name, value := range info.GetMetadata() {
		n, _ := strconv.Atoi(value) // not every value is a number
		switch name {
		case "retriable":
			f.Retriable = value == "true"
		case "kafka_code":
			f.KafkaCode = int16(n) //nolint:gosec // written from one
		case "record":
			f.Record = n
		default:
			if f.Details == nil {
				f.Details = make(map[string]string)
			}
			f.Details[name] = value
		}
	}
}

// statusError returns err as an error that a gRPC handler returns.
func statusError(err error) error {
	f := FailureOf(err)
	return f.Status().Err()
}
