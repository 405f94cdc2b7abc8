package protobuf

import (
	"time"

	"moldau/registry/format"
)

// patient are the default limits with time for a loaded machine: for tests that are not about time.
func patient() format.Limits {
	l := format.DefaultLimits()
	l.Time, l.CheckTime = time.Minute, time.Minute
	return l
}
