//go:build !linux

package vfs

import (
	"errors"
	"os"
)

func fdatasync(f *os.File) error { return f.Sync() }

func syncfs(*os.File) error { return errors.ErrUnsupported }

func fallocate(*os.File, int64, int64) error { return nil }

func statfs(string) (Usage, error) { return Usage{}, errors.ErrUnsupported }
