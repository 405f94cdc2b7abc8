package http

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"moldau/registry"
	"moldau/registry/relay"
	"moldau/registry/store"
)

// failure is an error as it is answered: a code whose first three digits are the HTTP status, and a message.
type failure struct {
	Code    int    `json:"error_code"`
	Message string `json:"message"`
}

// Error implements error.
func (f *failure) Error() string { return fmt.Sprintf("%d: %s", f.Code, f.Message) }

// status is the HTTP status of a failure.
func (f *failure) status() int {
	if f.Code < 1000 {
		return f.Code
	}
	return f.Code / 100
}

// problem makes a failure of this package whose code is an HTTP status.
func problem(status int, text string, args ...any) *failure {
	return &failure{Code: status, Message: fmt.Sprintf(text, args...)}
}

// plain makes a failure that says no more than its status.
func plain(status int) *failure {
	return problem(status, "HTTP %d %s", status, http.StatusText(status))
}

func invalidVersion(text string) *failure {
	return &failure{Code: 42202, Message: fmt.Sprintf("The specified version '%s' is not a valid version id. "+
		"Allowed values are between [1, 2^31-1] and the string \"latest\"", text)}
}

// code is how an error of the registry is answered.
type code struct {
	kind    error
	code    int
	message func(*registry.Refusal) string
	when    string // for the reference page
}

func detail(r *registry.Refusal) string { return r.Detail }

func says(format string) func(*registry.Refusal) string {
	return func(r *registry.Refusal) string { return fmt.Sprintf(format, r.Subject) }
}

func saysVersion(format string) func(*registry.Refusal) string {
	return func(r *registry.Refusal) string { return fmt.Sprintf(format, r.Subject, r.Version) }
}

// codes are all errors of the registry. Programs act upon codes and some upon messages, so both are those that
// Confluent's registry answers.
var codes = []code{
	{registry.ErrSubjectNotFound, 40401, says("Subject '%s' not found."), "there is no such subject"},
	{registry.ErrVersionNotFound, 40402, func(r *registry.Refusal) string { return fmt.Sprintf("Version %d not found.", r.Version) }, "the subject has no such version"},
	{registry.ErrSchemaNotFound, 40403, func(r *registry.Refusal) string {
		if r.ID == "" {
			return "Schema not found"
		}
		return fmt.Sprintf("Schema %s not found", r.ID)
	}, "there is no such schema under the subject, id or GUID"},
	{registry.ErrSubjectDeleted, 40404, says("Subject '%s' was soft deleted.Set permanent=true to delete permanently"), "the subject is softly deleted already"},
	{registry.ErrSubjectNotDeleted, 40405, says("Subject '%s' was not deleted first before being permanently deleted"), "a subject must be deleted softly before it is for good"},
	{registry.ErrVersionDeleted, 40406, saysVersion("Subject '%s' Version %d was soft deleted.Set permanent=true to delete permanently"), "the version is softly deleted already"},
	{registry.ErrVersionNotDeleted, 40407, saysVersion("Subject '%s' Version %d was not deleted first before being permanently deleted"), "a version must be deleted softly before it is for good"},
	{registry.ErrNoConfig, 40408, says("Subject '%s' does not have subject-level compatibility configured"), "the subject or context has no config of its own"},
	{registry.ErrNoMode, 40409, says("Subject '%s' does not have subject-level mode configured"), "the subject or context has no mode of its own"},
	{registry.ErrForbidden, 40301, detail, "the caller may not do this"},
	{registry.ErrIncompatible, 40901, func(r *registry.Refusal) string {
		return fmt.Sprintf("Schema being registered is incompatible with an earlier schema for subject \"%s\", details: %s", r.Subject, r.Detail)
	}, "the schema is not compatible with an earlier one; the message says why"},
	{registry.ErrInvalidSchema, 42201, detail, "the text is no schema, or one that may not be registered"},
	{registry.ErrInvalidLevel, 42203, detail, "there is no such compatibility level or policy"},
	{registry.ErrInvalidMode, 42204, detail, "there is no such mode, or not here"},
	{registry.ErrNotPermitted, 42205, detail, "the mode or the state of the subject forbids it"},
	{registry.ErrReferenced, 42206, func(r *registry.Refusal) string {
		return fmt.Sprintf("One or more references exist to the schema %s.", r.Detail)
	}, "other schemas refer to it"},
	{registry.ErrInvalidSubject, 42208, says("The specified subject '%s' is not a valid."), "the text can't be the name of a subject"},
	{registry.ErrTooLarge, 42209, detail, "the schema is larger than a limit allows"},
	{registry.ErrInvalidRuleSet, 42210, detail, "a rule is not well formed"},
	{registry.ErrContextNotEmpty, 42211, says("The specified context '%s' is not empty."), "the context has subjects"},
}

// others are the codes that come from elsewhere than the registry's refusals, for the reference page.
var others = []struct {
	code int
	when string
}{
	{42202, "the version in the path is no version"},
	{50001, "the topic can't be read or written; whether a write was done is not known"},
	{50002, "it takes longer than allowed"},
	{50003, "another replica, which must do it, can't be reached or did not answer"},
	{50004, "no replica was elected to write yet"},
}

// failureOf translates an error.
func failureOf(ctx context.Context, err error) *failure {
	var f *failure
	var r *registry.Refusal
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &r):
		for _, c := range codes {
			if errors.Is(r.Kind, c.kind) {
				return &failure{Code: c.code, Message: c.message(r)}
			}
		}
	case errors.Is(err, relay.ErrProof):
		return problem(http.StatusUnauthorized, "Unauthorized: %v", err)
	case errors.Is(err, relay.ErrNotHere):
		return &failure{Code: 50004, Message: "Leader not known: " + err.Error()}
	case errors.Is(err, relay.ErrNotDone), errors.Is(err, relay.ErrLost), errors.Is(err, relay.ErrForward):
		return &failure{Code: 50003, Message: "Error while forwarding the request to the leader: " + err.Error()}
	case errors.Is(err, registry.ErrForbidden):
		return &failure{Code: 40301, Message: err.Error()}
	case errors.Is(err, store.ErrNotOwner):
		return &failure{Code: 50004, Message: "Leader not known: " + err.Error()}
	case errors.Is(err, store.ErrUnavailable) && ctx.Err() == nil:
		return &failure{Code: 50001, Message: "Error in the backend store: " + err.Error()}
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &failure{Code: 50002, Message: "The operation timed out: " + err.Error()}
	case errors.Is(err, store.ErrClosed):
		return &failure{Code: 50001, Message: "The registry is shutting down"}
	}
	return &failure{Code: 50001, Message: err.Error()}
}

// fail answers an error.
func (h *Handler) fail(w http.ResponseWriter, c *call, err error) int {
	f := failureOf(c.Context(), err)
	switch {
	case errors.Is(err, relay.ErrNotHere):
		relay.Decline(w.Header())
	case f.status() >= http.StatusInternalServerError:
		h.log.Warn("a request failed", "method", c.Method, "path", c.URL.Path, "err", err)
	}
	return sendJSON(w, c.media, f.status(), f)
}
