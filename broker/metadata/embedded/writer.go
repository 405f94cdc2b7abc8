package embedded

import (
	"errors"
	"fmt"
	"syscall"

	"moldau/broker/metadata"
)

// request is one transaction on its way to the writer.
type request struct {
	txn metadata.Txn
	// end, when not 0, is a session to end; txn is empty then.
	end   metadata.SessionID
	reply chan reply // capacity 1
}

type reply struct {
	result metadata.TxnResult
	err    error
}

// Bounds of a group: together with the largest single transaction it stays below Badger's limit of 15 % of a memtable.
const (
	groupRequests = 64
	groupBytes    = 128 << 10
	opOverhead    = 64 // what an operation counts beside its key and value; so a group has at most 2,048 operations
)

// alone reports whether a request gets a group to itself: those whose size is not known before they run.
func (r *request) alone() bool {
	if r.end != 0 {
		return true
	}
	for _, op := range r.txn.Ops {
		if op.Kind == metadata.OpDeletePrefix {
			return true
		}
	}
	return false
}

func (r *request) bytes() int {
	n := opOverhead * len(r.txn.Ops)
	for _, op := range r.txn.Ops {
		n += len(op.Key) + len(op.Value)
	}
	return n
}

// write is the writer's goroutine: the only one that changes anything. It ends when stop is closed.
func (s *Store) write() {
	s.compact(compactTablesAtStart)
	var first *request // of the next group, when it is taken from the channel already
	for {
		if first == nil {
			select {
			case first = <-s.requests:
			case <-s.stop:
				return
			}
		}
		var batch []*request
		batch, first = s.gather(first)
		s.serve(batch)
	}
}

// gather collects the requests that wait already. One that it takes but that does not fit begins the next group.
func (s *Store) gather(first *request) (batch []*request, next *request) {
	batch = []*request{first}
	if first.alone() {
		return batch, nil
	}
	size := first.bytes()
	for len(batch) < groupRequests && size < groupBytes {
		select {
		case r := <-s.requests:
			if r.alone() || size+r.bytes() > groupBytes {
				return batch, r
			}
			size += r.bytes()
			batch = append(batch, r)
		default:
			return batch, nil
		}
	}
	return batch, nil
}

func (s *Store) serve(batch []*request) {
	if batch[0].end != 0 {
		err := s.endSession(batch[0].end)
		batch[0].reply <- reply{err: err}
		return
	}
	replies := s.runGroup(batch)
	for i, r := range batch {
		r.reply <- replies[i]
	}
}

// runGroup runs transactions in one group and makes it durable.
func (s *Store) runGroup(batch []*request) []reply {
	replies := make([]reply, len(batch))
	fail := func(err error) []reply {
		for i := range replies {
			replies[i] = reply{err: err}
		}
		return replies
	}
	free, err := s.options.FreeBytes(s.dir)
	if err != nil {
		return fail(err)
	}
	g, err := s.begin()
	if err != nil {
		return fail(err)
	}
	defer g.txn.Discard()
	for i, r := range batch {
		if err := s.admit(r, free); err != nil {
			replies[i].err = err
			continue
		}
		replies[i].result, replies[i].err = g.apply(r.txn)
		var spoiled *spoiledError
		if errors.As(replies[i].err, &spoiled) {
			return fail(replies[i].err)
		}
	}
	if err := s.commit(g); err != nil {
		return fail(err)
	}
	return replies
}

// admit refuses a transaction when there is too little space, or its session has ended. Deletions go on where there is none at
// all, while they fit into the current log, which has its blocks.
func (s *Store) admit(r *request, free int64) error {
	floor, deletes := s.options.MinFreeBytes, r.txn.Deletes()
	if deletes {
		floor /= 2
	}
	if free < floor && (!deletes || s.logged > memTableBytes/2) {
		return fmt.Errorf("%w: %s has %d KiB free, metadata needs %d KiB; delete topics or make room", metadata.ErrNoSpace, s.dir, free>>10, floor>>10)
	}
	for _, op := range r.txn.Ops {
		if op.Session != 0 && !s.sessions.alive(op.Session) {
			return fmt.Errorf("put key %q: session %d: %w", op.Key, op.Session, metadata.ErrSessionLost)
		}
	}
	return nil
}

// begin starts a group, and before it the log that Badger may need for it.
func (s *Store) begin() (*group, error) {
	if s.failure != nil {
		return nil, s.failure
	}
	if err := s.advance(); err != nil {
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			return nil, fmt.Errorf("%w: prepare the next log: %w", metadata.ErrNoSpace, err)
		}
		return nil, fmt.Errorf("prepare the next log: %w", err)
	}
	return &group{txn: s.db.NewTransaction(true), rev: s.rev}, nil
}

// advance sees to the log after the current one. When Badger has moved on to another log it also waits for the table that
// the full log becomes, and merges tables.
func (s *Store) advance() error {
	rotated, err := s.wal.rotated()
	if !rotated || err != nil {
		return err
	}
	s.logged = 0
	s.wal.awaitFlush() // first: the table needs its space, and the full log gives back its own
	err = s.wal.advance()
	s.compact(compactTables)
	return err
}

// commit makes a group durable and then visible. After an error of the disk the store writes no more: what is on the disk
// is in doubt until Badger reads its log again.
func (s *Store) commit(g *group) error {
	if len(g.changes) == 0 {
		return nil
	}
	if err := s.commitGroup(g); err != nil {
		var spoiled *spoiledError
		if errors.As(err, &spoiled) {
			return err
		}
		s.failure = fmt.Errorf("%w: %w", metadata.ErrFailed, err)
		s.options.Logger.Error("metadata store failed, nothing is written until a restart", "dir", s.dir, "error", err)
		return fmt.Errorf("%w: %w", metadata.ErrUnknownOutcome, err)
	}
	s.rev = g.rev
	s.logged += g.bytes()
	s.sessions.move(g.moves)
	s.history.add(g.changes)
	if err := s.advance(); err != nil {
		s.options.Logger.Debug("next log of the metadata store is not ready", "dir", s.dir, "error", err) // begin tries again
	}
	return nil
}

// endSession deletes the keys of a session, in pieces of one revision each.
func (s *Store) endSession(id metadata.SessionID) error {
	s.sessions.end(id)
	for {
		keys := s.sessions.keys(id, metadata.MaxOps)
		if len(keys) == 0 {
			s.sessions.drop(id)
			return nil
		}
		if err := s.deleteKeys(keys); err != nil {
			return fmt.Errorf("end session %d: %w", id, err)
		}
	}
}

// deleteKeys deletes at most MaxOps keys, also when there is too little space for other writes.
func (s *Store) deleteKeys(keys []string) error {
	ops := make([]metadata.Op, len(keys))
	for i, key := range keys {
		ops[i] = metadata.Delete(key)
	}
	g, err := s.begin()
	if err != nil {
		return err
	}
	defer g.txn.Discard()
	if _, err := g.apply(metadata.Txn{Ops: ops}); err != nil {
		return err
	}
	return s.commit(g)
}
