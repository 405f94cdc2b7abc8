//go:build !linux

package embedded

import (
	"math"
	"os"
)

// ownsDirLock says that lockDir does not lock: Badger's own lock has to do.
const ownsDirLock = false

func lockDir(dir string) (*os.File, error) { return os.Open(dir) }

// freeBytes cannot be told here; the floor never applies.
func freeBytes(string) (int64, error) { return math.MaxInt64, nil }

// allocate does nothing here.
func allocate(*os.File, int64) error { return nil }
