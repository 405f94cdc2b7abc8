package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"moldau/broker/metadata"
)

// Store implements metadata.Store on Badger.
type Store struct {
	dir      string
	options  Options
	lock     *os.File
	db       *badger.DB
	requests chan *request
	sessions *sessions
	history  *history
	calls    gate

	stop       chan struct{}  // closed by Close once no call is in progress
	goroutines sync.WaitGroup // the writer and the watches; all end when stop is closed

	// Of the writer's goroutine, and of Open before it starts.
	rev         metadata.Rev
	wal         *wal
	logged      int64 // what the current log holds at most
	failure     error // set once the disk has failed
	commitGroup func(*group) error
}

var _ metadata.Store = (*Store)(nil)

// Open opens the store in dir and creates both when they do not exist. Keys of sessions of an earlier process are deleted
// before it returns. The errors are metadata.ErrNoSpace, metadata.ErrNewerFormat, metadata.ErrCorrupt, or what the disk
// says.
func Open(dir string, o Options) (*Store, error) {
	o = o.withDefaults()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open metadata store: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open metadata store: %w", err)
	}
	s, err := openLocked(dir, o, lock)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open metadata store %s: %w", dir, err), lock.Close())
	}
	return s, nil
}

// openFreeBytes is what opening may need: two logs, and a memtable of the last run that must be flushed.
const openFreeBytes = 2*walBytes + memTableBytes

func openLocked(dir string, o Options, lock *os.File) (*Store, error) {
	if ownsDirLock {
		if err := cleanWAL(dir); err != nil {
			return nil, err
		}
	}
	if o.MinFreeBytes > 0 {
		free, err := o.FreeBytes(dir)
		if err != nil {
			return nil, err
		}
		if free < openFreeBytes {
			return nil, fmt.Errorf("%w: %d KiB free, opening needs %d KiB; make room and start again", metadata.ErrNoSpace, free>>10, openFreeBytes>>10)
		}
	}
	db, err := badger.Open(badgerOptions(dir, o))
	if err != nil {
		return nil, err
	}
	s := &Store{
		dir: dir, options: o, lock: lock, db: db,
		requests: make(chan *request),
		sessions: newSessions(),
		stop:     make(chan struct{}),
	}
	s.commitGroup = (*group).commit
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.goroutines.Go(s.write)
	return s, nil
}

// prepare reads the state, writes the format of a new store, and deletes what sessions of the last process left behind.
func (s *Store) prepare() error {
	var err error
	if s.wal, err = openWAL(s.dir); err != nil {
		return err
	}
	var left []string
	err = s.db.View(func(txn *badger.Txn) error {
		if err := checkFormat(txn); err != nil {
			return err
		}
		if s.rev, err = readRev(txn); err != nil {
			return err
		}
		return scan(txn, sessionSpace, "", false, func(key string, _ []byte) error {
			left = append(left, key)
			return nil
		})
	})
	if err != nil {
		return err
	}
	if s.rev == 0 {
		err := s.db.Update(func(txn *badger.Txn) error { return txn.Set(formatKey, []byte{formatVersion}) })
		if err != nil {
			return fmt.Errorf("write format: %w", err)
		}
	}
	s.history = newHistory(s.rev, s.options.HistoryBytes)
	for len(left) > 0 {
		n := min(len(left), metadata.MaxOps)
		if err := s.deleteKeys(left[:n]); err != nil {
			return fmt.Errorf("delete keys of the last process: %w", err)
		}
		left = left[n:]
	}
	return nil
}

// checkFormat refuses a store that a newer version wrote.
func checkFormat(txn *badger.Txn) error {
	item, err := txn.Get(formatKey)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read format: %w", err)
	}
	return item.Value(func(b []byte) error {
		switch {
		case len(b) != 1:
			return fmt.Errorf("%w: format marker of %d bytes", metadata.ErrCorrupt, len(b))
		case b[0] > formatVersion:
			return fmt.Errorf("%w: format %d, known up to %d", metadata.ErrNewerFormat, b[0], formatVersion)
		}
		return nil
	})
}

// Close implements metadata.Store. It waits for calls in progress.
func (s *Store) Close() error {
	if !s.calls.close() {
		return nil
	}
	close(s.stop)
	s.goroutines.Wait()
	s.sessions.endAll()
	err := s.wal.close() // before the memtable becomes a table: on a full disk that needs the space
	return errors.Join(err, s.db.Close(), s.lock.Close())
}

