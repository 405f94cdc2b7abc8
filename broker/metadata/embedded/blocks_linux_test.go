//go:build linux

package embedded

import (
	"testing"

	"golang.org/x/sys/unix"
)

// allocated is the number of bytes that a file has on the disk.
func allocated(t *testing.T, path string) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}
