package coordinator

import "unicode/utf16"

// PartitionFor returns which of n partitions coordinates an id, as Apache Kafka has it: Java's hash of the string, which
// counts UTF-16 code units, without its sign.
func PartitionFor(id string, n int32) int32 {
	var h int32
	for _, r := range id {
		if r1, r2 := utf16.EncodeRune(r); r1 != '\uFFFD' {
			h = 31*(31*h+r1) + r2
			continue
		}
		h = 31*h + r
	}
	return (h & 0x7fffffff) % n
}
