package store

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// keyring holds the keys with which replicas sign what they forward to each other. Each replica makes its own, keeps it
// in a compacted topic under its id, and makes a new one when that is old. Who may read and write the topic is a replica.
// The topic is made when something is forwarded for the first time.
type keyring struct {
	admin    *admin
	topic    string
	self     string // the id of this replica
	lifetime time.Duration
	replicas int // of the topic

	turn chan struct{} // held by the one that writes or reads the topic: the others wait for what it brings

	mu   sync.Mutex
	own  key
	keys map[string][]key // by replica: the newest and the one before
	read time.Time        // when the topic was last read
}

// key is one signing key. Its JSON is the value of its record.
type key struct {
	Secret  []byte `json:"key"`
	Created int64  `json:"created"` // milliseconds since 1970
}

const (
	keyBytes = 32
	maxKeys  = 1000 // replicas that are kept in memory; there are a handful
	// rereadAfter is how often the topic is read for keys that are not known, so that what can't be verified can't make
	// much work.
	rereadAfter = time.Second
)

func proof(k key, message []byte) []byte {
	h := hmac.New(sha256.New, k.Secret)
	h.Write(message)
	return h.Sum(nil)
}

// sign signs with the key of this replica, which is written before it is used.
func (r *keyring) sign(ctx context.Context, message []byte) (string, []byte, error) {
	if err := r.begin(ctx); err != nil {
		return "", nil, err
	}
	defer r.end()
	r.mu.Lock()
	k := r.own
	r.mu.Unlock()
	now := time.Now()
	if k.Secret == nil || now.Sub(time.UnixMilli(k.Created)) > r.lifetime {
		k = key{make([]byte, keyBytes), now.UnixMilli()}
		_, _ = rand.Read(k.Secret) // never fails
		if err := r.write(ctx, k); err != nil {
			return "", nil, err
		}
		r.mu.Lock()
		r.own = k
		r.mu.Unlock()
	}
	return r.self, proof(k, message), nil
}

func (r *keyring) begin(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: wait for the signing keys: %w", ErrUnavailable, ctx.Err())
	}
}

func (r *keyring) end() { <-r.turn }

func (r *keyring) write(ctx context.Context, k key) error {
	if err := r.admin.prepare(ctx, r.topic, r.replicas); err != nil {
		return err
	}
	res := r.admin.client.ProduceSync(ctx, &kgo.Record{Topic: r.topic, Key: []byte(r.self), Value: encode(k)})
	if err := res.FirstErr(); err != nil {
		return fmt.Errorf("%w: write a signing key: %w", ErrUnavailable, err)
	}
	return nil
}

// verify checks a proof against the keys of the replica that it names, and reads the topic for newer ones if need be.
func (r *keyring) verify(ctx context.Context, name string, given, message []byte) error {
	if r.matches(name, given, message) {
		return nil
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	defer r.end()
	if r.matches(name, given, message) {
		return nil
	}
	r.mu.Lock()
	fresh := time.Since(r.read) < rereadAfter
	r.mu.Unlock()
	if !fresh {
		if err := r.load(ctx); err != nil {
			return err
		}
	}
	if r.matches(name, given, message) {
		return nil
	}
	return ErrSignature
}

func (r *keyring) matches(name string, given, message []byte) bool {
	r.mu.Lock()
	keys := r.keys[name]
	r.mu.Unlock()
	for _, k := range keys {
		if len(k.Secret) >= keyBytes && hmac.Equal(given, proof(k, message)) {
			return true
		}
	}
	return false
}

// load reads the topic from its beginning to its end.
func (r *keyring) load(ctx context.Context) error {
	keys := map[string][]key{}
	at, err := r.admin.find(ctx, r.topic)
	if err == nil {
		err = r.scan(ctx, at, keys)
	}
	if err != nil && !errors.Is(err, kerr.UnknownTopicOrPartition) {
		return fmt.Errorf("%w: read the signing keys: %w", ErrUnavailable, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys, r.read = keys, time.Now()
	return nil
}

func (r *keyring) scan(ctx context.Context, at place, keys map[string][]key) error {
	end, err := r.admin.offset(ctx, r.topic, at, latest, true)
	if err != nil {
		return err
	}
	offset, err := r.admin.offset(ctx, r.topic, at, earliest, false)
	if err != nil {
		return err
	}
	for offset < end {
		f, err := r.admin.fetch(ctx, r.topic, at, offset, time.Second)
		if err != nil {
			return err
		}
		for _, rec := range f.records {
			var k key
			if json.Unmarshal(rec.Value, &k) == nil {
				remember(keys, string(rec.Key), k)
			}
		}
		offset = f.next
	}
	return nil
}

// remember adds the newest key of a replica. When there are too many replicas the one is forgotten that has been silent for the
// longest time: replicas without an id that outlives them leave their keys behind.
func remember(keys map[string][]key, name string, k key) {
	if len(keys) >= maxKeys && keys[name] == nil {
		oldest := ""
		for other, list := range keys {
			if oldest == "" || list[0].Created < keys[oldest][0].Created {
				oldest = other
			}
		}
		delete(keys, oldest)
	}
	keys[name] = append([]key{k}, keys[name][:min(len(keys[name]), 1)]...)
}
