package bench

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// CPU answers the processor time that a process has used, user and system,
// all threads together, those that have ended included.
func CPU(pid int) (time.Duration, error) {
	// The number of a process' processor time clock is its id, inverted, above
	// three bits that choose this clock: see clock_getcpuclockid(3).
	const processClock = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|processClock), &t); err != nil {
		return 0, fmt.Errorf("bench: processor time of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}
