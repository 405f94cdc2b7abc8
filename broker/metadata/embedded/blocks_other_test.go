//go:build !linux

package embedded

import "testing"

func allocated(*testing.T, string) int64 { return 0 }
