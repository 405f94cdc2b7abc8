package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// control runs a system call on the descriptor of f, again after each interruption. It keeps f open meanwhile and, other than
// f.Fd, leaves its blocking mode alone.
func control(f *os.File, call func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var callErr error
	err = raw.Control(func(fd uintptr) {
		for {
			if callErr = call(int(fd)); !errors.Is(callErr, unix.EINTR) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return callErr
}

func fdatasync(f *os.File) error {
	return control(f, unix.Fdatasync)
}

func syncfs(d *os.File) error {
	return control(d, unix.Syncfs)
}

// fallocate keeps the size: what lies past the end of the log is nobody's data, and readers and recovery never see it.
func fallocate(f *os.File, off, n int64) error {
	err := control(f, func(fd int) error { return unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, off, n) })
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return nil
	}
	return err
}

func flock(f *os.File) error {
	err := control(f, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

func statfs(name string) (Usage, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(name, &s); err != nil {
		return Usage{}, err
	}
	block := s.Frsize
	if block <= 0 {
		block = s.Bsize
	}
	return Usage{Total: int64(s.Blocks) * block, Usable: int64(s.Bavail) * block}, nil
}
