package rest

import (
	"net/http"
	"sort"
	"strconv"

	"google.golang.org/grpc/codes"

	"moldau/gateway"
	"moldau/internal/jsontext"
)

// appendFailure appends the JSON object that tells an error.
func appendFailure(dst []byte, f *gateway.Failure) []byte {
	dst = append(dst, `{"code":`...)
	dst = strconv.AppendInt(dst, int64(f.HTTPStatus), 10)
	dst = append(dst, `,"status":`...)
	dst = jsontext.AppendString(dst, gateway.CodeName(f.Code))
	dst = append(dst, `,"reason":`...)
	dst = jsontext.AppendString(dst, f.Reason)
	dst = append(dst, `,"message":`...)
	dst = jsontext.AppendString(dst, f.Message)
	dst = append(dst, `,"retriable":`...)
	dst = strconv.AppendBool(dst, f.Retriable)
	if f.KafkaCode != 0 {
		dst = append(dst, `,"kafka_code":`...)
		dst = strconv.AppendInt(dst, int64(f.KafkaCode), 10)
	}
	if f.Field != "" {
		dst = append(dst, `,"field":`...)
		dst = jsontext.AppendString(dst, f.Field)
	}
	if f.Record >= 0 {
		dst = append(dst, `,"record":`...)
		dst = strconv.AppendInt(dst, int64(f.Record), 10)
	}
	if len(f.Details) > 0 {
		dst = appendDetails(append(dst, `,"details":`...), f.Details)
	}
	return append(dst, '}')
}

func appendDetails(dst []byte, details map[string]string) []byte {
	names := make([]string, 0, len(details))
	for name := range details {
		names = append(names, name)
	}
	sort.Strings(names)
	for i, name := range names {
		dst = append(dst, "{,"[min(i, 1)])
		dst = jsontext.AppendString(dst, name)
		dst = append(dst, ':')
		dst = jsontext.AppendString(dst, details[name])
	}
	return append(dst, '}')
}

// writeFailure answers a request with an error: {"error":{…}}.
func writeFailure(w http.ResponseWriter, f *gateway.Failure) {
	h := w.Header()
	h.Set("Content-Type", jsonType)
	h.Set("X-Content-Type-Options", "nosniff")
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(max(1, int(f.RetryAfter.Seconds()))))
	}
	body := append(appendFailure([]byte(`{"error":`), f), '}', '\n')
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(f.HTTPStatus)
	_, _ = w.Write(body) //nolint:gosec // JSON, declared as such, with nosniff; the peer is gone if it fails
}

// refusal is an error that HTTP has a status for and gRPC has not.
func refusal(status int, code codes.Code, reason, message string) *gateway.Failure {
	return &gateway.Failure{Code: code, HTTPStatus: status, Reason: reason, Message: message, Record: -1}
}
