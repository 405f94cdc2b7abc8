package registry

import (
	"errors"
	"fmt"
)

// What the registry refuses. Errors that wrap these are of type *Refusal, whose fields hold what it is about.
var (
	// ErrSubjectNotFound says that there is no such subject.
	ErrSubjectNotFound = errors.New("subject not found")
	// ErrVersionNotFound says that a subject has no such version.
	ErrVersionNotFound = errors.New("version not found")
	// ErrSchemaNotFound says that there is no such schema under the subject, id or GUID.
	ErrSchemaNotFound = errors.New("schema not found")
	// ErrSubjectDeleted says that a subject is softly deleted already.
	ErrSubjectDeleted = errors.New("subject is softly deleted")
	// ErrSubjectNotDeleted says that a subject must be deleted softly before it is for good.
	ErrSubjectNotDeleted = errors.New("subject is not softly deleted")
	// ErrVersionDeleted says that a version is softly deleted already.
	ErrVersionDeleted = errors.New("version is softly deleted")
	// ErrVersionNotDeleted says that a version must be deleted softly before it is for good.
	ErrVersionNotDeleted = errors.New("version is not softly deleted")
	// ErrNoConfig says that a subject has no config of its own.
	ErrNoConfig = errors.New("no config of its own")
	// ErrNoMode says that a subject has no mode of its own.
	ErrNoMode = errors.New("no mode of its own")
	// ErrIncompatible says that a schema is not compatible with an earlier one.
	ErrIncompatible = errors.New("incompatible schema")
	// ErrInvalidSchema says that a text is no schema, or not one that may be registered.
	ErrInvalidSchema = errors.New("invalid schema")
	// ErrInvalidLevel says that there is no such compatibility level or policy.
	ErrInvalidLevel = errors.New("invalid compatibility level")
	// ErrInvalidMode says that there is no such mode, or not here.
	ErrInvalidMode = errors.New("invalid mode")
	// ErrNotPermitted says that the mode or the state of a subject forbids something.
	ErrNotPermitted = errors.New("operation not permitted")
	// ErrReferenced says that other schemas refer to a version.
	ErrReferenced = errors.New("schema is referred to")
	// ErrInvalidSubject says that a text can't be the name of a subject.
	ErrInvalidSubject = errors.New("invalid subject")
	// ErrTooLarge says that a schema is larger than allowed.
	ErrTooLarge = errors.New("schema too large")
	// ErrInvalidRuleSet says that a rule set is not well formed.
	ErrInvalidRuleSet = errors.New("invalid rule set")
	// ErrContextNotEmpty says that a context still has subjects.
	ErrContextNotEmpty = errors.New("context not empty")
	// ErrForbidden says that the caller may not do this.
	ErrForbidden = errors.New("forbidden")
)

// Refusal is an error with what it is about.
type Refusal struct {
	Kind    error  // one of the errors above
	Subject string // qualified, where it is about one
	Version int32  // where it is about one
	ID      string // of a schema that was not found: an id or a GUID
	Detail  string // says more where there is more to say
}

// Error implements error.
func (r *Refusal) Error() string {
	text := r.Kind.Error()
	if r.Subject != "" {
		text += fmt.Sprintf(" (subject %s)", r.Subject)
	}
	if r.Detail != "" {
		text += ": " + r.Detail
	}
	return text
}

// Unwrap returns the kind.
func (r *Refusal) Unwrap() error { return r.Kind }

func refuse(kind error, detail string, args ...any) *Refusal {
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	return &Refusal{Kind: kind, Detail: detail}
}

// ElsewhereError says that another replica must do this.
type ElsewhereError struct{ URL string }

// Error implements error.
func (e *ElsewhereError) Error() string { return "the registry's topic is written by " + e.URL }
