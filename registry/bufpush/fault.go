package bufpush

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"moldau/registry"
	"moldau/registry/relay"
	"moldau/registry/store"
)

// fault is an error with one of Connect's codes.
type fault struct {
	code, message string
}

// Error implements error.
func (f *fault) Error() string { return f.message }

func newFault(code, text string, args ...any) *fault { return &fault{code, fmt.Sprintf(text, args...)} }

// The codes of Connect that are used here.
const (
	canceled           = "canceled"
	invalidArgument    = "invalid_argument"
	deadlineExceeded   = "deadline_exceeded"
	notFoundCode       = "not_found"
	alreadyExists      = "already_exists"
	permissionDenied   = "permission_denied"
	resourceExhausted  = "resource_exhausted"
	failedPrecondition = "failed_precondition"
	unimplemented      = "unimplemented"
	internalCode       = "internal"
	unavailable        = "unavailable"
	unauthenticated    = "unauthenticated"
)

// statuses are the HTTP statuses that the protocol gives its codes.
var statuses = map[string]int{
	canceled: 499, invalidArgument: http.StatusBadRequest, deadlineExceeded: http.StatusGatewayTimeout,
	notFoundCode: http.StatusNotFound, alreadyExists: http.StatusConflict, permissionDenied: http.StatusForbidden,
	resourceExhausted: http.StatusTooManyRequests, failedPrecondition: http.StatusBadRequest,
	unimplemented: http.StatusNotImplemented, internalCode: http.StatusInternalServerError,
	unavailable: http.StatusServiceUnavailable, unauthenticated: http.StatusUnauthorized,
}

func invalid(text string, args ...any) *fault { return newFault(invalidArgument, text, args...) }

func notFound(text string, args ...any) *fault { return newFault(notFoundCode, text, args...) }

// codes are those of the registry's errors; the first that matches counts.
var codes = []struct {
	err  error
	code string
}{
	{relay.ErrProof, unauthenticated},
	{relay.ErrNotHere, unavailable},
	{relay.ErrNotDone, unavailable},
	{relay.ErrLost, unavailable},
	{relay.ErrForward, unavailable},
	{registry.ErrForbidden, permissionDenied},
	{registry.ErrIncompatible, failedPrecondition},
	{registry.ErrNotPermitted, failedPrecondition},
	{registry.ErrReferenced, failedPrecondition},
	{registry.ErrInvalidSchema, invalidArgument},
	{registry.ErrInvalidSubject, invalidArgument},
	{registry.ErrTooLarge, resourceExhausted},
	{store.ErrTooLarge, resourceExhausted},
	{store.ErrUnavailable, unavailable},
	{store.ErrNotOwner, unavailable},
	{store.ErrClosed, unavailable},
	{context.DeadlineExceeded, deadlineExceeded},
	{context.Canceled, canceled},
}

// faultOf turns any error into a fault. What nobody expected is logged and not told to the caller.
func faultOf(ctx context.Context, log *slog.Logger, err error) *fault {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	for _, c := range codes {
		if !errors.Is(err, c.err) {
			continue
		}
		if c.code == permissionDenied && registry.Principal(ctx) == registry.Anonymous {
			return newFault(unauthenticated, "%v", err)
		}
		return newFault(c.code, "%v", err)
	}
	log.Error("a call of buf's protocol failed", "err", err)
	return newFault(internalCode, "internal error")
}

// fail writes a fault and returns its status.
func fail(w http.ResponseWriter, f *fault) int {
	body, err := json.Marshal(struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}{f.code, f.message})
	if err != nil {
		panic("bufpush: " + err.Error()) // two strings
	}
	status := statuses[f.code]
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the peer may be gone
	return status
}
