package gateway

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	datav1 "moldau/gen/moldau/data/v1"
)

// fakeRegistry answers the registry's requests and counts them.
type fakeRegistry struct {
	asked  atomic.Int64
	answer func(r *http.Request) (status int, body string, err error)
}

// RoundTrip implements http.RoundTripper.
func (f *fakeRegistry) RoundTrip(r *http.Request) (*http.Response, error) {
	f.asked.Add(1)
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
	}
	code, body, err := f.answer(r)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: http.StatusText(code), StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}, nil
}

// withIDs knows every schema whose id is even: it is a string.
func withIDs() *fakeRegistry {
	return &fakeRegistry{answer: func(r *http.Request) (int, string, error) {
		var id int
		if _, err := fmt.Sscanf(r.URL.Path, "/schemas/ids/%d", &id); err == nil && id%2 == 0 {
			return http.StatusOK, `{"schema":"\"string\""}`, nil
		}
		return http.StatusNotFound, `{"error_code":40403,"message":"Schema not found"}`, nil
	}}
}

func down() *fakeRegistry {
	return &fakeRegistry{answer: func(*http.Request) (int, string, error) { return 0, "", errors.New("connection refused") }}
}

func framed(id int, payload string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(id)), payload...) //nolint:gosec // small
}

// fill writes values to partition 0 of the topic t.
func (e *env) fill(values ...[]byte) {
	e.t.Helper()
	b := NewBatch()
	for _, v := range values {
		b.Records = append(b.Records, kgo.Record{Value: v, Partition: AnyPartition})
	}
	if err := e.gw.Produce(e.t.Context(), e.gw.cfg.Principal, "t", b); err != nil || b.Failed() > 0 {
		e.t.Fatal(err, b.Failed())
	}
}

