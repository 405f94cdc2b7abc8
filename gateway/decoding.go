package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/registry/serde"
)

const (
	// maxDecoded bounds what one answer holds of decoded keys and values; what comes beyond is not decoded.
	maxDecoded = 64 << 20
	// maxMissing bounds the schemas of one answer that the registry is asked for in vain: whoever may write to a topic
	// decides what its payloads name.
	maxMissing = 20
)

// errMissing says that an answer is not worth more questions.
var errMissing = fmt.Errorf("not looked for: %d schemas that this answer names could not be had", maxMissing)

// Decoding is the decoding of the records of one answer. It is for one goroutine.
type Decoding struct {
	g       *Gateway
	left    int              // bytes that may still be decoded
	schemas map[string]error // what became of looking for them, by the bytes that name them
	missing int
	down    error // the registry can't be reached, and is not asked again: each question may last until a timeout
}

// Decode begins the decoding of the records of one answer.
func (g *Gateway) Decode() *Decoding { return &Decoding{g: g, left: maxDecoded} }

// Key turns the key of a record into JSON by the schema that it, or a header of the record, names.
func (d *Decoding) Key(ctx context.Context, r *kgo.Record) (serde.Decoded, error) {
	return d.decode(ctx, r.Key, serde.Header(r.Headers, serde.KeyHeader))
}

// Value turns the value of a record into JSON by the schema that it, or a header of the record, names.
func (d *Decoding) Value(ctx context.Context, r *kgo.Record) (serde.Decoded, error) {
	return d.decode(ctx, r.Value, serde.Header(r.Headers, serde.ValueHeader))
}

func (d *Decoding) decode(ctx context.Context, payload, header []byte) (serde.Decoded, error) {
	switch {
	case d.g.serde == nil:
		return serde.Decoded{}, ErrNoRegistry
	case d.left <= 0:
		return serde.Decoded{}, fmt.Errorf("the answer holds %d bytes of decoded records already, read fewer at a time", maxDecoded)
	}
	name := frame(payload, header)
	err, asked := d.schemas[string(name)]
	switch {
	case err != nil:
		return serde.Decoded{}, err
	case asked:
	case d.down != nil:
		return serde.Decoded{}, d.down
	case d.missing == maxMissing:
		return serde.Decoded{}, errMissing
	}
	out, err := d.g.serde.Decode(ctx, "", payload, header)
	d.left -= len(out.JSON)
	if !asked && ctx.Err() == nil {
		d.note(name, err)
	}
	return out, err
}

// frame returns the bytes that name the schema of a payload: those of an id behind the magic byte, or of a GUID.
func frame(payload, header []byte) []byte {
	if header != nil {
		return header[:min(len(header), 17)]
	}
	return payload[:min(len(payload), 5)]
}

// note remembers what became of looking for the schema with a name.
func (d *Decoding) note(name []byte, err error) {
	switch {
	case errors.Is(err, serde.ErrUnframed): // the registry was not asked
		return
	case errors.Is(err, serde.ErrUnavailable):
		d.down = err
		fallthrough
	case errors.Is(err, serde.ErrNotFound), errors.Is(err, serde.ErrRefused), errors.Is(err, serde.ErrSchema):
		d.missing++
	default:
		err = nil // the schema is there, whether the payload fits it or not
	}
	if d.schemas == nil {
		d.schemas = map[string]error{}
	}
	d.schemas[string(name)] = err
}
