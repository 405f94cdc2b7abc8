package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// dataDir is the data directory, held by this process.
type dataDir struct{ lock *os.File }

// openDataDir makes the directory and locks it. The lock goes with the process,
// however that ends.
func openDataDir(path string) (*dataDir, error) {
	if err := os.MkdirAll(path, 0o750); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	name := filepath.Join(path, "moldau.lock")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := tryLock(f); err != nil {
		holder := make([]byte, 16)
		n, _ := f.ReadAt(holder, 0) // only to name the holder
		_ = f.Close()
		return nil, fmt.Errorf("data directory %s is in use by another process (%s); stop it, or choose another with --data-dir: %w",
			path, strings.TrimSpace("pid "+string(holder[:n])), err)
	}
	if err := writePID(f); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("data directory: %w", err)
	}
	return &dataDir{f}, nil
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// Close lets the directory go.
func (d *dataDir) Close() error { return d.lock.Close() }
