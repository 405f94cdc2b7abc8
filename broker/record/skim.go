package record

// skim is next for a record that lies whole at the front of b, several times as fast: every produced record passes here. n is the
// record's length with its length field, or 0 where b does not begin with a whole and valid record; nextSlow then finds out why.
//
// Positions past the end of b stand for a failure: nothing can be read there, so that a failure lasts and is tested for once.
func skim(b []byte) (o outline, n int) {
	length, i := varintAt(b, 0)
	size := int(length)
	if size < minRecordLen-1 || size > len(b)-i {
		return o, 0
	}
	b = b[:i+size]
	timestamp, i := varlongAt(b, i+1) // past the attributes: Kafka defines none
	offset, i := varintAt(b, i)
	o.timestampDelta, o.offsetDelta = timestamp, offset
	o.hasKey, i = skimBytes(b, i)
	_, i = skimBytes(b, i)
	if i == len(b)-1 && b[i] == 0 { // no headers
		return o, len(b)
	}
	if i = skimHeaders(b, i); i != len(b) {
		return o, 0
	}
	return o, i
}

// skimBytes passes over the nullable byte field at b[i:].
func skimBytes(b []byte, i int) (present bool, next int) {
	length, i := varintAt(b, i)
	size := int(length)
	if size < 0 {
		if size == -1 {
			return false, i
		}
		return false, len(b) + 1
	}
	if size > len(b)-i {
		return false, len(b) + 1
	}
	return true, i + size
}

func skimHeaders(b []byte, i int) int {
	count, i := varintAt(b, i)
	if count < 0 || int(count) > (len(b)-i)/2 {
		return len(b) + 1
	}
	for range count {
		var hasKey bool
		if hasKey, i = skimBytes(b, i); !hasKey {
			return len(b) + 1
		}
		_, i = skimBytes(b, i)
	}
	return i
}

// varintAt reads the integer at b[i:] and answers where the next field begins.
func varintAt(b []byte, i int) (x int32, next int) {
	if i+1 < len(b) {
		c := b[i]
		if c < 0x80 {
			return unzigzag32(uint32(c)), i + 1
		}
		if d := b[i+1]; d < 0x80 {
			return unzigzag32(uint32(c&0x7f) | uint32(d)<<7), i + 2
		}
	}
	v, next := uvarintAt(b, i, maxVarintLen)
	return unzigzag32(uint32(v)), next
}

func varlongAt(b []byte, i int) (x int64, next int) {
	if i+1 < len(b) {
		c := b[i]
		if c < 0x80 {
			return unzigzag64(uint64(c)), i + 1
		}
		if d := b[i+1]; d < 0x80 {
			return unzigzag64(uint64(c&0x7f) | uint64(d)<<7), i + 2
		}
	}
	v, next := uvarintAt(b, i, maxVarlongLen)
	return unzigzag64(v), next
}

func uvarintAt(b []byte, i, max int) (v uint64, next int) {
	if i >= len(b) {
		return 0, len(b) + 1
	}
	v, n := uvarint(b[i:], max)
	if n <= 0 {
		return 0, len(b) + 1
	}
	return v, i + n
}
