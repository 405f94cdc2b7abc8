package serde

import (
	"context"
	"fmt"
)

// Decoded is a payload in JSON.
type Decoded struct {
	// JSON is one value, without white space around its tokens.
	JSON []byte
	// Schema is what the payload is of, Message the name of its message in Protobuf.
	Schema  *Schema
	Message string
}

// Decode turns a payload into JSON. The schema is the one that header names, the value of the record header KeyHeader or
// ValueHeader, and where that is nil the one at the head of the payload. subject says by its context where ids count; it
// may be empty. Errors wrap ErrUnframed, ErrNotFound, ErrUnavailable, ErrRefused, ErrSchema or ErrPayload, or are those of
// the context.
func (s *Serde) Decode(ctx context.Context, subject string, payload, header []byte) (Decoded, error) {
	f, rest, err := parseFrame(payload)
	if header != nil {
		f, rest, err = parseFrame(header)
	}
	if err != nil {
		return Decoded{}, err
	}
	schema, err := s.framed(ctx, f, subject)
	if err != nil {
		return Decoded{}, err
	}
	m, rest, err := schema.codec.at(rest)
	if err != nil {
		return Decoded{}, err
	}
	if header != nil {
		rest = payload
	}
	out, err := m.decode(nil, rest)
	if err != nil {
		return Decoded{}, fmt.Errorf("%w (schema %s)", err, f)
	}
	return Decoded{JSON: out, Schema: schema, Message: m.name()}, nil
}

// framed finds the schema of a frame.
func (s *Serde) framed(ctx context.Context, f frame, subject string) (*Schema, error) {
	if g := f.guid; g != nil {
		return s.cache.get(ctx, key{kind: byGUID, guid: *g}, func(ctx context.Context) (*Schema, error) { return s.byGUID(ctx, *g) })
	}
	in := contextOf(subject)
	return s.cache.get(ctx, key{kind: byID, id: f.id, subject: in}, func(ctx context.Context) (*Schema, error) { return s.byID(ctx, f.id, in) })
}

// String names the schema of a frame.
func (f frame) String() string {
	if f.guid != nil {
		return f.guid.String()
	}
	return fmt.Sprint(f.id)
}
