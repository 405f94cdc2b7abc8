package kafka

import (
	"errors"
	"fmt"

	"moldau/broker"
)

// request is one request of a connection, as its handler sees it. It is good until the handler returns.
type request struct {
	api         *api
	version     int16
	correlation int32
	// caller says who asks; it is never changed once a request carries it.
	caller *broker.Caller
	// mismatch says that this is ApiVersions in a version that we do not speak.
	mismatch bool
	// body is what follows the header.
	body []byte
}

// flexible tells whether the version has tagged fields (KIP-482).
func (r *request) flexible() bool { return r.version >= r.api.flexibleFrom }

// errMalformed says that the bytes of a request do not parse.
var errMalformed = errors.New("malformed request")

// malformed wraps a parse error with what was parsed.
func malformed(r *request, err error) error {
	return fmt.Errorf("%w: %s version %d of %d bytes: %w", errMalformed, r.api.name, r.version, len(r.body), err)
}
