package kafka

import (
	"context"
	"time"
)

const (
	// adminTimeoutMin is what a change gets where the client grants it no time at all: it is done anyway, and its outcome
	// is better known.
	adminTimeoutMin = time.Second
	// adminTimeoutMax bounds how long a change holds its slot.
	adminTimeoutMax = 5 * time.Minute
)

// within bounds a change by the time that the client grants it.
func within(ctx context.Context, millis int32) (context.Context, context.CancelFunc) {
	d := time.Duration(millis) * time.Millisecond
	if d <= 0 {
		d = adminTimeoutMin
	}
	return context.WithTimeout(ctx, min(d, adminTimeoutMax))
}
