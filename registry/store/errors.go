package store

import "errors"

var (
	// ErrNotOwner says that another replica owns the topic now, or none does yet. Nothing was written.
	ErrNotOwner = errors.New("not the owner of the registry's topic")
	// ErrTooLarge says that a record is larger than the topic takes. Nothing was written.
	ErrTooLarge = errors.New("record too large for the registry's topic")
	// ErrUnavailable says that the topic could not be written or read. Whether a change was written is not known unless
	// it says so.
	ErrUnavailable = errors.New("the registry's topic is unavailable")
	// ErrTopic says that the topic is not fit to hold a catalog. It needs an operator; the text says what he
	// must do.
	ErrTopic = errors.New("unfit topic")
	// ErrClosed says that the store is closed.
	ErrClosed = errors.New("registry store closed")
	// ErrSignature says that a message does not come from a replica of this registry.
	ErrSignature = errors.New("not signed by a replica of this registry")
)
