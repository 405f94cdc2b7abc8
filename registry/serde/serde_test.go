package serde

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/sr"

	"moldau/registry/registrytest"
)

// connect makes a Serde that asks a registry which runs as long as the test.
func connect(t *testing.T, s *registrytest.Server, change ...func(*Config)) *Serde {
	t.Helper()
	cfg := Config{URLs: []string{s.URL}}
	for _, f := range change {
		f(&cfg)
	}
	serde, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(serde.Close)
	return serde
}

const (
	hitText   = `{"type":"record","name":"Hit","namespace":"web","fields":[{"name":"path","type":"string"},{"name":"status","type":["null","int"],"default":null}]}`
	orderText = `syntax = "proto3"; package shop; import "money.proto"; message Head {} message Order { string id = 1; Money price = 2; message Line { int64 sku = 1; } repeated Line lines = 3; }`
	moneyText = `syntax = "proto3"; package shop; message Money { string currency = 1; int64 units = 2; }`
	userText  = `{"$schema":"http://json-schema.org/draft-07/schema#","title":"User","type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0}},"required":["name"]}`
)

// Every language, with both forms: what is encoded is what the wire format says, and comes back.
func TestRoundTrip(t *testing.T) {
	ctx := t.Context()
	s := connect(t, registrytest.Start(t))
	if _, err := s.client.CreateSchema(ctx, "money.proto", sr.Schema{Schema: moneyText, Type: sr.TypeProtobuf}); err != nil {
		t.Fatal(err)
	}
	money := []Reference{{Name: "money.proto", Subject: "money.proto", Version: 1}}
	for _, tt := range []struct {
		name, value, back, wire string
		ref                     Ref
	}{
		{
			"avro", `{"status":404,"path":"/x"}`, `{"path":"/x","status":{"int":404}}`, "00 02 04 2f78 02 a806",
			Ref{Topic: "hits", Text: hitText, Register: true},
		},
		{
			"avro default", `{"path":""}`, `{"path":"","status":null}`, "00 02 00 00",
			Ref{Topic: "hits"},
		},
		{
			"protobuf", `{"id":"a","price":{"units":"7"},"lines":[{"sku":1}]}`,
			`{"id":"a","price":{"currency":"","units":"7"},"lines":[{"sku":"1"}]}`, "00 03 0202 0a0161 12021007 1a020801",
			Ref{Topic: "orders", Text: orderText, Type: typeProtobuf, References: money, Register: true, Message: "shop.Order"},
		},
		{
			"protobuf first", `{}`, `{}`, "00 03 00",
			Ref{Subject: "orders-value", Version: 1},
		},
		{
			"protobuf nested", `{"sku":"-1"}`, `{"sku":"-1"}`, "00 03 040200 08ffffffffffffffffff01",
			Ref{Subject: "orders-value", Message: "shop.Order.Line"},
		},
		{
			"json", ` {"name":"x", "age":12345678901234567890}`, `{"name":"x","age":12345678901234567890}`,
			"00 04 " + hex.EncodeToString([]byte(`{"name":"x","age":12345678901234567890}`)),
			Ref{Topic: "users", Text: userText, Type: typeJSON, Register: true},
		},
		{"by id", `{"path":""}`, `{"path":"","status":null}`, "00 02 00 00", Ref{ID: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want, err := hex.DecodeString("000000" + strings.ReplaceAll(tt.wire, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			e, err := s.Encoder(ctx, tt.ref)
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.Append(nil, []byte(tt.value))
			if err != nil || string(got) != string(want) {
				t.Fatalf("got %x, %v, want %x", got, err, want)
			}
			d, err := s.Decode(ctx, "", got, nil)
			if err != nil || string(d.JSON) != tt.back {
				t.Errorf("got %s, %v, want %s", d.JSON, err, tt.back)
			}
			tt.ref.InHeader = true
			inHeader, err := s.Encoder(ctx, tt.ref)
			if err != nil {
				t.Fatal(err)
			}
			if got, err = inHeader.Append(nil, []byte(tt.value)); err != nil || !strings.HasSuffix(string(want), string(got)) {
				t.Errorf("with a header: %x, %v", got, err)
			}
			if d, err = s.Decode(ctx, "", got, inHeader.Header()); err != nil || string(d.JSON) != tt.back || d.Schema.GUID == "" {
				t.Errorf("with a header: got %s, %v, want %s", d.JSON, err, tt.back)
			}
		})
	}
}

// Where a text is kept follows from the strategy.
func TestStrategies(t *testing.T) {
	ctx := t.Context()
	s := connect(t, registrytest.Start(t))
	for _, tt := range []struct {
		ref  Ref
		want string
	}{
		{Ref{Text: hitText, Topic: "t"}, "t-value"},
		{Ref{Text: hitText, Topic: "t", IsKey: true}, "t-key"},
		{Ref{Text: hitText, Topic: "t", Strategy: Record}, "web.Hit"},
		{Ref{Text: hitText, Topic: "t", Strategy: TopicRecord}, "t-web.Hit"},
		{Ref{Text: hitText, Subject: "s", Strategy: TopicRecord}, "s"},
		{Ref{Text: moneyText, Type: typeProtobuf, Topic: "p", Strategy: TopicRecord}, "p-shop.Money"},
		{Ref{Text: userText, Type: typeJSON, Topic: "j", Strategy: Record}, "User"},
	} {
		tt.ref.Register = true
		e, err := s.Encoder(ctx, tt.ref)
		if err != nil || e.Schema().Subject != tt.want {
			t.Errorf("%s %s: got %v, %v", tt.ref.Strategy, tt.ref.Topic, e, err)
		}
	}
	if _, err := s.Encoder(ctx, Ref{Text: `"string"`, Topic: "t", Strategy: Record}); !errors.Is(err, ErrReference) {
		t.Errorf("a schema without a name: %v", err)
	}
}

func TestErrors(t *testing.T) {
	ctx := t.Context()
	server := registrytest.Start(t)
	s := connect(t, server)
	if _, err := s.Encoder(ctx, Ref{Topic: "hits", Text: hitText, Register: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Encoder(ctx, Ref{Topic: "orders", Text: moneyText, Type: typeProtobuf, Register: true}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		ref  Ref
		want error
		text string
	}{
		{Ref{}, ErrReference, "neither a subject nor a topic"},
		{Ref{ID: 1, Version: 2}, ErrReference, "stands alone"},
		{Ref{ID: -1}, ErrReference, "negative"},
		{Ref{Subject: "x", Version: -3}, ErrReference, "negative"},
		{Ref{Subject: "x", Register: true}, ErrReference, "need a text"},
		{Ref{Topic: "x", Strategy: Record}, ErrReference, "needs a subject"},
		{Ref{ID: 1, Message: "m"}, ErrReference, "Protobuf schemas only"},
		{Ref{ID: 2, Message: "shop.Nothing"}, ErrReference, "shop.Nothing"},
		{Ref{ID: 99}, ErrNotFound, "id 99"},
		{Ref{Topic: "nothing"}, ErrNotFound, "nothing-value"},
		{Ref{Topic: "hits", Version: 2}, ErrNotFound, "version 2"},
		{Ref{Topic: "hits", Text: `"int"`}, ErrNotFound, "hits-value"},
		{Ref{Topic: "hits", Text: `"int"`, Register: true}, ErrRefused, "incompatible"},
		{Ref{Topic: "hits", Text: `{`}, ErrSchema, "invalid schema"},
		{Ref{Topic: "hits", Text: `{`, Type: "XML"}, ErrSchema, "XML"},
	} {
		if _, err := s.Encoder(ctx, tt.ref); !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%+v: %v, want %v with %q", tt.ref, err, tt.want, tt.text)
		}
	}
	for _, tt := range []struct {
		payload, header string
		want            error
	}{
		{"", "", ErrUnframed},
		{"{}", "", ErrUnframed},
		{"\x00\x00\x00\x00", "", ErrUnframed},
		{"\x02\x00\x00\x00\x01", "", ErrUnframed},
		{"\x00\x00\x00\x00\x63", "", ErrNotFound},
		{"\x00\x00\x00\x00\x01", "", ErrPayload},
		{"\x00\x00\x00\x00\x01\x02x\x00\x00", "", ErrPayload},
		{"\x00\x00\x00\x00\x01\x02x\x06", "", ErrPayload},
		{"\x00\x00\x00\x00\x02", "", ErrPayload},
		{"\x00\x00\x00\x00\x02\x02\x02", "", ErrPayload},
		{"\x00\x00\x00\x00\x02\x00\x0a\x05", "", ErrPayload},
		{"\x02x\x00", "\x01" + strings.Repeat("g", 16), ErrNotFound},
		{"\x02x\x00", "\x01", ErrUnframed},
	} {
		var header []byte
		if tt.header != "" {
			header = []byte(tt.header)
		}
		if d, err := s.Decode(ctx, "", []byte(tt.payload), header); !errors.Is(err, tt.want) {
			t.Errorf("%q %q: %s, %v, want %v", tt.payload, tt.header, d.JSON, err, tt.want)
		}
	}
	gone := connect(t, &registrytest.Server{URL: "http://127.0.0.1:1"})
	if _, err := gone.Encoder(ctx, Ref{ID: 1}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("nobody there: %v", err)
	}
	other := connect(t, server, func(c *Config) { c.URLs = []string{"http://127.0.0.1:1", server.URL} })
	if _, err := other.Encoder(ctx, Ref{ID: 1}); err != nil {
		t.Errorf("one of two is there: %v", err)
	}
	for _, cfg := range []Config{{}, {URLs: []string{"x"}, User: "u", Token: "t"}} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%+v was taken", cfg)
		}
	}
}

// A context has ids of its own.
func TestContext(t *testing.T) {
	ctx := t.Context()
	s := connect(t, registrytest.Start(t))
	if _, err := s.Encoder(ctx, Ref{Subject: "a", Text: `"int"`, Register: true}); err != nil {
		t.Fatal(err)
	}
	e, err := s.Encoder(ctx, Ref{Subject: ":.other:a", Text: `"string"`, Register: true})
	if err != nil || e.Schema().ID != 1 {
		t.Fatalf("%+v, %v", e, err)
	}
	payload, err := e.Append(nil, []byte(`"x"`))
	if err != nil {
		t.Fatal(err)
	}
	if d, err := s.Decode(ctx, ":.other:a", payload, nil); err != nil || string(d.JSON) != `"x"` {
		t.Errorf("in its context: %s, %v", d.JSON, err)
	}
	within := connect(t, &registrytest.Server{URL: s.cfg.URLs[0] + "/contexts/.other"})
	if d, err := within.Decode(ctx, "", payload, nil); err != nil || string(d.JSON) != `"x"` {
		t.Errorf("by an address within the context: %s, %v", d.JSON, err)
	}
	if e, err := within.Encoder(ctx, Ref{Subject: "a"}); err != nil || e.Schema().Type != typeAvro || e.Schema().ID != 1 {
		t.Errorf("by an address within the context: %v, %v", e, err)
	}
	if d, err := s.Decode(ctx, "", payload, nil); err == nil && string(d.JSON) == `"x"` {
		t.Error("in the default context it was read as if it were in the other one")
	}
}

// counting answers requests with a canned schema and counts them.
type counting struct {
	requests atomic.Int32
	status   int
	gate     chan struct{} // requests wait for it; nil for none
	asked    chan struct{} // gets one token for each request; nil for none
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	if c.asked != nil {
		c.asked <- struct{}{}
	}
	if c.gate != nil {
		select {
		case <-c.gate:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	body := `{"schema":"\"int\""}`
	switch c.status {
	case http.StatusOK:
	case http.StatusServiceUnavailable:
		body = `{"error_code":50004,"message":"no leader"}`
	default:
		body = `{"error_code":40403,"message":"Schema not found"}`
	}
	return &http.Response{StatusCode: c.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func counted(t *testing.T, transport *counting, now func() time.Time, cfg Config) *Serde {
	t.Helper()
	cfg.URLs, cfg.Transport = []string{"http://registry"}, transport
	s, err := newSerde(cfg, now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// However many ask for a schema, it is fetched once; one who gives up doesn't take the others along.
func TestFetchedOnce(t *testing.T) {
	c := &counting{status: http.StatusOK, gate: make(chan struct{}), asked: make(chan struct{}, 16)}
	s := counted(t, c, time.Now, Config{})
	impatient, cancel := context.WithCancel(t.Context())
	gaveUp := make(chan error, 1)
	go func() {
		_, err := s.Encoder(impatient, Ref{ID: 7})
		gaveUp <- err
	}()
	<-c.asked
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := s.Encoder(t.Context(), Ref{ID: 7}); err != nil {
				t.Error(err)
			}
		})
	}
	cancel()
	if err := <-gaveUp; !errors.Is(err, context.Canceled) {
		t.Errorf("the one who gave up: %v", err)
	}
	close(c.gate)
	wg.Wait()
	if n := c.requests.Load(); n != 2 {
		t.Errorf("%d requests, want that of the one who gave up and one more", n)
	}
}

// The cache is bounded, and forgets what may change.
func TestCache(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	clock := func() time.Time { return now }
	c := &counting{status: http.StatusOK}
	s := counted(t, c, clock, Config{MaxSchemas: 3})
	ask := func(want int32, refs ...Ref) {
		t.Helper()
		for _, r := range refs {
			_, _ = s.Encoder(t.Context(), r) // the requests tell
		}
		if n := c.requests.Swap(0); n != want {
			t.Errorf("%d requests, want %d", n, want)
		}
	}
	ask(3, Ref{ID: 1}, Ref{ID: 2}, Ref{ID: 3}, Ref{ID: 1})
	ask(1, Ref{ID: 4}, Ref{ID: 1}, Ref{ID: 3})
	ask(1, Ref{ID: 2})
	if n := s.cache.len(); n != 3 {
		t.Errorf("%d entries", n)
	}
	ask(1, Ref{Subject: "s"}, Ref{Subject: "s", Version: -1}, Ref{Subject: "s"})
	now = now.Add(defaultLatestAge)
	ask(1, Ref{Subject: "s"}, Ref{Subject: "s"})
	ask(1, Ref{Subject: "s", Version: 1}, Ref{Subject: "s", Version: 1})
	now = now.Add(time.Hour)
	ask(0, Ref{Subject: "s", Version: 1})
	c.status = http.StatusNotFound
	ask(1, Ref{ID: 9}, Ref{ID: 9})
	now = now.Add(defaultUnknownAge)
	ask(1, Ref{ID: 9})
	c.status = http.StatusServiceUnavailable
	ask(1, Ref{ID: 10}, Ref{ID: 10})
	now = now.Add(defaultFailureAge)
	ask(1, Ref{ID: 10})

	c.status = http.StatusOK
	small := counted(t, c, clock, Config{MaxBytes: 11})
	for i := range 5 {
		if _, err := small.Encoder(t.Context(), Ref{ID: i + 1}); err != nil {
			t.Fatal(err)
		}
	}
	if n := small.cache.len(); n != 2 {
		t.Errorf("%d schemas of 5 bytes in 11", n)
	}
}

// An encoder is used by many at a time.
func TestConcurrent(t *testing.T) {
	c := &counting{status: http.StatusOK}
	s := counted(t, c, time.Now, Config{})
	e, err := s.Encoder(t.Context(), Ref{ID: 1})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 100 {
				payload, err := e.Append(nil, fmt.Append(nil, i))
				if err != nil {
					t.Error(err)
					return
				}
				if d, err := s.Decode(t.Context(), "", payload, nil); err != nil || string(d.JSON) != fmt.Sprint(i) {
					t.Errorf("%s, %v", d.JSON, err)
				}
			}
		})
	}
	wg.Wait()
}
