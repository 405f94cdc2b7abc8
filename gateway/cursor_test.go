package gateway

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestCursorRoundTrip(t *testing.T) {
	s := newCursorSigner("secret")
	for _, c := range []*cursor{
		{scope: allPartitions, first: 2, offsets: []int64{0, 1, 1<<63 - 1}},
		{scope: 0, offsets: []int64{7}},
		{scope: 1<<31 - 2, first: 1<<31 - 1, offsets: []int64{0}},
		{scope: allPartitions, offsets: make([]int64, 10_000)},
	} {
		c.topicID = [16]byte{1, 2, 3, 255}
		text := string(s.appendText([]byte("x"), "cluster", "topic", c))[1:]
		got, err := s.parse("cluster", "topic", text)
		if err != nil {
			t.Fatal(err)
		}
		if got.topicID != c.topicID || got.scope != c.scope || got.first != c.first || !slices.Equal(got.offsets, c.offsets) {
			t.Errorf("%+v came back as %+v", c, got)
		}
	}
}

// A cursor is good in every gateway with the same secret, or of the same cluster if there is none, and nowhere else.
func TestCursorKeys(t *testing.T) {
	c := &cursor{scope: 0, offsets: []int64{7}}
	text := string(newCursorSigner("a").appendText(nil, "cluster", "topic", c))
	plain := string(newCursorSigner("").appendText(nil, "cluster", "topic", c))
	for _, k := range []struct {
		name, secret, cluster, topic, text string
		ok                                 bool
	}{
		{"same secret", "a", "cluster", "topic", text, true},
		{"other cluster, same secret", "a", "other", "topic", text, true},
		{"other secret", "b", "cluster", "topic", text, false},
		{"no secret", "", "cluster", "topic", text, false},
		{"other topic", "a", "cluster", "topi", text, false},
		{"same cluster", "", "cluster", "topic", plain, true},
		{"other cluster", "", "other", "topic", plain, false},
	} {
		if _, err := newCursorSigner(k.secret).parse(k.cluster, k.topic, k.text); (err == nil) != k.ok || err != nil && !errors.Is(err, ErrCursor) {
			t.Errorf("%s: %v", k.name, err)
		}
	}
}

// Every bit of a cursor is covered.
func TestCursorDamage(t *testing.T) {
	s := newCursorSigner("secret")
	text := s.appendText(nil, "cluster", "topic", &cursor{scope: allPartitions, offsets: []int64{300, 5}})
	raw, err := base64.RawURLEncoding.DecodeString(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for bit := range len(raw) * 8 {
		bad := slices.Clone(raw)
		bad[bit/8] ^= 1 << (bit % 8)
		if _, err := s.parse("cluster", "topic", base64.RawURLEncoding.EncodeToString(bad)); !errors.Is(err, ErrCursor) {
			t.Fatalf("bit %d: %v", bit, err)
		}
	}
	for n := range len(raw) {
		if _, err := s.parse("cluster", "topic", base64.RawURLEncoding.EncodeToString(raw[:n])); !errors.Is(err, ErrCursor) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	if _, err := s.parse("cluster", "topic", strings.Repeat("A", maxCursor+1)); !errors.Is(err, ErrCursor) {
		t.Errorf("a huge one: %v", err)
	}
}

// Whoever knows the key may still sign nonsense: it is refused, or it reads back as it was written.
func FuzzParseCursor(f *testing.F) {
	s := newCursorSigner("secret")
	for _, c := range []*cursor{{scope: allPartitions, first: 1, offsets: []int64{300, 5}}, {scope: 4, offsets: []int64{1 << 62}}} {
		raw, err := base64.RawURLEncoding.DecodeString(string(s.appendText(nil, "c", "t", c)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw[cursorHead : len(raw)-cursorTag])
	}
	f.Fuzz(func(t *testing.T, rest []byte) {
		body := append(append([]byte{cursorVersion}, make([]byte, 16)...), rest...)
		c, err := parseCursor(body)
		if err != nil {
			if !errors.Is(err, ErrCursor) {
				t.Fatal(err)
			}
			return
		}
		if c.scope < allPartitions || len(c.offsets) == 0 || c.scope != allPartitions && len(c.offsets) != 1 || len(c.offsets) > len(rest) {
			t.Fatalf("%+v", c)
		}
		again, err := s.parse("c", "t", string(s.appendText(nil, "c", "t", c)))
		if err != nil || again.scope != c.scope || again.first != c.first || !slices.Equal(again.offsets, c.offsets) {
			t.Fatalf("%+v came back as %+v (%v)", c, again, err)
		}
	})
}
