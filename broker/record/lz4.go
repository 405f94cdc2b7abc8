package record

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var errLZ4 = errors.New("malformed lz4 frame")

// The lz4 frame format.
const (
	lz4Magic             = 0x184d2204
	lz4HeaderLen         = 7 // magic, flags, block descriptor, header checksum
	lz4FlagDictionary    = 0x01
	lz4FlagChecksum      = 0x04
	lz4FlagSize          = 0x08
	lz4FlagBlockChecksum = 0x10
	lz4FlagIndependent   = 0x20
	lz4RawBlock          = 1 << 31
)

// checkLZ4Frame holds a payload to what Kafka's clients can read: exactly one frame of independent blocks, without a dictionary, and not
// of the legacy kind. Dependent blocks must never reach a reused decoder, which would resolve them against the payload before. The
// checksums are the decoder's business.
func checkLZ4Frame(src []byte) error {
	if len(src) < lz4HeaderLen || binary.LittleEndian.Uint32(src) != lz4Magic {
		return fmt.Errorf("%w: no frame header", errLZ4)
	}
	flags := src[4]
	if flags&lz4FlagIndependent == 0 || flags&lz4FlagDictionary != 0 {
		return fmt.Errorf("%w: dependent blocks or a dictionary", errLZ4)
	}
	at := int64(lz4HeaderLen)
	if flags&lz4FlagSize != 0 {
		at += 8
	}
	perBlock := int64(4)
	if flags&lz4FlagBlockChecksum != 0 {
		perBlock += 4
	}
	for {
		if at+4 > int64(len(src)) {
			return fmt.Errorf("%w: ends inside a block", errLZ4)
		}
		size := binary.LittleEndian.Uint32(src[at:])
		if size == 0 {
			at += 4
			break
		}
		at += perBlock + int64(size&^lz4RawBlock)
	}
	if flags&lz4FlagChecksum != 0 {
		at += 4
	}
	if at != int64(len(src)) {
		return fmt.Errorf("%w: %d bytes, the frame takes %d", errLZ4, len(src), at)
	}
	return nil
}
