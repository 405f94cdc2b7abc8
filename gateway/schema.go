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

// refusal is a record of a batch that failed before it was handed to the broker.
type refusal struct {
	record int
	err    error
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

// encode replaces JSON by payloads. A record that can't be encoded is refused, the others are sent.
func (g *Gateway) encode(ctx context.Context, topic string, b *Batch) {
	type use struct {
		ref   *serde.Ref
		isKey bool
	}
	known := map[use]found{}
	for _, x := range b.encodings {
		r := &b.Records[x.record]
		if x.isKey && r.Key == nil || !x.isKey && r.Value == nil {
			continue
		}
		f, ok := known[use{x.ref, x.isKey}]
		if !ok {
			f = g.encoder(ctx, topic, x)
			known[use{x.ref, x.isKey}] = f
		}
		err := f.err
		if err == nil {
			var n int
			n, err = x.apply(f.encoder, r, g.cfg.MaxRequestBytes-int(b.encoded))
			b.encoded += int64(n)
		}
		if err != nil {
			b.refused = append(b.refused, refusal{x.record, x.locate(err)})
		}
	}
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

// maxDecoded bounds what one answer holds of decoded keys and values; what comes beyond is not decoded.
const maxDecoded = 64 << 20

// Decoding is the decoding of the records of one answer. It is for one goroutine.
type Decoding struct {
	g    *Gateway
	left int
}

// Decode begins the decoding of the records of one answer.
func (g *Gateway) Decode() *Decoding { return &Decoding{g, maxDecoded} }

// Key turns the key of a record into JSON by the schema that it, or a header of the record, names.
func (d *Decoding) Key(ctx context.Context, r *kgo.Record) (serde.Decoded, error) {
	return d.decode(ctx, r, r.Key, serde.KeyHeader)
}

// Value turns the value of a record into JSON by the schema that it, or a header of the record, names.
func (d *Decoding) Value(ctx context.Context, r *kgo.Record) (serde.Decoded, error) {
	return d.decode(ctx, r, r.Value, serde.ValueHeader)
}

func (d *Decoding) decode(ctx context.Context, r *kgo.Record, payload []byte, name string) (serde.Decoded, error) {
	switch {
	case d.g.serde == nil:
		return serde.Decoded{}, ErrNoRegistry
	case d.left <= 0:
		return serde.Decoded{}, fmt.Errorf("the answer holds %d bytes of decoded records already, read fewer at a time", maxDecoded)
	}
	out, err := d.g.serde.Decode(ctx, "", payload, serde.Header(r.Headers, name))
	d.left -= len(out.JSON)
	return out, err
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
