package serde

import (
	"moldau/registry/format"
)

const (
	typeAvro     = format.Avro
	typeProtobuf = format.Protobuf
	typeJSON     = format.JSON
)

// Schema is a registered schema that payloads can be written and read with. It does not change.
type Schema struct {
	// ID is its id, GUID its identity in every registry; GUID is empty where the registry tells none.
	ID   int
	GUID string
	// Subject and Version are where it was found; they are zero for one that was asked for by id or GUID.
	Subject string
	Version int
	// Type is AVRO, PROTOBUF or JSON.
	Type string
	// Name is the full name of what the schema describes, if it has one.
	Name string

	guid  *guid
	codec codec
	size  int // of its texts
}

// codec writes and reads values of one schema. Errors wrap ErrValue, ErrPayload or ErrSchema.
type codec interface {
	// message finds what values are of: the schema's message of that name in Protobuf, the schema itself in the others.
	message(name string) (message, error)
	// at finds it by the path that stands in front of a payload, and returns what follows the path.
	at(payload []byte) (message, []byte, error)
}

// message writes and reads values of one kind.
type message interface {
	// name is the full name of a Protobuf message, else empty.
	name() string
	// path appends what stands between the frame and the value.
	path(dst []byte) []byte
	// encode appends the payload of a JSON value, decode the JSON of a payload.
	encode(dst, value []byte) ([]byte, error)
	decode(dst, payload []byte) ([]byte, error)
}

// whole is a codec of a language whose schemas describe one thing.
type whole struct {
	only interface {
		encode(dst, value []byte) ([]byte, error)
		decode(dst, payload []byte) ([]byte, error)
	}
}

func (w whole) message(name string) (message, error) {
	if name != "" {
		return nil, invalid("a message can be chosen in Protobuf schemas only")
	}
	return w, nil
}

func (w whole) at(payload []byte) (message, []byte, error) { return w, payload, nil }
func (w whole) name() string                               { return "" }
func (w whole) path(dst []byte) []byte                     { return dst }

func (w whole) encode(dst, value []byte) ([]byte, error)   { return w.only.encode(dst, value) }
func (w whole) decode(dst, payload []byte) ([]byte, error) { return w.only.decode(dst, payload) }
