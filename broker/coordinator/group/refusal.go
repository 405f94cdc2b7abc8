package group

import "fmt"

// refusal is an error with a text for the client, which is Kafka's where programs may look at it.
type refusal struct {
	err  error // which of this package's
	text string
}

// refuse returns err with a text of its own.
func refuse(err error, format string, args ...any) error {
	return &refusal{err, fmt.Sprintf(format, args...)}
}

// Error returns the text.
func (r *refusal) Error() string { return r.text }

// Unwrap returns the error that the text goes with.
func (r *refusal) Unwrap() error { return r.err }
