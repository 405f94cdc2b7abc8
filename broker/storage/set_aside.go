package storage

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
)

// straySuffix ends the names of directories whose log belongs to no partition of the broker. Kafka uses the same.
const straySuffix = "-stray"

// SetAside takes a log out of the engine and keeps its files: the directory gets a name that no partition has, which is
// returned, and is never looked at again. It is for logs that the metadata knows nothing of.
func (e *Engine) SetAside(l *Log) (dir string, err error) {
	e.mu.Lock()
	if e.logs[l.tp] != l {
		e.mu.Unlock()
		return "", fmt.Errorf("set aside %s: %w", l.tp, ErrClosed)
	}
	delete(e.logs, l.tp)
	e.claims[l.tp] = true // until its directory has another name
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		delete(e.claims, l.tp)
		e.mu.Unlock()
	}()
	l.release()
	to := filepath.Join(l.dir.path, strayDirName(l.tp))
	if err := e.env.o.FS.Rename(l.path, to); err != nil {
		return "", l.ioError("set aside", err)
	}
	l.dir.remove(l)
	if err := e.env.o.FS.SyncDir(l.dir.path); err != nil {
		return "", l.syncError("set aside", err)
	}
	return to, nil
}

// strayDirName returns a fresh name for the directory of a stray log, of the same form as deletedDirName's.
func strayDirName(tp TopicPartition) string {
	var unique [16]byte
	_, _ = rand.Read(unique[:]) // never fails, by its contract
	tail := "-" + strconv.FormatInt(int64(tp.Partition), 10) + "." + hex.EncodeToString(unique[:]) + straySuffix
	topic := tp.Topic
	if room := maxDirName - len(tail); len(topic) > room {
		topic = topic[:room]
	}
	return topic + tail
}
