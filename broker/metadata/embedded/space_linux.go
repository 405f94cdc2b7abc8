//go:build linux

package embedded

import (
	"errors"
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// ownsDirLock says that lockDir locks.
const ownsDirLock = true

// lockDir locks a directory against a second process in the way Badger itself does. Badger's lock comes too late: files
// of the last run must be put in order before Badger looks at them.
func lockDir(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = errors.New("another process is using it")
		}
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), f.Close())
	}
	return f, nil
}

// freeBytes is the space that an unprivileged process may use on the file system of dir.
func freeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	if st.Bsize > 0 && st.Bavail > math.MaxInt64/uint64(st.Bsize) {
		return math.MaxInt64, nil
	}
	return int64(st.Bavail) * st.Bsize, nil
}

// allocate reserves the first n bytes of a file without changing its size. File systems that cannot are left alone.
func allocate(f *os.File, n int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, n)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return nil
		case err != nil:
			return fmt.Errorf("allocate %d bytes of %s: %w", n, f.Name(), err)
		}
		return nil
	}
}
