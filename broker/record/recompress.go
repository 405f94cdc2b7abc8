package record

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Recompress appends the batch under another codec or level to dst, and returns that batch alone, which aliases the grown dst. The
// records stay byte for byte, and so does every header field but length, codec and checksum: offsets, timestamps, producer id, epoch and
// sequence, flags. The records are not checked: validate first. b is not changed, and may not overlap the spare room of dst.
//
// Errors: those of Decompressor.Decompress and Compressor.Compress.
func (b Batch) Recompress(dst []byte, codec Codec, level int, d *Decompressor, c *Compressor) (Batch, error) {
	records := b.Payload()
	if b.Codec() != None {
		buf := d.buffer()
		defer d.putBuffer(buf)
		var err error
		if *buf, err = d.Decompress(*buf, records, b.Codec()); err != nil {
			return nil, fmt.Errorf("recompress: %w", err)
		}
		records = *buf
	}
	at := len(dst)
	dst = append(dst, b[:HeaderLen]...)
	dst, err := c.Compress(dst, records, codec, level)
	if err != nil {
		return nil, fmt.Errorf("recompress: %w", err)
	}
	out := Batch(dst[at:])
	if int64(len(out))-PrefixLen > math.MaxInt32 {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, len(out))
	}
	attributes := b.Attributes()&^attrCodec | int16(codec)
	binary.BigEndian.PutUint32(out[offLength:], uint32(len(out)-PrefixLen))
	binary.BigEndian.PutUint16(out[offAttributes:], uint16(attributes))
	out.seal()
	return out, nil
}
