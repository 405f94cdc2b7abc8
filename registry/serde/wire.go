package serde

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// KeyHeader is the name of the record header that holds the schema of the key, where that does not begin with it.
	KeyHeader = "__key_schema_id"
	// ValueHeader is the name of the record header that holds the schema of the value.
	ValueHeader = "__value_schema_id"

	magicID   = 0 // an id of four bytes follows
	magicGUID = 1 // a GUID of sixteen bytes follows

	idLen   = 1 + 4
	guidLen = 1 + 16

	// maxIndexes bounds the path of a Protobuf message: messages nest no deeper.
	maxIndexes = 64
)

// guid is the identity of a schema that is the same in every registry.
type guid [16]byte

func parseGUID(text string) (g guid, err error) {
	raw, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(raw) != len(g) {
		return g, fmt.Errorf("%q is no GUID", text)
	}
	return guid(raw), nil
}

// String is the GUID in the usual form, as 01234567-89ab-cdef-0123-456789abcdef.
func (g guid) String() string {
	x := hex.EncodeToString(g[:])
	return strings.Join([]string{x[:8], x[8:12], x[12:16], x[16:20], x[20:]}, "-")
}

// frame is what stands in front of a payload, or in a record header: which schema it is of.
type frame struct {
	id   int   // in its registry; it counts where there is no GUID
	guid *guid // nil for none
}

// parseFrame reads the frame at the head of data and returns what follows it. What follows in a Protobuf payload begins
// with the path of the message.
func parseFrame(data []byte) (frame, []byte, error) {
	switch {
	case len(data) >= idLen && data[0] == magicID:
		return frame{id: int(binary.BigEndian.Uint32(data[1:idLen]))}, data[idLen:], nil
	case len(data) >= guidLen && data[0] == magicGUID:
		g := guid(data[1:guidLen])
		return frame{guid: &g}, data[guidLen:], nil
	}
	return frame{}, nil, ErrUnframed
}

func appendID(dst []byte, id int) []byte {
	return binary.BigEndian.AppendUint32(append(dst, magicID), uint32(id)) //nolint:gosec // ids are positive 32-bit numbers
}

func appendGUID(dst []byte, g guid) []byte {
	return append(append(dst, magicGUID), g[:]...)
}

// appendIndexes appends the path of a Protobuf message. That of the first message is a single zero.
func appendIndexes(dst []byte, path []int) []byte {
	if len(path) == 1 && path[0] == 0 {
		return append(dst, 0)
	}
	dst = binary.AppendVarint(dst, int64(len(path)))
	for _, i := range path {
		dst = binary.AppendVarint(dst, int64(i))
	}
	return dst
}

var errIndexes = errors.New("the path of the message is damaged")

// takeIndexes reads the path of a Protobuf message and returns what follows it.
func takeIndexes(data []byte) ([]int, []byte, error) {
	n, w := binary.Varint(data)
	if w <= 0 || n < 0 || n > maxIndexes {
		return nil, nil, errIndexes
	}
	data = data[w:]
	if n == 0 {
		return []int{0}, data, nil
	}
	path := make([]int, n)
	for i := range path {
		v, w := binary.Varint(data)
		if w <= 0 || v < 0 || v > 1<<31-1 {
			return nil, nil, errIndexes
		}
		path[i], data = int(v), data[w:]
	}
	return path, data, nil
}

// Header returns the value of the record header with a name, KeyHeader or ValueHeader; nil if there is none. It is the
// last one where there are several.
func Header(headers []kgo.RecordHeader, name string) []byte {
	for i := len(headers) - 1; i >= 0; i-- {
		if headers[i].Key == name {
			return headers[i].Value
		}
	}
	return nil
}
