package serde

import (
	"context"
	"fmt"
)

// Encoder turns JSON values into payloads of one schema. It is safe for concurrent use.
type Encoder struct {
	schema   *Schema
	message  message
	inHeader bool
	header   []byte
}

// Encoder finds the schema that r names. Errors wrap ErrReference, ErrNotFound, ErrUnavailable, ErrRefused or ErrSchema, or
// are those of the context.
func (s *Serde) Encoder(ctx context.Context, r Ref) (*Encoder, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	schema, err := s.cache.get(ctx, r.key(), func(ctx context.Context) (*Schema, error) {
		switch {
		case r.ID > 0:
			return s.byID(ctx, r.ID, contextOf(r.Subject))
		case r.Text != "":
			return s.byText(ctx, &r)
		}
		return s.byVersion(ctx, r.Subject, r.key().version)
	})
	if err != nil {
		return nil, err
	}
	e := &Encoder{schema: schema, inHeader: r.InHeader}
	if e.message, err = schema.codec.message(r.Message); err != nil {
		return nil, err
	}
	if r.InHeader {
		if schema.guid == nil {
			return nil, fmt.Errorf("%w: the registry tells no GUID of it, which a header needs", ErrSchema)
		}
		e.header = e.message.path(appendGUID(nil, *schema.guid))
	}
	return e, nil
}

// Schema is the schema of the payloads.
func (e *Encoder) Schema() *Schema { return e.schema }

// Header is the value of the record header that names the schema, nil where the payload does it. It is not to be changed.
func (e *Encoder) Header() []byte { return e.header }

// Append appends the payload of a JSON value. On an error, which wraps ErrValue, the result is dst as it was.
func (e *Encoder) Append(dst, value []byte) ([]byte, error) {
	out := dst
	if !e.inHeader {
		out = e.message.path(appendID(out, e.schema.ID))
	}
	out, err := e.message.encode(out, value)
	if err != nil {
		return dst, err
	}
	return out, nil
}
