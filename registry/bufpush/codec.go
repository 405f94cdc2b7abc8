package bufpush

import (
	"bytes"
	"fmt"
	"mime"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// codec is one form of messages.
type codec struct {
	media     string
	marshal   func(proto.Message) ([]byte, error)
	unmarshal func([]byte, proto.Message) error
}

func codecOf(contentType string) (codec, bool) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return codec{}, false
	}
	switch media {
	case "application/proto":
		return codec{media, proto.Marshal, unmarshalBinary}, true
	case "application/json":
		return codec{media, protojson.Marshal, unmarshalJSON}, true
	}
	return codec{}, false
}

// maxElements is how many fields a request may have, those of the messages inside it counted. A field of two bytes may become a
// message of a hundred in memory, so that a bound in bytes is none.
const maxElements = 100_000

// errElements says that a request has too many parts.
var errElements = fmt.Errorf("it has more than %d fields", maxElements)

func unmarshalBinary(raw []byte, into proto.Message) error {
	left := maxElements
	if !within(raw, into.ProtoReflect().Descriptor(), &left) {
		return errElements
	}
	return proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(raw, into)
}

// within counts the fields of a message, and tells whether there are no more than are left. What is no message is left to the
// one who reads it.
func within(raw []byte, m protoreflect.MessageDescriptor, left *int) bool {
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return true
		}
		raw = raw[n:]
		n = protowire.ConsumeFieldValue(number, kind, raw)
		if n < 0 {
			return true
		}
		if *left--; *left < 0 {
			return false
		}
		if fd := m.Fields().ByNumber(number); fd != nil && fd.Message() != nil && kind == protowire.BytesType {
			inner, _ := protowire.ConsumeBytes(raw)
			if !within(inner, fd.Message(), left) {
				return false
			}
		}
		raw = raw[n:]
	}
	return true
}

func unmarshalJSON(text []byte, into proto.Message) error {
	count := 0
	for _, c := range []string{"{", "[", ","} {
		count += bytes.Count(text, []byte(c))
	}
	if count > maxElements {
		return errElements
	}
	return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(text, into)
}