// Get implements metadata.Store.
func (s *Store) Get(ctx context.Context, key string) (kv metadata.KV, rev metadata.Rev, err error) {
	err = s.view(ctx, func(txn *badger.Txn) error {
		if rev, err = readRev(txn); err != nil {
			return err
		}
		kv, err = get(txn, key)
		return err
	})
	if err == nil && kv.ModRev == 0 {
		err = fmt.Errorf("key %q: %w", key, metadata.ErrNotFound)
	}
	return kv, rev, err
}

// List implements metadata.Store.
func (s *Store) List(ctx context.Context, prefix string) (kvs []metadata.KV, rev metadata.Rev, err error) {
	err = s.view(ctx, func(txn *badger.Txn) error {
		if rev, err = readRev(txn); err != nil {
			return err
		}
		return scan(txn, dataSpace, prefix, true, func(key string, value []byte) error {
			kv, err := parseEntry(key, value)
			if err != nil {
				return err
			}
			kvs = append(kvs, kv)
			return ctx.Err()
		})
	})
	if err != nil {
		return nil, 0, err
	}
	return kvs, rev, nil
}

// view runs fn on a snapshot.
func (s *Store) view(ctx context.Context, fn func(*badger.Txn) error) error {
	if err := s.calls.enter(); err != nil {
		return err
	}
	defer s.calls.leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.db.View(fn)
}

// Txn implements metadata.Store. When ctx ends while the transaction is being written the error is
// metadata.ErrUnknownOutcome.
func (s *Store) Txn(ctx context.Context, txn metadata.Txn) (metadata.TxnResult, error) {
	if err := s.calls.enter(); err != nil {
		return metadata.TxnResult{}, err
	}
	defer s.calls.leave()
	if err := txn.Check(); err != nil {
		return metadata.TxnResult{}, err
	}
	return s.do(ctx, &request{txn: txn})
}

// do hands a request to the writer and waits for the answer. The caller is inside the gate, so the writer is there.
func (s *Store) do(ctx context.Context, r *request) (metadata.TxnResult, error) {
	if err := ctx.Err(); err != nil {
		return metadata.TxnResult{}, err
	}
	r.reply = make(chan reply, 1)
	select {
	case s.requests <- r:
	case <-ctx.Done():
		return metadata.TxnResult{}, context.Cause(ctx)
	}
	select {
	case answer := <-r.reply:
		return answer.result, answer.err
	case <-ctx.Done():
		return metadata.TxnResult{}, fmt.Errorf("%w: %w", metadata.ErrUnknownOutcome, context.Cause(ctx))
	}
}

// Watch implements metadata.Store.
func (s *Store) Watch(ctx context.Context, prefix string, after metadata.Rev) (<-chan metadata.Batch, error) {
	if err := s.calls.enter(); err != nil {
		return nil, err
	}
	defer s.calls.leave()
	w, err := s.history.watch(prefix, after)
	if err != nil {
		return nil, err
	}
	s.goroutines.Go(func() { s.history.run(ctx, w, s.stop) })
	return w.out, nil
}

// OpenSession implements metadata.Store.
func (s *Store) OpenSession(ctx context.Context, ttl time.Duration) (metadata.Session, error) {
	if err := s.calls.enter(); err != nil {
		return nil, err
	}
	defer s.calls.leave()
	if ttl < metadata.MinSessionTTL || ttl > metadata.MaxSessionTTL {
		return nil, fmt.Errorf("%w: session of %s, allowed are %s to %s", metadata.ErrInvalidTxn, ttl, metadata.MinSessionTTL, metadata.MaxSessionTTL)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.sessions.open(s, ttl), nil
}

// ExpireSession ends a session as if its time to live had passed, and deletes its keys.
func (s *Store) ExpireSession(ctx context.Context, id metadata.SessionID) error {
	if err := s.calls.enter(); err != nil {
		return err
	}
	defer s.calls.leave()
	_, err := s.do(ctx, &request{end: id})
	return err
}

// gate counts the calls in progress and lets none in after it was closed.
type gate struct {
	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

func (g *gate) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return metadata.ErrClosed
	}
	g.calls.Add(1)
	return nil
}

func (g *gate) leave() { g.calls.Done() }

// close reports whether this call was the one that closed the gate; then all calls have left.
func (g *gate) close() bool {
	g.mu.Lock()
	was := g.closed
	g.closed = true
	g.mu.Unlock()
	if was {
		return false
	}
	g.calls.Wait()
	return true
}
