package gateway

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"sync"
)

// A cursor is the base64url text of
//
//	byte     version, 1
//	16 bytes topic id
//	uvarint  scope: 0 for all partitions, else 1 + the partition
//	uvarint  the partition that is served first
//	uvarint  number of offsets
//	uvarint  each: the next offset of the partition (of all partitions: of partition 0, 1, …)
//	16 bytes HMAC-SHA-256 of everything before and the topic's name, cut short
//
// Partitions that were added after a cursor of all partitions was made are read from their start.
const (
	cursorVersion = 1
	cursorTag     = 16
	cursorHead    = 1 + 16
	// maxCursor bounds the text that is looked at: a topic of 10,000 partitions fits.
	maxCursor = 128 << 10
)

// allPartitions as the scope of a read stands for every partition of the topic.
const allPartitions = -1

// cursor is a position in a topic.
type cursor struct {
	topicID [16]byte
	scope   int32 // allPartitions or the partition
	first   int32 // the partition that is served first
	offsets []int64
}

// cursorSigner signs cursors and checks signatures. Without a secret of its own it makes the key from the cluster's id.
type cursorSigner struct {
	secret string
	macs   sync.Pool // of *mac
}

// mac is a keyed hash that can be used again, with room for its sum.
type mac struct {
	hash.Hash
	clusterID string
	sum       [sha256.Size]byte
}

func newCursorSigner(secret string) *cursorSigner { return &cursorSigner{secret: secret} }

func (s *cursorSigner) tag(dst []byte, clusterID, topic string, body []byte) []byte {
	m, _ := s.macs.Get().(*mac)
	if m == nil || m.clusterID != clusterID {
		key := []byte(s.secret)
		if len(key) == 0 {
			key = []byte("moldau cursor of cluster " + clusterID)
		}
		m = &mac{Hash: hmac.New(sha256.New, key), clusterID: clusterID}
	}
	defer s.macs.Put(m)
	m.Reset()
	_, _ = m.Write(body) // a hash returns no error
	_, _ = m.Write([]byte(topic))
	return append(dst, m.Sum(m.sum[:0])[:cursorTag]...)
}

// appendText appends the text of a cursor to dst.
func (s *cursorSigner) appendText(dst []byte, clusterID, topic string, c *cursor) []byte {
	body := make([]byte, 0, cursorHead+16+len(c.offsets)*5+cursorTag)
	body = append(body, cursorVersion)
	body = append(body, c.topicID[:]...)
	body = binary.AppendUvarint(body, uint64(c.scope+1)) //nolint:gosec // at least -1
	body = binary.AppendUvarint(body, uint64(c.first))   //nolint:gosec // a partition
	body = binary.AppendUvarint(body, uint64(len(c.offsets)))
	for _, o := range c.offsets {
		body = binary.AppendUvarint(body, uint64(o)) //nolint:gosec // an offset
	}
	body = s.tag(body, clusterID, topic, body)
	return base64.RawURLEncoding.AppendEncode(dst, body)
}

// parse reads the text of a cursor for a topic. It fails with ErrCursor.
func (s *cursorSigner) parse(clusterID, topic, text string) (*cursor, error) {
	if len(text) > maxCursor {
		return nil, ErrCursor
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < cursorHead+cursorTag || b[0] != cursorVersion {
		return nil, ErrCursor
	}
	body, tag := b[:len(b)-cursorTag], b[len(b)-cursorTag:]
	if !hmac.Equal(tag, s.tag(nil, clusterID, topic, body)) {
		return nil, ErrCursor
	}
	return parseCursor(body)
}

// parseCursor reads what the signature covers. Its bytes are checked all the same: the key may be known.
func parseCursor(body []byte) (*cursor, error) {
	c := &cursor{topicID: [16]byte(body[1:cursorHead])}
	rest := body[cursorHead:]
	bad := false
	next := func(limit uint64) int64 {
		v, n := binary.Uvarint(rest)
		if n <= 0 || v > limit {
			bad = true
			return 0
		}
		rest = rest[n:]
		return int64(v) //nolint:gosec // within the limit
	}
	const maxInt32, maxInt64 = 1<<31 - 1, 1<<63 - 1
	c.scope = int32(next(maxInt32)) - 1 //nolint:gosec // within the limit
	c.first = int32(next(maxInt32))     //nolint:gosec // within the limit
	count := next(uint64(len(rest)))    // each takes a byte at least
	if bad || c.scope != allPartitions && count != 1 || count == 0 {
		return nil, ErrCursor
	}
	c.offsets = make([]int64, count)
	for i := range c.offsets {
		c.offsets[i] = next(maxInt64)
	}
	if bad || len(rest) != 0 {
		return nil, ErrCursor
	}
	return c, nil
}
