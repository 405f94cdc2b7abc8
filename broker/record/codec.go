package record

import (
	"fmt"
	"strings"
)

// Codec is a compression type, numbered as in the attributes of a batch.
type Codec int8

// The compression types.
const (
	None   Codec = 0
	Gzip   Codec = 1
	Snappy Codec = 2
	LZ4    Codec = 3
	Zstd   Codec = 4
)

var codecNames = [...]string{None: "none", Gzip: "gzip", Snappy: "snappy", LZ4: "lz4", Zstd: "zstd"}

// Valid tells whether the codec exists.
func (c Codec) Valid() bool { return c >= None && c <= Zstd }

// String is Kafka's name of the codec.
func (c Codec) String() string {
	if !c.Valid() {
		return fmt.Sprintf("unknown(%d)", int8(c))
	}
	return codecNames[c]
}

// ParseCodec reads Kafka's name of a codec. "producer" and "uncompressed" are values of compression.type, not codecs.
func ParseCodec(name string) (Codec, error) {
	for c, n := range codecNames {
		if strings.EqualFold(n, name) {
			return Codec(c), nil
		}
	}
	return None, fmt.Errorf("%w: %q", ErrUnsupportedCodec, name)
}
