package serde

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/twmb/franz-go/pkg/sr"
)

var (
	// ErrNotFound says that the registry has no such schema, subject or version.
	ErrNotFound = errors.New("no such schema")
	// ErrUnavailable says that the registry can't be reached, or can't answer at present. The same call may succeed later.
	ErrUnavailable = errors.New("the schema registry is not available")
	// ErrRefused says that the registry refused a request: the caller may not do it, or the schema is not compatible with
	// earlier ones. The error wraps the registry's own, an *sr.ResponseError.
	ErrRefused = errors.New("the schema registry refused")
	// ErrSchema says that a schema can't be used: its text has an error, or it has no message of the name asked for.
	ErrSchema = errors.New("the schema can't be used")
	// ErrValue says that a JSON value does not fit the schema.
	ErrValue = errors.New("the value does not fit the schema")
	// ErrPayload says that bytes are not what the schema that they name describes.
	ErrPayload = errors.New("the bytes do not fit their schema")
	// ErrUnframed says that bytes do not name a schema: they begin with no magic byte, and no header does it for them.
	ErrUnframed = errors.New("the bytes name no schema")
	// ErrReference says that a Ref is not complete or contradicts itself.
	ErrReference = errors.New("the schema is not named as it must be")
)

// codes of the registry's errors that say that something is not there.
const (
	codeSubject = 40401
	codeVersion = 40402
	codeSchema  = 40403
)

// asked wraps what a request of the registry ended with. what says what was asked.
func asked(what string, err error) error {
	if err == nil {
		return nil
	}
	var (
		answer  *sr.ResponseError
		wire    *url.Error
		network net.Error
	)
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w", what, err)
	case errors.As(err, &answer):
		return fmt.Errorf("%w: %s: %w", kindOf(answer), what, err)
	case errors.As(err, &wire):
		return fmt.Errorf("%w: %s: %w", ErrUnavailable, what, wire.Err)
	case errors.As(err, &network), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %s: %w", ErrUnavailable, what, err)
	}
	return fmt.Errorf("%w: %s: the answer can't be read: %w", ErrUnavailable, what, err)
}

func kindOf(e *sr.ResponseError) error {
	switch {
	case e.ErrorCode == codeSubject, e.ErrorCode == codeVersion, e.ErrorCode == codeSchema:
		return ErrNotFound
	case e.StatusCode == http.StatusNotFound && e.ErrorCode == 0, // no registry of Confluent's kind, or a proxy in front of one
		e.StatusCode >= 500, e.StatusCode == http.StatusTooManyRequests, e.StatusCode == http.StatusRequestTimeout:
		return ErrUnavailable
	case e.StatusCode == http.StatusNotFound:
		return ErrNotFound
	}
	return ErrRefused
}

// invalid makes an error about a Ref.
func invalid(text string, args ...any) error {
	return fmt.Errorf("%w: "+text, append([]any{ErrReference}, args...)...)
}
