package embedded

import (
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"moldau/broker/metadata"
)

// group runs several transactions of the contract, each with a revision of its own, inside one transaction of Badger, so
// that writers who come together share one sync. A later transaction of a group sees what the earlier ones did.
type group struct {
	txn     *badger.Txn
	rev     metadata.Rev // of the last change in the group
	changes []change
	moves   []move // keys that came to or left a session
}

// move says that a key changed its session.
type move struct {
	key      string
	from, to metadata.SessionID
}

// apply runs one transaction. An error means that it changed nothing in the group, except a spoiledError, after which
// the group must be thrown away.
func (g *group) apply(t metadata.Txn) (metadata.TxnResult, error) {
	for _, c := range t.Cmps {
		kv, err := get(g.txn, c.Key)
		if err != nil {
			return metadata.TxnResult{}, err
		}
		if !holds(c, kv) {
			return metadata.TxnResult{Rev: g.rev}, nil
		}
	}
	events, moves, err := g.plan(t.Ops)
	if err != nil {
		return metadata.TxnResult{}, err
	}
	if len(events) == 0 {
		return metadata.TxnResult{Succeeded: true, Rev: g.rev}, nil
	}
	if err := g.write(events, moves); err != nil {
		return metadata.TxnResult{}, err
	}
	g.rev++
	g.changes = append(g.changes, change{rev: g.rev, events: events})
	g.moves = append(g.moves, moves...)
	return metadata.TxnResult{Succeeded: true, Rev: g.rev}, nil
}

func holds(c metadata.Cmp, kv metadata.KV) bool {
	switch c.Field {
	case metadata.CmpCreate:
		return kv.CreateRev == c.Rev
	case metadata.CmpMod:
		return kv.ModRev == c.Rev
	default:
		return kv.ModRev != 0
	}
}

// plan turns operations into events without writing anything.
func (g *group) plan(ops []metadata.Op) ([]metadata.Event, []move, error) {
	events := make([]metadata.Event, 0, len(ops))
	var moves []move
	rev := g.rev + 1
	for _, op := range ops {
		if op.Kind == metadata.OpDeletePrefix {
			deleted, left, err := g.planPrefix(op.Key, rev)
			if err != nil {
				return nil, nil, err
			}
			events, moves = append(events, deleted...), append(moves, left...)
			continue
		}
		old, err := get(g.txn, op.Key)
		if err != nil {
			return nil, nil, err
		}
		if op.Kind == metadata.OpDelete && old.ModRev == 0 {
			continue
		}
		e := metadata.Event{Kind: metadata.EventDelete, KV: metadata.KV{Key: op.Key, ModRev: rev}}
		if op.Kind == metadata.OpPut {
			e = metadata.Event{Kind: metadata.EventPut, KV: metadata.KV{Key: op.Key, Value: op.Value, CreateRev: old.CreateRev, ModRev: rev, Session: op.Session}}
			if old.ModRev == 0 {
				e.KV.CreateRev = rev
			}
		}
		events = append(events, e)
		if old.Session != e.KV.Session {
			moves = append(moves, move{op.Key, old.Session, e.KV.Session})
		}
	}
	return events, moves, nil
}

// planPrefix lists the deletions of all keys with a prefix.
func (g *group) planPrefix(prefix string, rev metadata.Rev) (events []metadata.Event, moves []move, err error) {
	size := 0
	err = scan(g.txn, dataSpace, prefix, true, func(key string, value []byte) error {
		old, err := parseEntry(key, value)
		if err != nil {
			return err
		}
		size += len(key)
		if len(events) == metadata.MaxPrefixKeys || size > metadata.MaxTxnBytes/2 {
			return fmt.Errorf("%w: prefix %q has more than %d keys or too long ones", metadata.ErrTooLarge, prefix, metadata.MaxPrefixKeys)
		}
		events = append(events, metadata.Event{Kind: metadata.EventDelete, KV: metadata.KV{Key: key, ModRev: rev}})
		if old.Session != 0 {
			moves = append(moves, move{key: key, from: old.Session})
		}
		return nil
	})
	return events, moves, err
}

// write puts events and session markers into Badger's transaction.
func (g *group) write(events []metadata.Event, moves []move) error {
	for _, e := range events {
		var err error
		if e.Kind == metadata.EventPut {
			err = g.txn.Set(spaceKey(dataSpace, e.KV.Key), appendEntry(make([]byte, 0, 24+len(e.KV.Value)), e.KV))
		} else {
			err = g.txn.Delete(spaceKey(dataSpace, e.KV.Key))
		}
		if err != nil {
			return &spoiledError{err}
		}
	}
	for _, m := range moves {
		var err error
		if m.to != 0 {
			err = g.txn.Set(spaceKey(sessionSpace, m.key), nil)
		} else {
			err = g.txn.Delete(spaceKey(sessionSpace, m.key))
		}
		if err != nil {
			return &spoiledError{err}
		}
	}
	return nil
}

// commit makes the group durable.
func (g *group) commit() error {
	if err := writeRev(g.txn, g.rev); err != nil {
		return &spoiledError{err}
	}
	return g.txn.Commit()
}

// entryOverhead is more than what Badger adds to an entry, in its log and in its memtable.
const entryOverhead = 256

// bytes is more than what the group takes of a log and of a memtable.
func (g *group) bytes() int64 {
	n := int64(entryOverhead) // the revision
	for _, c := range g.changes {
		for _, e := range c.events {
			n += int64(entryOverhead + 2*len(e.KV.Key) + len(e.KV.Value))
		}
	}
	for _, m := range g.moves {
		n += int64(entryOverhead + 2*len(m.key))
	}
	return n
}

// spoiledError says that a group holds a part of a transaction and must be thrown away, unwritten.
type spoiledError struct{ err error }

func (e *spoiledError) Error() string { return "write to transaction: " + e.err.Error() }

func (e *spoiledError) Unwrap() error {
	if errors.Is(e.err, badger.ErrTxnTooBig) {
		return metadata.ErrTooLarge
	}
	return e.err
}
