package catalog

import (
	"fmt"
	"iter"
	"strings"
)

// Ledger is what a second topic holds beside the catalog's: keys with values, in the order of the keys. What they mean is
// the business of those who write them. The zero value is empty. It never changes; Apply and With return the next one.
type Ledger struct {
	entries    ordered[string, []byte]
	offset     int64
	generation int64
	commit     int64
	bytes      int64
}

// Get is the value of a key. Callers don't change it.
func (l *Ledger) Get(key string) ([]byte, bool) { return l.entries.get(key) }

// Find walks over the keys that begin with prefix, in order.
func (l *Ledger) Find(prefix string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for key, value := range l.entries.from(prefix) {
			if !strings.HasPrefix(key, prefix) || !yield(key, value) {
				return
			}
		}
	}
}

// Offset is the offset behind the last record that was applied.
func (l *Ledger) Offset() int64 { return l.offset }

// Generation is the highest generation of a writer that was seen.
func (l *Ledger) Generation() int64 { return l.generation }

// Commit is the number of the last commit of that generation.
func (l *Ledger) Commit() int64 { return l.commit }

// Size is the number of keys.
func (l *Ledger) Size() int { return l.entries.size() }

// Bytes is what keys and values take.
func (l *Ledger) Bytes() int64 { return l.bytes }

// Apply returns the ledger with a record. One that comes from a writer that was superseded, or from none, changes nothing
// but the offset; the error, which wraps ErrRecord, says so.
func (l *Ledger) Apply(r Record) (*Ledger, error) {
	next := *l
	next.offset = r.Offset + 1
	if r.Generation < max(l.generation, 1) {
		return &next, fmt.Errorf("%w: offset %d is of writer generation %d, the last one is %d", ErrRecord, r.Offset, r.Generation, l.generation)
	}
	if r.Generation > l.generation {
		next.generation, next.commit = r.Generation, r.Commit
	}
	next.commit = max(next.commit, r.Commit)
	next.change(Change{r.Key, r.Value})
	return &next, nil
}

// With returns the ledger as it will be when the changes are written.
func (l *Ledger) With(changes []Change) *Ledger {
	next := *l
	for _, ch := range changes {
		next.change(ch)
	}
	return &next
}

func (l *Ledger) change(ch Change) {
	key := string(ch.Key)
	if old, ok := l.entries.get(key); ok {
		l.bytes -= int64(len(key) + len(old))
	}
	if ch.Value == nil {
		l.entries = l.entries.without(key)
		return
	}
	l.bytes += int64(len(key) + len(ch.Value))
	l.entries = l.entries.with(key, ch.Value)
}

// At is the ledger with its offset moved on, behind records that are not for readers.
func (l *Ledger) At(offset int64) *Ledger {
	if offset <= l.offset {
		return l
	}
	next := *l
	next.offset = offset
	return &next
}
