package record

import (
	"encoding/binary"
	"fmt"
)

// minLegacyLength is the least size field of a message of format 0: checksum, magic, attributes, and two length fields.
const minLegacyLength = 14

// Peek reads the framing of the first entry of b, of any message format: its whole length n in bytes, and its magic. With ErrShort, b
// ends inside the entry; n is then how many bytes are needed, as far as b can tell. ErrCorrupt means that no entry can begin so.
func Peek(b []byte) (n int, magic int8, err error) {
	if len(b) < MinLen {
		return MinLen, 0, ErrShort
	}
	length := int32(binary.BigEndian.Uint32(b[offLength:]))
	magic = int8(b[offMagic])
	switch {
	case magic < 0 || magic > Magic:
		return 0, magic, corrupt("magic %d", magic)
	case length < minLegacyLength:
		return 0, magic, corrupt("length %d is below the least possible", length)
	case magic == Magic && length < HeaderLen-PrefixLen:
		return 0, magic, corrupt("length %d is below that of a batch header", length)
	}
	n = PrefixLen + int(length)
	if len(b) < n {
		return n, magic, ErrShort
	}
	return n, magic, nil
}

// Next cuts the first batch off b. It checks the framing only: see Batch.Verify and Batch.Validate. Both results alias b. An empty b
// answers ErrShort.
func Next(b []byte) (batch Batch, rest []byte, err error) {
	n, magic, err := Peek(b)
	if err == nil && magic != Magic {
		err = fmt.Errorf("%w: %d", ErrUnsupportedMagic, magic)
	}
	if err != nil {
		return nil, b, err
	}
	return Batch(b[:n:n]), b[n:], nil
}

// Verify checks what holds for every batch on disk or from a leader: the checksum, a codec that exists, and counts and offsets that are
// not negative. It does not look at the records.
func (b Batch) Verify() error {
	if got := b.ComputeCRC(); got != b.CRC() {
		return corrupt("stored checksum %08x, computed %08x", b.CRC(), got)
	}
	if !b.Codec().Valid() {
		return fmt.Errorf("%w: id %d", ErrUnsupportedCodec, int8(b.Codec()))
	}
	if b.Count() < 0 || b.LastOffsetDelta() < 0 || b.BaseOffset() < 0 || b.LastOffset() < 0 {
		return corrupt("%d records, last offset delta %d, base offset %d", b.Count(), b.LastOffsetDelta(), b.BaseOffset())
	}
	return nil
}
