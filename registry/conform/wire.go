package conform

import (
	"encoding/binary"
	"errors"
	"math"
)

// The names of the record headers that name a schema by its GUID.
const (
	KeyHeader   = "__key_schema_id"
	ValueHeader = "__value_schema_id"
)

const (
	prefixMagic = 0
	headerMagic = 1
	prefixBytes = 1 + 4
	headerBytes = 1 + 16
)

// MaxIndexes bounds the path of a message in a Protobuf schema. No schema that the registry takes nests as deeply.
const MaxIndexes = 64

var (
	// ErrNoPrefix says that a payload does not begin with the prefix that names a schema.
	ErrNoPrefix = errors.New("the payload does not begin with a schema id")
	// ErrHeader says that a header which should name a schema does not.
	ErrHeader = errors.New("the schema id header is malformed")
	// ErrIndexes says that the path of a Protobuf message is malformed.
	ErrIndexes = errors.New("the message indexes are malformed")
)

// ParsePrefix reads the prefix that names a schema by its id, and answers what follows it. In a payload of Protobuf that is
// the path of the message, for ParseIndexes.
func ParsePrefix(payload []byte) (id int32, rest []byte, err error) {
	if len(payload) < prefixBytes || payload[0] != prefixMagic {
		return 0, nil, ErrNoPrefix
	}
	id = int32(binary.BigEndian.Uint32(payload[1:])) //nolint:gosec // an id is signed on the wire
	if id < 0 {
		return 0, nil, ErrNoPrefix
	}
	return id, payload[prefixBytes:], nil
}

// AppendPrefix appends the prefix that names a schema by its id. In a payload of Protobuf AppendIndexes follows.
func AppendPrefix(dst []byte, id int32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, prefixMagic), uint32(id)) //nolint:gosec // an id is signed on the wire
}

// ParseHeader reads a header of the name KeyHeader or ValueHeader, which names a schema by its GUID, and answers what
// follows. For Protobuf that is the path of the message, for ParseIndexes; for the other formats nothing may follow.
func ParseHeader(header []byte) (guid [16]byte, rest []byte, err error) {
	if len(header) < headerBytes || header[0] != headerMagic {
		return guid, nil, ErrHeader
	}
	return [16]byte(header[1:headerBytes]), header[headerBytes:], nil
}

// maxIndexBytes bounds a number in the path of a message: Java's decoder reads 32 bits, and refuses a number that takes more bytes.
const maxIndexBytes = 5

// ParseIndexes reads the path of a message in a Protobuf schema into the caller's array and answers what follows it. The
// path is never empty: the short form, a single 0, stands for the first message.
func ParseIndexes(b []byte, into *[MaxIndexes]int32) (index []int32, rest []byte, err error) {
	count, b, ok := cutIndex(b)
	if !ok || count > MaxIndexes {
		return nil, nil, ErrIndexes
	}
	if count == 0 {
		into[0] = 0
		return into[:1], b, nil
	}
	index = into[:count]
	for i := range index {
		if index[i], b, ok = cutIndex(b); !ok {
			return nil, nil, ErrIndexes
		}
	}
	return index, b, nil
}

// cutIndex reads a number that is not negative.
func cutIndex(b []byte) (v int32, rest []byte, ok bool) {
	wide, n := binary.Varint(b)
	if n <= 0 || n > maxIndexBytes || wide < 0 || wide > math.MaxInt32 {
		return 0, nil, false
	}
	return int32(wide), b[n:], true
}

// AppendIndexes appends the path of a message in a Protobuf schema. That of the first message is a single 0.
func AppendIndexes(dst []byte, index []int32) []byte {
	if len(index) == 1 && index[0] == 0 {
		return append(dst, 0)
	}
	dst = binary.AppendVarint(dst, int64(len(index)))
	for _, i := range index {
		dst = binary.AppendVarint(dst, int64(i))
	}
	return dst
}
