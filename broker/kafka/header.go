package kafka

import (
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

const keyApiVersions = kmsg.ApiVersions

// maxClientID is the length of a client id that is kept; the rest is cut off.
const maxClientID = 256

// errUnsupported says that a request has a key or a version that we don't speak. As Kafka does, we close: there is no
// answer that every client would understand.
var errUnsupported = errors.New("unsupported request")

// parseHeader reads the header of a request (versions 1 and 2) and finds its row in the table. What it returns is good
// until the next request.
func (c *conn) parseHeader(body []byte) (*request, error) {
	in := reader{b: body}
	key, version := in.int16(), in.int16()
	r := &c.request
	*r = request{version: version, correlation: in.int32()}
	r.api = c.srv.api(key)
	if r.api == nil {
		return r, fmt.Errorf("%w: API key %d (%s) version %d, client id %q, software %s",
			errUnsupported, key, kmsg.NameForKey(key), version, clientID(&in), software(c.caller))
	}
	if version < r.api.min || version > r.api.max {
		if r.api.key == keyApiVersions {
			r.mismatch = true // answered in a way that every client understands
			return r, nil
		}
		return r, c.unsupportedVersion(r, &in)
	}
	if version < r.api.refuseBelow {
		return r, c.unsupportedVersion(r, &in)
	}
	id := in.nullableString()
	if r.flexible() {
		in.skipTags()
	}
	if in.bad {
		return r, fmt.Errorf("%w: header of %s version %d", errMalformed, r.api.name, version)
	}
	if id = id[:min(len(id), maxClientID)]; id != c.caller.ClientID {
		c.setCaller(func(caller *broker.Caller) { caller.ClientID = strings.Clone(id) })
	}
	r.caller, r.body = c.caller, in.b
	return r, nil
}

func (c *conn) unsupportedVersion(r *request, in *reader) error {
	return fmt.Errorf("%w: %s version %d, versions %d to %d are, client id %q, software %s", errUnsupported,
		r.api.name, r.version, max(r.api.min, r.api.refuseBelow), r.api.max, clientID(in), software(c.caller))
}

// clientID reads the client id for a log line, if it is there.
func clientID(in *reader) string {
	id := in.nullableString()
	return strings.Clone(id[:min(len(id), maxClientID)])
}

// software names the client's software for a log line (KIP-511).
func software(c *broker.Caller) string {
	if c.SoftwareName == "" {
		return "unknown"
	}
	return c.SoftwareName + " " + c.SoftwareVersion
}