func (e *env) readBySchema() []*datav1.ReadRecord {
	e.t.Helper()
	resp, err := e.consumer.Read(e.t.Context(), &datav1.ReadRequest{
		Topic: "t", Limit: 10_000, ValueFormat: datav1.PayloadFormat_PAYLOAD_FORMAT_SCHEMA,
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return resp.GetRecords()
}

// Whoever may write to a topic decides which ids its payloads name: a read must not ask a registry for thousands of
// schemas that it does not have, one after the other.
func TestUnknownSchemasOfAReadAreBounded(t *testing.T) {
	reg := withIDs()
	e := newEnv(t, func(c *Config) { c.RegistryTransport = reg }, kfake.SeedTopics(1, "t"))
	values := [][]byte{framed(2, "\x02a")}
	for i := range 3000 {
		values = append(values, framed(2*i+1, "\x02b"))
	}
	values = append(values, framed(2, "\x02c"), framed(3, "\x02d"))
	e.fill(values...)
	records := e.readBySchema()
	if len(records) != len(values) {
		t.Fatalf("%d records of %d", len(records), len(values))
	}
	if n := reg.asked.Load(); n > maxMissing+1 {
		t.Errorf("the registry was asked %d times", n)
	}
	for i, r := range records {
		if i == 0 || i == len(records)-2 {
			if r.GetValue().GetSchema() == nil {
				t.Errorf("record %d, whose schema is there: %s", i, r.GetValueDecodeError())
			}
			continue
		}
		if r.GetValueDecodeError() == "" || string(r.GetValue().GetRaw()) != string(values[i]) {
			t.Fatalf("record %d: %v", i, r)
		}
	}
	if text := records[len(records)-1].GetValueDecodeError(); !strings.Contains(text, "no such schema") {
		t.Errorf("a schema that was looked for in vain: %s", text)
	}
}

// A registry that can't be reached is asked once for an answer: each question may last until a timeout.
func TestRegistryThatIsDownIsAskedOnce(t *testing.T) {
	reg := down()
	e := newEnv(t, func(c *Config) { c.RegistryTransport = reg }, kfake.SeedTopics(1, "t"))
	e.fill(framed(1, "a"), framed(2, "b"), framed(3, "c"), []byte("plain"))
	for i, r := range e.readBySchema() {
		if r.GetValueDecodeError() == "" {
			t.Errorf("record %d: %v", i, r)
		}
	}
	if n := reg.asked.Load(); n != 1 {
		t.Errorf("a read asked %d times", n)
	}
	var records []*datav1.Record
	for id := range int32(50) {
		records = append(records, &datav1.Record{Value: schemaValue(`"a"`, &datav1.Schema{Reference: &datav1.Schema_Id{Id: 100 + id}})})
	}
	reg.asked.Store(0)
	resp, err := e.producer.Produce(t.Context(), &datav1.ProduceRequest{Topic: "t", Records: records})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range resp.GetResults() {
		if codes.Code(r.GetError().GetCode()) != codes.Unavailable { //nolint:gosec // a code
			t.Errorf("record %d: %v", i, r)
		}
	}
	if n := reg.asked.Load(); n != 1 {
		t.Errorf("a produce call asked %d times", n)
	}
}

// The schemas of a call are few, and each is looked for once, however often it is named.
func TestSchemasOfACallAreBounded(t *testing.T) {
	reg := withIDs()
	e := newEnv(t, func(c *Config) { c.RegistryTransport = reg }, kfake.SeedTopics(1, "t"))
	named := func(count int) error {
		var records []*datav1.Record
		for i := range 1000 {
			s := &datav1.Schema{Reference: &datav1.Schema_Id{Id: int32(2 + 2*(i%count))}} //nolint:gosec // small
			records = append(records, &datav1.Record{Value: schemaValue(`"a"`, s)})
		}
		_, err := e.producer.Produce(t.Context(), &datav1.ProduceRequest{Topic: "t", Records: records})
		return err
	}
	if err := named(maxSchemas + 1); status.Code(err) != codes.InvalidArgument {
		t.Errorf("%d schemas: %v", maxSchemas+1, err)
	}
	if n := reg.asked.Load(); n != 0 {
		t.Errorf("the registry was asked %d times for a call that is refused", n)
	}
	if err := named(maxSchemas); err != nil {
		t.Error(err)
	}
	if n := reg.asked.Load(); n != maxSchemas {
		t.Errorf("the registry was asked %d times for %d schemas", n, maxSchemas)
	}
}

// Nothing is registered for the sake of a topic that is not there.
func TestNoSchemaWithoutATopic(t *testing.T) {
	reg := withIDs()
	e := newEnv(t, func(c *Config) { c.RegistryTransport = reg }, kfake.SeedTopics(1, "t"))
	register := &datav1.Schema{Reference: &datav1.Schema_Text{Text: &datav1.SchemaText{Text: `"string"`, Register: true}}}
	_, err := e.producer.Produce(t.Context(), &datav1.ProduceRequest{
		Topic: "absent", Records: []*datav1.Record{{Value: schemaValue(`"a"`, register)}},
	})
	wantError(t, err, codes.NotFound, "UNKNOWN_TOPIC_OR_PARTITION")
	if n := reg.asked.Load(); n != 0 {
		t.Errorf("the registry was asked %d times", n)
	}
	empty := &datav1.Schema{Reference: &datav1.Schema_Text{Text: &datav1.SchemaText{}}}
	_, err = e.producer.Produce(t.Context(), &datav1.ProduceRequest{Topic: "t", Records: []*datav1.Record{{Value: schemaValue(`"a"`, empty)}}})
	wantError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT")
}

// What is encoded counts as memory of requests in flight from the moment it is there, and no longer than the call.
func TestEncodedBytesAreBudgeted(t *testing.T) {
	reg := withIDs()
	e := newEnv(t, func(c *Config) {
		c.RegistryTransport, c.MaxRequestBytes, c.MaxInflightBytes = reg, 64<<10, 64<<10
	}, kfake.SeedTopics(1, "t"))
	value := schemaValue(`"`+strings.Repeat("x", 20<<10)+`"`, &datav1.Schema{Reference: &datav1.Schema_Id{Id: 2}})
	produce := func(n int) error {
		_, err := e.producer.Produce(t.Context(), &datav1.ProduceRequest{Topic: "t", Records: []*datav1.Record{
			{Value: value}, {Value: value},
		}[:n]})
		return err
	}
	if err := produce(1); err != nil {
		t.Error(err)
	}
	if err := produce(2); status.Code(err) != codes.ResourceExhausted { // 40 KiB of JSON, and 40 of payloads
		t.Error(err)
	}
	for deadline := time.Now().Add(10 * time.Second); e.gw.budget.inUse.Load() != 0; {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are never given back", e.gw.budget.inUse.Load())
		}
	}
}
