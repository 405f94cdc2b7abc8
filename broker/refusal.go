package broker

import (
	"context"
	"errors"
	"fmt"

	"moldau/broker/configdef"
	"moldau/broker/controller"
	"moldau/broker/metadata"
)

// refusal is an error whose text is meant for the client, in Kafka's words, below one of the sentinels.
type refusal struct {
	kind error
	text string
}

func (r *refusal) Error() string { return r.text }

func (r *refusal) Unwrap() error { return r.kind }

func refuse(kind error, format string, args ...any) error {
	return &refusal{kind, fmt.Sprintf(format, args...)}
}

// controllerErrors gives the reasons for which a change of the metadata was not made their names here. The reasons of the
// controller's refusals are the sentinels of this package.
var controllerErrors = []struct{ from, to error }{
	{controller.ErrContention, ErrTimedOut},
	{context.DeadlineExceeded, ErrTimedOut},
	{context.Canceled, ErrTimedOut},
	{metadata.ErrUnknownOutcome, ErrTimedOut},
	{metadata.ErrTooLarge, ErrPolicyViolation},
	{metadata.ErrNoSpace, ErrNoSpace},
	{metadata.ErrFailed, ErrStorage},
	{metadata.ErrClosed, ErrClosed},
}

// controllerError turns what the controller or the metadata store answered into what callers may see.
func controllerError(err error) error {
	for _, row := range controllerErrors {
		if errors.Is(err, row.from) {
			return fmt.Errorf("%w: %w", row.to, err)
		}
	}
	return err
}

// configError turns what configdef answered into what callers may see.
func configError(err error) error {
	switch {
	case errors.Is(err, configdef.ErrInvalid):
		return &refusal{ErrInvalidConfig, err.Error()}
	case errors.Is(err, configdef.ErrRequest):
		return &refusal{ErrInvalidRequest, err.Error()}
	}
	return err
}
