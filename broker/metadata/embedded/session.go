package embedded

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"

	"moldau/broker/metadata"
)

// sessions are the live sessions and their keys. A session of this engine lives as long as the process that holds it:
// holder and store are one process, so no silence of the holder could ever be told from a silence of the store, and
// nobody else could take over meanwhile. It ends by Close, by ExpireSession, or when the store is closed; after a crash
// the next Open deletes its keys.
type sessions struct {
	mu   sync.Mutex
	live map[metadata.SessionID]*session
}

// session implements metadata.Session.
type session struct {
	store *Store
	id    metadata.SessionID
	ttl   time.Duration
	lost  chan struct{} // closed by sessions.end
	ended bool          // guarded by sessions.mu
	keys  map[string]struct{}
}

func (s *session) ID() metadata.SessionID { return s.id }
func (s *session) Lost() <-chan struct{}  { return s.lost }

func (s *session) Deadline() time.Time {
	select {
	case <-s.lost:
		return time.Time{}
	default:
		return time.Now().Add(s.ttl)
	}
}

func (s *session) Close(ctx context.Context) error { return s.store.ExpireSession(ctx, s.id) }

func newSessions() *sessions { return &sessions{live: map[metadata.SessionID]*session{}} }

func (t *sessions) open(store *Store, ttl time.Duration) *session {
	s := &session{store: store, ttl: ttl, lost: make(chan struct{}), keys: map[string]struct{}{}}
	t.mu.Lock()
	defer t.mu.Unlock()
	for s.id == 0 || t.live[s.id] != nil {
		var b [8]byte
		rand.Read(b[:]) //nolint:errcheck // documented never to fail
		s.id = metadata.SessionID(binary.BigEndian.Uint64(b[:]) >> 1)
	}
	t.live[s.id] = s
	return s
}

func (t *sessions) alive(id metadata.SessionID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.live[id]
	return s != nil && !s.ended
}

// end marks a session as ended; its keys are still there.
func (t *sessions) end(id metadata.SessionID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.live[id]; s != nil && !s.ended {
		s.ended = true
		close(s.lost)
	}
}

// keys returns up to n keys of a session.
func (t *sessions) keys(id metadata.SessionID, n int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.live[id]
	if s == nil {
		return nil
	}
	keys := make([]string, 0, min(n, len(s.keys)))
	for key := range s.keys {
		if len(keys) == n {
			break
		}
		keys = append(keys, key)
	}
	return keys
}

// drop forgets a session whose keys are gone.
func (t *sessions) drop(id metadata.SessionID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.live, id)
}

// move takes keys from sessions to others.
func (t *sessions) move(moves []move) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range moves {
		if s := t.live[m.from]; s != nil {
			delete(s.keys, m.key)
		}
		if s := t.live[m.to]; s != nil {
			s.keys[m.key] = struct{}{}
		}
	}
}

// endAll ends every session without deleting keys.
func (t *sessions) endAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.live {
		if !s.ended {
			s.ended = true
			close(s.lost)
		}
	}
}
