package configdef

import "errors"

var (
	// ErrInvalid is in the chain of every error about a name or a value that isn't accepted (INVALID_CONFIG). The
	// error's text is the one that Kafka's clients show.
	ErrInvalid = errors.New("invalid config")
	// ErrRequest is in the chain of errors about a change that contradicts itself, or that asks for what can't be changed
	// (INVALID_REQUEST).
	ErrRequest = errors.New("invalid config request")
)

// textError carries a text for clients below one of the sentinels.
type textError struct {
	kind error
	text string
}

func (e *textError) Error() string { return e.text }

func (e *textError) Unwrap() error { return e.kind }

// invalidValue is the error about a value, in Kafka's words.
func invalidValue(name, value, why string) error {
	return &textError{ErrInvalid, "Invalid value " + value + " for configuration " + name + ": " + why}
}

func invalid(text string) error { return &textError{ErrInvalid, text} }

func refused(text string) error { return &textError{ErrRequest, text} }
