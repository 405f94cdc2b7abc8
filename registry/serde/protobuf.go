package serde

import (
	"fmt"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"moldau/internal/jsontext"
	"moldau/registry/format/protobuf"
)

// maxNesting bounds how deeply a Protobuf message nests: as deeply as the decoders for Java, C++ and Python follow, and the
// validation of a broker. Each level of a group goes over all within it.
const maxNesting = protobuf.MaxNesting

// protobufCodec reads and writes the messages of a file.
type protobufCodec struct {
	schema *protobuf.Schema
	types  *dynamicpb.Types // of the file and what it imports, also for what an Any holds
	// defaults holds, for each protoreflect.FullName of a message, how long the JSON of an empty one is.
	defaults sync.Map
}

func newProtobuf(s *protobuf.Schema) (codec, error) {
	file := s.Descriptor()
	if file == nil {
		return nil, fmt.Errorf("%w: it does not compile", ErrSchema)
	}
	files := &protoregistry.Files{}
	if err := addFile(files, file); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	return &protobufCodec{schema: s, types: dynamicpb.NewTypes(files)}, nil
}

// addFile adds a file and all that it imports.
func addFile(files *protoregistry.Files, f protoreflect.FileDescriptor) error {
	if _, err := files.FindFileByPath(f.Path()); err == nil {
		return nil
	}
	for i := range f.Imports().Len() {
		imported := f.Imports().Get(i)
		if imported.IsPlaceholder() {
			continue // nothing comes from it, else the file would not have compiled
		}
		if err := addFile(files, imported.FileDescriptor); err != nil {
			return err
		}
	}
	return files.RegisterFile(f)
}

func (c *protobufCodec) message(name string) (message, error) {
	if name == "" {
		return c.indexed([]int{0}, ErrSchema)
	}
	path, err := c.schema.MessageIndexes(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReference, err)
	}
	return c.indexed(path, ErrReference)
}

func (c *protobufCodec) at(payload []byte) (message, []byte, error) {
	path, rest, err := takeIndexes(payload)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	m, err := c.indexed(path, ErrPayload)
	return m, rest, err
}

// indexed finds a message by its path; errors wrap kind.
func (c *protobufCodec) indexed(path []int, kind error) (message, error) {
	name, err := c.schema.MessageName(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", kind, err)
	}
	found, err := c.types.FindMessageByName(protoreflect.FullName(name))
	if err != nil {
		return nil, fmt.Errorf("%w: find message %s: %w", kind, name, err)
	}
	return &protobufMessage{c, found, path}, nil
}

// protobufMessage reads and writes one kind of message.
type protobufMessage struct {
	codec   *protobufCodec
	typ     protoreflect.MessageType
	indexes []int
}

func (m *protobufMessage) name() string           { return string(m.typ.Descriptor().FullName()) }
func (m *protobufMessage) path(dst []byte) []byte { return appendIndexes(dst, m.indexes) }

func (m *protobufMessage) encode(dst, value []byte) ([]byte, error) {
	msg := m.typ.New().Interface()
	o := protojson.UnmarshalOptions{Resolver: m.codec.types, RecursionLimit: maxNesting}
	if err := o.Unmarshal(value, msg); err != nil {
		return dst, fmt.Errorf("%w: %s: %s", ErrValue, m.name(), withoutPrefix(err))
	}
	out, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(dst, msg)
	if err != nil {
		return dst, fmt.Errorf("%w: %s: %s", ErrValue, m.name(), withoutPrefix(err))
	}
	return out, nil
}

func (m *protobufMessage) decode(dst, payload []byte) ([]byte, error) {
	refused := func(err error) ([]byte, error) {
		return dst, fmt.Errorf("%w: %s: %s", ErrPayload, m.name(), withoutPrefix(err))
	}
	payload, err := protobuf.WithoutStrayKeys(m.typ.Descriptor(), m.codec.types, payload)
	if err != nil {
		return refused(err)
	}
	msg := m.typ.New().Interface()
	o := proto.UnmarshalOptions{Resolver: m.codec.types, RecursionLimit: maxNesting, AllowPartial: true}
	if err := o.Unmarshal(payload, msg); err != nil {
		return refused(err)
	}
	left := maxJSON
	if _, err := m.codec.settle(msg.ProtoReflect(), &left, 0); err != nil {
		return refused(err)
	}
	// Fields without presence are written also when they have their default, as other tools around registries do.
	text, err := protojson.MarshalOptions{Resolver: m.codec.types, AllowPartial: true, EmitDefaultValues: true}.Marshal(msg)
	if err != nil {
		return refused(err)
	}
	return jsontext.Compact(dst, text) // the library varies the white space on purpose
}

// withoutPrefix is an error's text without the name of the library, after which it puts a blank of either of two kinds.
func withoutPrefix(err error) string {
	text := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	return strings.TrimPrefix(text, "proto: ")
}
