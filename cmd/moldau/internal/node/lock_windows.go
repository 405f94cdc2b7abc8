package node

import (
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes the exclusive lock of a file or fails at once. It covers a byte
// far behind the text, so that others may read the holder's id.
func tryLock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{Offset: 1 << 30})
}
