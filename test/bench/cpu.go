package bench

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// clockTick is the unit of the times in /proc/PID/stat: USER_HZ, which Linux
// fixes at 100 for user space on every architecture that Go supports.
const clockTick = 10 * time.Millisecond

// CPU answers the processor time that a process has used, user and system,
// all threads together.
func CPU(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The second field is the program's name in brackets and may hold spaces.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	const utime, stime = 11, 12 // counted from the field after the name
	if len(fields) <= stime {
		return 0, fmt.Errorf("bench: /proc/%d/stat has %d fields", pid, len(fields))
	}
	user, err := strconv.ParseInt(string(fields[utime]), 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(string(fields[stime]), 10, 64)
	if err != nil {
		return 0, err
	}
	return time.Duration(user+system) * clockTick, nil
}
