package record

// Kafka's record fields are zigzag varints: lengths, counts and offset deltas at most 5 bytes long, timestamp deltas at most 10.
const (
	maxVarintLen  = 5
	maxVarlongLen = 10
)

// uvarint reads an unsigned varint of at most max bytes (5 or 10). n is its length; 0 where b ends inside it, negative where it is too
// long or does not fit.
func uvarint(b []byte, max int) (v uint64, n int) {
	for i := 0; i < len(b) && i < max; i++ {
		c := b[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c >= 0x80 {
			continue
		}
		if (max == maxVarintLen && v > 1<<32-1) || (i == maxVarlongLen-1 && c > 1) {
			return 0, -1
		}
		return v, i + 1
	}
	if len(b) >= max {
		return 0, -1
	}
	return 0, 0
}

func unzigzag32(v uint32) int32 { return int32(v>>1) ^ -int32(v&1) }

func unzigzag64(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

func appendVarlong(dst []byte, x int64) []byte {
	v := uint64(x)<<1 ^ uint64(x>>63)
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// appendVarint differs from appendVarlong for no value that fits.
func appendVarint(dst []byte, x int32) []byte { return appendVarlong(dst, int64(x)) }

func varlongLen(x int64) int {
	n := 1
	for v := uint64(x)<<1 ^ uint64(x>>63); v >= 0x80; v >>= 7 {
		n++
	}
	return n
}
