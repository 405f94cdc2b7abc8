package serde

import (
	"fmt"

	"moldau/internal/jsontext"
	"moldau/registry/format"
	"moldau/registry/format/avro"
	"moldau/registry/format/jsonschema"
	"moldau/registry/format/protobuf"
)

// newCodec makes what reads and writes values of a parsed schema.
func newCodec(parsed format.Schema) (codec, error) {
	switch s := parsed.(type) {
	case *avro.Schema:
		return newAvro(s)
	case *protobuf.Schema:
		return newProtobuf(s)
	case *jsonschema.Schema:
		return whole{jsonCodec{s}}, nil
	}
	return nil, fmt.Errorf("%w: its type is %s", ErrSchema, parsed.Format())
}

// jsonCodec holds values against a JSON schema; a payload is the JSON itself.
type jsonCodec struct{ schema *jsonschema.Schema }

func (c jsonCodec) encode(dst, value []byte) ([]byte, error) {
	out, err := jsontext.Compact(dst, value)
	if err != nil {
		return dst, fmt.Errorf("%w: not JSON: %w", ErrValue, err)
	}
	if err := c.schema.Accept(string(out[len(dst):])); err != nil {
		return dst, fmt.Errorf("%w: %w", ErrValue, err)
	}
	return out, nil
}

func (jsonCodec) decode(dst, payload []byte) ([]byte, error) {
	out, err := jsontext.Compact(dst, payload)
	if err != nil {
		return dst, fmt.Errorf("%w: not JSON: %w", ErrPayload, err)
	}
	return out, nil
}
