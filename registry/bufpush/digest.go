package bufpush

import (
	"bytes"
	"crypto/sha3"
	"encoding/hex"
	"slices"
	"strings"
)

// digestBytes is the length of a digest.
const digestBytes = 64

// digest is the digest of a commit in the form that is named b5: a hash of the paths and contents of its files, and of the
// digests of all commits that it needs, directly or not.
func digest(files []source, deps [][]byte) []byte {
	sorted := slices.SortedFunc(slices.Values(files), func(a, b source) int { return strings.Compare(a.path, b.path) })
	var manifest bytes.Buffer
	for _, f := range sorted {
		manifest.WriteString(shake(f.content) + "  " + f.path + "\n")
	}
	lines := make([]string, 0, len(deps))
	for _, d := range deps {
		lines = append(lines, "b5:"+hex.EncodeToString(d))
	}
	slices.Sort(lines)
	lines = append([]string{shake(manifest.Bytes())}, lines...)
	return sha3.SumSHAKE256([]byte(strings.Join(lines, "\n")), digestBytes)
}

func shake(b []byte) string {
	return "shake256:" + hex.EncodeToString(sha3.SumSHAKE256(b, digestBytes))
}
