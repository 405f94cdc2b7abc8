//go:build unix

package node

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the exclusive lock of a file or fails at once.
func tryLock(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}
