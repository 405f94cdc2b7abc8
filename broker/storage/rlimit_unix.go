//go:build unix

package storage

import "syscall"

// defaultMaxOpenFiles is half of the process's limit of descriptors: connections need the rest.
func defaultMaxOpenFiles() int {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil || lim.Cur > 1<<20 {
		return fallbackMaxOpenFiles
	}
	return max(int(lim.Cur/2), minOpenFiles) //nolint:gosec // bounded above
}
