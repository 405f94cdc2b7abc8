package kafka

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// memory is what this process may use: the least of Go's memory limit, the limit of the control group and the machine's
// memory. 0 is unknown.
func memory() int64 {
	var least int64
	consider := func(n int64) {
		if n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		consider(int64(info.Totalram) * int64(info.Unit))
	}
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := os.ReadFile(file); err == nil {
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
				consider(n)
			}
		}
	}
	consider(debug.SetMemoryLimit(-1))
	return least
}

// openFiles is the limit of open files of this process; 0 is unknown.
func openFiles() int64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int64(min(limit.Cur, 1<<31))
}
