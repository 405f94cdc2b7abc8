package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"moldau/broker/metadata"
)

// Badger's keys are one of these bytes and a name.
const (
	metaSpace    = 'm' // format, rev
	dataSpace    = 'k' // a key of the contract
	sessionSpace = 's' // a key of the contract that is tied to a session; no value
)

// formatVersion is what this code writes, entryVersion the first byte of every value in dataSpace.
const (
	formatVersion = 1
	entryVersion  = 1
)

var (
	formatKey = []byte{metaSpace, 'f', 'o', 'r', 'm', 'a', 't'}
	revKey    = []byte{metaSpace, 'r', 'e', 'v'}
)

func spaceKey(space byte, key string) []byte {
	b := make([]byte, 1+len(key))
	b[0] = space
	copy(b[1:], key)
	return b
}

// appendEntry writes the stored form of a key: version, create revision, mod revision, session, value.
func appendEntry(b []byte, kv metadata.KV) []byte {
	b = append(b, entryVersion)
	b = binary.AppendUvarint(b, uint64(kv.CreateRev))
	b = binary.AppendUvarint(b, uint64(kv.ModRev))
	b = binary.AppendUvarint(b, uint64(kv.Session))
	return append(b, kv.Value...)
}

// parseEntry reads what appendEntry wrote. The value is a part of b.
func parseEntry(key string, b []byte) (metadata.KV, error) {
	if len(b) == 0 || b[0] != entryVersion {
		return metadata.KV{}, fmt.Errorf("%w: key %q: unknown entry version", metadata.ErrCorrupt, key)
	}
	b = b[1:]
	var head [3]uint64
	for i := range head {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return metadata.KV{}, fmt.Errorf("%w: key %q: entry cut short", metadata.ErrCorrupt, key)
		}
		head[i], b = v, b[n:]
	}
	return metadata.KV{
		Key: key, Value: b,
		CreateRev: metadata.Rev(head[0]), ModRev: metadata.Rev(head[1]), Session: metadata.SessionID(head[2]),
	}, nil
}

// get reads a key in a transaction; a key that is absent has revisions of 0.
func get(txn *badger.Txn, key string) (metadata.KV, error) {
	item, err := txn.Get(spaceKey(dataSpace, key))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return metadata.KV{}, nil
	}
	if err != nil {
		return metadata.KV{}, fmt.Errorf("read key %q: %w", key, err)
	}
	b, err := item.ValueCopy(nil)
	if err != nil {
		return metadata.KV{}, fmt.Errorf("read key %q: %w", key, err)
	}
	return parseEntry(key, b)
}

// scan calls fn with every key that begins with prefix, in order, until fn returns an error.
func scan(txn *badger.Txn, space byte, prefix string, values bool, fn func(key string, value []byte) error) error {
	opts := badger.DefaultIteratorOptions
	opts.PrefetchValues = false // values are inside the tables: there is nothing to fetch ahead
	opts.Prefix = spaceKey(space, prefix)
	it := txn.NewIterator(opts)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		item := it.Item()
		key := string(item.Key()[1:])
		var value []byte
		if values {
			var err error
			if value, err = item.ValueCopy(nil); err != nil {
				return fmt.Errorf("read key %q: %w", key, err)
			}
		}
		if err := fn(key, value); err != nil {
			return err
		}
	}
	return nil
}

// readRev reads the revision of the store as a transaction sees it.
func readRev(txn *badger.Txn) (metadata.Rev, error) {
	item, err := txn.Get(revKey)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read revision: %w", err)
	}
	var rev metadata.Rev
	err = item.Value(func(b []byte) error {
		if len(b) != 8 {
			return fmt.Errorf("%w: revision of %d bytes", metadata.ErrCorrupt, len(b))
		}
		rev = metadata.Rev(binary.BigEndian.Uint64(b))
		return nil
	})
	return rev, err
}

func writeRev(txn *badger.Txn, rev metadata.Rev) error {
	return txn.Set(revKey, binary.BigEndian.AppendUint64(nil, uint64(rev)))
}
