package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sr"

	"moldau/registry/serde"
)

// encoding is a key or value of a batch that is JSON until it is encoded by a schema.
type encoding struct {
	record int
	isKey  bool
	ref    *serde.Ref
}

// EncodeKey has the key of record i, which is JSON by now, encoded by a schema before it is sent. The topic of ref is that
// of the call. A null key stays null.
func (b *Batch) EncodeKey(i int, ref *serde.Ref) {
	b.encodings = append(b.encodings, encoding{i, true, ref})
}

// EncodeValue does for the value of record i what EncodeKey does for its key.
func (b *Batch) EncodeValue(i int, ref *serde.Ref) {
	b.encodings = append(b.encodings, encoding{i, false, ref})
}

// found is what became of looking for a schema.
type found struct {
	encoder *serde.Encoder
	err     error
}

// encode replaces JSON by payloads, whose memory it takes of the budget as they come. A record that can't be encoded is
// refused, the others are sent. It fails as a whole when the memory is used up.
func (g *Gateway) encode(ctx context.Context, topic string, b *Batch) error {
	type use struct {
		ref   *serde.Ref
		isKey bool
	}
	known := map[use]found{}
	var down error // a registry that can't be reached is not asked again: each question may last until a timeout
	for _, x := range b.encodings {
		r := &b.Records[x.record]
		if x.isKey && r.Key == nil || !x.isKey && r.Value == nil {
			continue
		}
		f, ok := known[use{x.ref, x.isKey}]
		if !ok {
			if f.err = down; down == nil {
				f = g.encoder(ctx, topic, x)
			}
			if errors.Is(f.err, serde.ErrUnavailable) {
				down = f.err
			}
			known[use{x.ref, x.isKey}] = f
		}
		err := f.err
		if err == nil {
			var n int
			n, err = x.apply(f.encoder, r, g.cfg.MaxRequestBytes-int(b.encoded))
			if err := g.budget.acquire(int64(n)); err != nil {
				return err
			}
			b.encoded += int64(n)
		}
		if err != nil {
			b.Call.Refuse(x.record, x.locate(err))
		}
	}
	return nil
}

func (g *Gateway) encoder(ctx context.Context, topic string, x encoding) found {
	if g.serde == nil {
		return found{err: ErrNoRegistry}
	}
	ref := *x.ref
	ref.Topic, ref.IsKey = topic, x.isKey
	encoder, err := g.serde.Encoder(ctx, ref)
	return found{encoder, err}
}

// apply encodes one key or value, and returns its size, which is at most left: short JSON may stand for much when a schema
// has long defaults.
func (x encoding) apply(e *serde.Encoder, r *kgo.Record, left int) (int, error) {
	field, header := &r.Value, serde.ValueHeader
	if x.isKey {
		field, header = &r.Key, serde.KeyHeader
	}
	payload, err := e.Append(nil, *field)
	if err != nil {
		return 0, err
	}
	if len(payload) > left {
		return 0, fmt.Errorf("%w: its records take too much when they are encoded", ErrTooLarge)
	}
	*field = payload
	if e.Header() != nil {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: header, Value: e.Header()})
	}
	return len(payload), nil
}

// locate says which field an error is about, where it is about the request.
func (x encoding) locate(err error) error {
	bad := InvalidError{Record: x.record, Message: err.Error(), Field: fmt.Sprintf("records[%d].value", x.record)}
	if x.isKey {
		bad.Field = fmt.Sprintf("records[%d].key", x.record)
	}
	switch {
	case errors.Is(err, serde.ErrValue):
		bad.Reason = "SCHEMA_MISMATCH"
	case errors.Is(err, serde.ErrReference):
		bad.Reason = "INVALID_SCHEMA_REFERENCE"
	case errors.Is(err, serde.ErrSchema):
		bad.Reason = "SCHEMA_UNUSABLE"
	default:
		return err
	}
	return &bad
}

// newSerde makes what encodes and decodes by schemas, nil if there is no registry.
func newSerde(cfg *Config) (*serde.Serde, error) {
	c := serde.Config{
		URLs: cfg.RegistryURLs, User: cfg.RegistryUser, Password: cfg.RegistryPassword, Token: cfg.RegistryToken,
		UserAgent: "moldau-gateway/" + cfg.Version,
	}
	if len(c.URLs) == 0 {
		if cfg.RegistryTransport == nil {
			return nil, nil
		}
		c.URLs, c.Transport = []string{"http://registry"}, cfg.RegistryTransport
	}
	return serde.New(c)
}

// isRegistrys tells the conditions that come from the registry and its schemas. It answers false for others.
func (f *Failure) isRegistrys(err error) bool {
	switch {
	case errors.Is(err, ErrNoRegistry):
		f.is(classState, "NO_REGISTRY")
	case errors.Is(err, serde.ErrNotFound):
		f.is(classNotFound, "SCHEMA_NOT_FOUND")
	case errors.Is(err, serde.ErrUnavailable):
		f.is(classUnavailable, "REGISTRY_UNAVAILABLE")
	case errors.Is(err, serde.ErrRefused):
		f.is(classState, "REGISTRY_REFUSED")
		var answer *sr.ResponseError
		if errors.As(err, &answer) && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden) {
			f.is(classDenied, "REGISTRY_DENIED")
		}
	case errors.Is(err, serde.ErrValue):
		f.is(classInvalid, "SCHEMA_MISMATCH")
	case errors.Is(err, serde.ErrReference):
		f.is(classInvalid, "INVALID_SCHEMA_REFERENCE")
	case errors.Is(err, serde.ErrSchema):
		f.is(classInvalid, "SCHEMA_UNUSABLE")
	default:
		return false
	}
	return true
}
