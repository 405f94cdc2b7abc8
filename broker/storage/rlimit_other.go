//go:build !unix

package storage

func defaultMaxOpenFiles() int { return fallbackMaxOpenFiles }
