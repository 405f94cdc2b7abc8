package storage

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"moldau/internal/vfs"
)

// Names of the small files of a log directory. All but formatFile are Kafka's.
const (
	lockFile          = ".lock"
	metaFile          = "meta.properties"
	cleanShutdownFile = ".kafka_cleanshutdown"
	formatFile        = "moldau.format"
)

// formatVersion is the version of the on-disk form that this program writes. It counts up when an older program could no longer
// read what a newer one wrote.
const formatVersion = 1

// checkFormat refuses a directory that a newer program wrote, and marks one that has no mark: fresh, or written by another program
// (foreign).
func checkFormat(fsys vfs.FS, dir string) (foreign bool, err error) {
	name := filepath.Join(dir, formatFile)
	data, err := vfs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, vfs.WriteFileAtomic(fsys, name, fmt.Appendf(nil, "version=%d\n", formatVersion))
	}
	if err != nil {
		return false, err
	}
	text, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "version=")
	v, err := strconv.Atoi(text)
	if !ok || err != nil || v < 1 {
		return false, fmt.Errorf("%s: %w: want version=N, have %q", name, ErrCorrupt, clip(data))
	}
	if v > formatVersion {
		return false, fmt.Errorf("%w: %s says version %d, this program knows versions up to %d; start it with the newer program that wrote it",
			ErrNewerFormat, name, v, formatVersion)
	}
	return false, nil
}

// properties are the lines of meta.properties.
type properties struct {
	clusterID   string
	nodeID      int32
	hasNode     bool
	directoryID TopicID
	hasDirID    bool
}

// encodeProperties writes version 1 of meta.properties, as Kafka does since KIP-858.
func encodeProperties(p properties) []byte {
	var b bytes.Buffer
	b.WriteString("#\n")
	fmt.Fprintf(&b, "node.id=%d\n", p.nodeID)
	fmt.Fprintf(&b, "directory.id=%s\n", p.directoryID)
	b.WriteString("version=1\n")
	if p.clusterID != "" {
		fmt.Fprintf(&b, "cluster.id=%s\n", p.clusterID)
	}
	return b.Bytes()
}

// decodeProperties reads meta.properties; unknown keys are ignored.
func decodeProperties(data []byte) (properties, error) {
	var p properties
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		key, val, ok := strings.Cut(line, "=")
		if !ok {
			return p, fmt.Errorf("%w: line %q has no value", ErrCorrupt, clip([]byte(line)))
		}
		key, val = strings.TrimSpace(key), strings.TrimSpace(val)
		switch key {
		case "cluster.id":
			p.clusterID = val
		case "node.id", "broker.id":
			n, err := strconv.ParseInt(val, 10, 32)
			if err != nil {
				return p, fmt.Errorf("%w: %s is %q", ErrCorrupt, key, clip([]byte(val)))
			}
			p.nodeID, p.hasNode = int32(n), true
		case "directory.id":
			id, err := ParseTopicID(val)
			if err != nil {
				return p, fmt.Errorf("%w: directory.id: %w", ErrCorrupt, err)
			}
			p.directoryID, p.hasDirID = id, true
		}
	}
	return p, nil
}

// checkProperties compares meta.properties with who we are, and writes it into a fresh directory.
func checkProperties(fsys vfs.FS, dir, clusterID string, nodeID int32) (TopicID, error) {
	name := filepath.Join(dir, metaFile)
	data, err := vfs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		p := properties{clusterID: clusterID, nodeID: nodeID}
		_, _ = rand.Read(p.directoryID[:]) // never fails, by its contract
		return p.directoryID, vfs.WriteFileAtomic(fsys, name, encodeProperties(p))
	}
	if err != nil {
		return TopicID{}, err
	}
	p, err := decodeProperties(data)
	if err != nil {
		return TopicID{}, fmt.Errorf("%s: %w", name, err)
	}
	if p.hasNode && p.nodeID != nodeID {
		return TopicID{}, fmt.Errorf("%w: %s says node.id=%d, this broker is %d", ErrForeignDir, name, p.nodeID, nodeID)
	}
	if p.clusterID != "" && clusterID != "" && p.clusterID != clusterID {
		return TopicID{}, fmt.Errorf("%w: %s says cluster.id=%s, this cluster is %s", ErrForeignDir, name, p.clusterID, clusterID)
	}
	return p.directoryID, nil
}

// encodePartitionMetadata writes partition.metadata. Like Kafka's it has no newline at the end.
func encodePartitionMetadata(id TopicID) []byte {
	return fmt.Appendf(nil, "version: 0\ntopic_id: %s", id)
}

// decodePartitionMetadata reads partition.metadata.
func decodePartitionMetadata(data []byte) (TopicID, error) {
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != 2 || strings.TrimSpace(lines[0]) != "version: 0" {
		return TopicID{}, fmt.Errorf("%w: partition metadata %q", ErrCorrupt, clip(data))
	}
	text, ok := strings.CutPrefix(strings.TrimSpace(lines[1]), "topic_id: ")
	if !ok {
		return TopicID{}, fmt.Errorf("%w: partition metadata %q", ErrCorrupt, clip(data))
	}
	id, err := ParseTopicID(text)
	if err != nil {
		return TopicID{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return id, nil
}

// cleanShutdown is the content of the clean shutdown file.
type cleanShutdown struct {
	Version     int   `json:"version"`
	BrokerEpoch int64 `json:"brokerEpoch"`
}

// takeCleanShutdown tells whether the directory was closed cleanly, and removes the mark, so that it is only believed once.
func takeCleanShutdown(fsys vfs.FS, dir string) (bool, error) {
	name := filepath.Join(dir, cleanShutdownFile)
	if _, err := fsys.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if err := fsys.Remove(name); err != nil {
		return false, err
	}
	return true, fsys.SyncDir(dir)
}

// writeCleanShutdown marks the directory as closed cleanly.
func writeCleanShutdown(fsys vfs.FS, dir string) error {
	data, err := json.Marshal(cleanShutdown{Version: 0, BrokerEpoch: -1})
	if err != nil {
		return err
	}
	return vfs.WriteFileAtomic(fsys, filepath.Join(dir, cleanShutdownFile), data)
}

// clip shortens bytes for an error message.
func clip(b []byte) []byte {
	if len(b) > 80 {
		return b[:80]
	}
	return b
}
