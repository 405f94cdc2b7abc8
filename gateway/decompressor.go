package gateway

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/broker/record"
)

// maxDecompressed is the size that one fetched batch may have when it is expanded.
const maxDecompressed = 64 << 20

// decompressor expands fetched batches within limits: what another client wrote may be made to fill memory.
type decompressor struct{ d *record.Decompressor }

func newDecompressor() decompressor {
	return decompressor{record.NewDecompressor(record.Limits{MaxBytes: maxDecompressed})}
}

// Decompress implements kgo.Decompressor. Its codec numbers are those of the record batch, as ours are.
func (d decompressor) Decompress(src []byte, codec kgo.CompressionCodecType) ([]byte, error) {
	if codec == kgo.CodecNone {
		return src, nil
	}
	return d.d.Decompress(nil, src, record.Codec(codec))
}
