package rest

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/gateway"
)

func (e *env) read(query string) answer {
	e.t.Helper()
	return decode[answer](e.t, e.want(200, "GET", "/v1/topics/t/records?"+query, ""))
}

// fill writes n records, record i to partition i modulo the number of partitions, a second apart.
func (e *env) fill(n, partitions int) {
	e.t.Helper()
	var b strings.Builder
	b.WriteString(`{"records":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"value":"v%d","partition":%d,"timestamp":%q}`, i, i%partitions, second(i))
	}
	b.WriteString(`]}`)
	e.produce(200, "t", b.String())
}

func second(i int) string {
	return time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC).Format(time.RFC3339)
}

func values(records []record) string {
	var out []string
	for _, r := range records {
		out = append(out, strings.Trim(string(r.Value), `"`))
	}
	return strings.Join(out, " ")
}

func TestReadFrom(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	e.fill(5, 1)
	for _, c := range []struct{ query, want string }{
		{"", "v0 v1 v2 v3 v4"},
		{"from=earliest&limit=2", "v0 v1"},
		{"from=latest", ""},
		{"from=3", "v3 v4"},
		{"from=5", ""},
		{"from=3&partition=0", "v3 v4"},
		{"from=@" + second(3), "v3 v4"},
		{"from=@2026-01-02T03:04:02.500Z", "v3 v4"},
		{"from=@1767323043000", "v3 v4"},
		{"from=@2030-01-01T00:00:00Z", ""},
		{"from=@0", "v0 v1 v2 v3 v4"},
	} {
		if got := values(e.read(c.query).Records); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(2, "t", "u"))
	e.fill(4, 2)
	cursor := e.read("limit=1").Cursor
	other := decode[answer](t, e.want(200, "GET", "/v1/topics/u/records", "")).Cursor
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		t.Fatal(err)
	}
	raw[20] ^= 1
	forged := base64.RawURLEncoding.EncodeToString(raw)
	for _, c := range []struct{ query, reason, field string }{
		{"form=earliest", "INVALID_ARGUMENT", "form"},
		{"from=middle", "INVALID_ARGUMENT", "from"},
		{"from=-1", "INVALID_ARGUMENT", "from"},
		{"from=@then", "INVALID_ARGUMENT", "from"},
		{"from=3", "INVALID_ARGUMENT", "partition"},
		{"from=earliest&from=latest", "INVALID_ARGUMENT", "from"},
		{"from=earliest&cursor=" + cursor, "INVALID_ARGUMENT", "from"},
		{"limit=0", "INVALID_ARGUMENT", "limit"},
		{"limit=10001", "INVALID_ARGUMENT", "limit"},
		{"limit=x", "INVALID_ARGUMENT", "limit"},
		{"wait=5", "INVALID_ARGUMENT", "wait"},
		{"wait=-5s", "INVALID_ARGUMENT", "wait"},
		{"wait=1h", "INVALID_ARGUMENT", "wait"},
		{"value=xml", "INVALID_ARGUMENT", "value"},
		{"partition=x", "INVALID_ARGUMENT", "partition"},
		{"partition=%zz", "INVALID_ARGUMENT", ""},
		{"cursor=x", "INVALID_CURSOR", "cursor"},
		{"cursor=", "INVALID_CURSOR", "cursor"},
		{"cursor=" + forged, "INVALID_CURSOR", "cursor"},
		{"cursor=" + other, "INVALID_CURSOR", "cursor"},
		{"partition=1&cursor=" + cursor, "INVALID_ARGUMENT", "partition"},
	} {
		if f := e.wantFailure(400, c.reason, "GET", "/v1/topics/t/records?"+c.query, ""); f.Field != c.field {
			t.Errorf("%s: field %q, want %q: %s", c.query, f.Field, c.field, f.Message)
		}
	}
	e.wantFailure(404, "UNKNOWN_TOPIC_OR_PARTITION", "GET", "/v1/topics/t/records?partition=2", "")
	e.wantFailure(404, "UNKNOWN_TOPIC_OR_PARTITION", "GET", "/v1/topics/nope/records", "")
	e.wantFailure(406, "NOT_ACCEPTABLE", "GET", "/v1/topics/t/records", "", "Accept", "text/csv")
	e.wantFailure(400, "INVALID_ARGUMENT", "GET", "/v1/topics/t/records?limit=5", "", "Accept", "text/event-stream")
	f := e.wantFailure(400, "OFFSET_OUT_OF_RANGE", "GET", "/v1/topics/t/records?from=9&partition=1", "")
	if f.Details["log_start_offset"] != "0" || f.Details["high_watermark"] != "2" || f.Details["partition"] != "1" {
		t.Errorf("%+v", f)
	}
}

// Pages of any size together hold each record once, in the order of its partition, whatever is written meanwhile.
func TestReadPages(t *testing.T) {
	for _, limit := range []int{1, 3, 50} {
		e := newEnv(t, nil, kfake.NumBrokers(3), kfake.SeedTopics(4, "t"))
		e.fill(37, 4)
		next := make(map[int]int)
		seen := make(map[string]bool)
		query := fmt.Sprintf("limit=%d", limit)
		cursor := ""
		for page := 0; ; page++ {
			if page == 2 {
				e.produce(200, "t", `{"records":[{"value":"late","partition":2}]}`)
			}
			q := query
			if cursor != "" {
				q += "&cursor=" + url.QueryEscape(cursor)
			}
			got := e.read(q)
			cursor = got.Cursor
			for _, r := range got.Records {
				if fmt.Sprint(next[r.Partition]) != r.Offset {
					t.Fatalf("limit %d: partition %d: offset %s, want %d", limit, r.Partition, r.Offset, next[r.Partition])
				}
				next[r.Partition]++
				seen[string(r.Value)] = true
			}
			if len(got.Records) > limit {
				t.Fatalf("%d records, limit %d", len(got.Records), limit)
			}
			if len(got.Records) == 0 && page > 2 {
				break
			}
		}
		if len(seen) != 38 {
			t.Errorf("limit %d: %d of 38 records", limit, len(seen))
		}
	}
}

// No partition starves: with a small limit each gets its turn.
func TestReadTakesTurns(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(3, "t"))
	e.fill(30, 3)
	got := make(map[int]bool)
	cursor := ""
	for range 3 {
		a := e.read("limit=1&" + map[bool]string{true: "from=earliest", false: "cursor=" + cursor}[cursor == ""])
		cursor = a.Cursor
		got[a.Records[0].Partition] = true
	}
	if len(got) != 3 {
		t.Errorf("three reads came from %d partitions", len(got))
	}
}

func TestReadWaits(t *testing.T) {
	e := newEnv(t, nil, kfake.NumBrokers(2), kfake.SeedTopics(2, "t"))
	cursor := e.read("from=latest").Cursor
	start := time.Now()
	empty := e.read("wait=150ms&cursor=" + cursor)
	if len(empty.Records) != 0 || time.Since(start) < 150*time.Millisecond {
		t.Fatalf("after %v: %+v", time.Since(start), empty.Records)
	}
	got := make(chan answer)
	go func() { got <- e.read("wait=30s&cursor=" + empty.Cursor) }()
	// Many waiting reads do not hold each other up, and neither do they hold up a write or a quick read.
	more := make(chan answer)
	for range 5 {
		go func() { more <- e.read("from=latest&wait=1ms") }()
	}
	for range 5 {
		<-more
	}
	e.produce(200, "t", `{"records":[{"value":"new","partition":1}]}`)
	a := <-got
	if values(a.Records) != "new" || time.Since(start) > 20*time.Second {
		t.Fatalf("after %v: %+v", time.Since(start), a.Records)
	}
	if again := e.read("cursor=" + a.Cursor); len(again.Records) != 0 {
		t.Errorf("the record came twice: %+v", again)
	}
}

// Waiting reads are bounded; the one too many is told so.
func TestReadWaitersAreBounded(t *testing.T) {
	e := newEnv(t, func(c *gateway.Config) { c.MaxWaiting = 1 }, kfake.SeedTopics(1, "t"))
	s := e.events(t.Context(), "", "")
	s.comment(t) // it waits now
	f := e.wantFailure(429, "OVERLOADED", "GET", "/v1/topics/t/records?from=latest&wait=1s", "")
	if !f.Retriable {
		t.Errorf("%+v", f)
	}
	e.want(200, "GET", "/v1/topics/t/records", "")
}

func TestReadValueFormats(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	e.produce(200, "t", `{"records":[{"value":{"a": [1.50]}},{"value":"it is"},{"value_base64":"/w=="},{"value":null},{"value":"[1 ,2\n]"}]}`)
	for _, c := range []struct {
		format string
		want   [5]string
	}{
		{"auto", [5]string{`json {"a":[1.50]}`, `text "it is"`, `base64 /w==`, `null null`, `json [1,2]`}},
		{"json", [5]string{`json {"a":[1.50]}`, `base64 aXQgaXM=`, `base64 /w==`, `null null`, `json [1,2]`}},
		{"text", [5]string{`text "{\"a\":[1.50]}"`, `text "it is"`, `base64 /w==`, `null null`, `text "[1 ,2\n]"`}},
		{"base64", [5]string{`base64 eyJhIjpbMS41MF19`, `base64 aXQgaXM=`, `base64 /w==`, `null null`, `base64 WzEgLDIKXQ==`}},
	} {
		for i, r := range e.read("value=" + c.format).Records {
			got := r.ValueFormat + " " + string(r.Value)
			if r.ValueBase64 != nil {
				got = r.ValueFormat + " " + *r.ValueBase64
			}
			if got != c.want[i] {
				t.Errorf("%s %d: %s, want %s", c.format, i, got, c.want[i])
			}
		}
	}
}

func TestReadCompressed(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	for i, codec := range []kgo.CompressionCodec{kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()} {
		cl, err := kgo.NewClient(kgo.SeedBrokers(e.cluster.ListenAddrs()...), kgo.ProducerBatchCompression(codec), kgo.DefaultProduceTopic("t"))
		if err != nil {
			t.Fatal(err)
		}
		for j := range 3 {
			cl.Produce(t.Context(), kgo.StringRecord(strings.Repeat(fmt.Sprintf("%d.%d ", i, j), 200)), nil)
		}
		if err := cl.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		cl.Close()
	}
	got := e.read("value=text")
	if len(got.Records) != 12 {
		t.Fatalf("%d records", len(got.Records))
	}
	for i, r := range got.Records {
		if !strings.HasPrefix(decode[string](t, string(r.Value)), fmt.Sprintf("%d.%d ", i/3, i%3)) {
			t.Errorf("record %d: %.20s", i, r.Value)
		}
	}
}

// A cursor stands for a topic, not for a name: after the topic is made again it is refused, not misread.
func TestReadCursorOfDeletedTopic(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	e.fill(3, 1)
	cursor := e.read("limit=2").Cursor
	e.want(200, "DELETE", "/v1/topics/t", "")
	e.want(200, "POST", "/v1/topics", `{"name":"t","partition_count":1}`)
	e.wantFailure(400, "CURSOR_OF_ANOTHER_TOPIC", "GET", "/v1/topics/t/records?cursor="+cursor, "")
	e.produce(200, "t", `{"records":[{"value":"again"}]}`)
	if got := values(e.read("").Records); got != "again" {
		t.Errorf("%s", got)
	}
}

func TestReadNewPartitions(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	e.fill(2, 1)
	cursor := e.read("").Cursor
	e.want(200, "POST", "/v1/topics/t:addPartitions", `{"partition_count":3}`)
	e.produce(200, "t", `{"records":[{"value":"there","partition":2}]}`)
	if got := e.read("cursor=" + cursor); values(got.Records) != "there" {
		t.Errorf("%+v", got)
	}
}

// Records that are gone are told, not skipped; a read from the earliest record begins with what is there.
func TestReadDeletedRecords(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	e.fill(5, 1)
	cursor := e.read("limit=1").Cursor
	e.want(200, "POST", "/v1/topics/t:deleteRecords", `{"partitions":[{"partition":0,"before_offset":"3"}]}`)
	f := e.wantFailure(400, "OFFSET_OUT_OF_RANGE", "GET", "/v1/topics/t/records?cursor="+cursor, "")
	if f.Details["log_start_offset"] != "3" {
		t.Errorf("%+v", f)
	}
	if got := values(e.read("from=earliest").Records); got != "v3 v4" {
		t.Error(got)
	}
}

func TestReadLines(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(3, "t"))
	e.fill(250, 3)
	_, header, body := e.do("GET", "/v1/topics/t/records", "", "Accept", "application/x-ndjson")
	if ct := header.Get("Content-Type"); ct != ndjsonType {
		t.Errorf("Content-Type %s", ct)
	}
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if len(lines) != 251 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines[:250] {
		if r := decode[record](t, line); r.ValueFormat != "text" || r.Offset == "" {
			t.Fatalf("%s", line)
		}
	}
	cursor := decode[answer](t, lines[250]).Cursor
	e.produce(200, "t", `{"records":[{"value":"next"}]}`)
	rest := e.want(200, "GET", "/v1/topics/t/records?limit=5&cursor="+cursor, "", "Accept", ndjsonType)
	if strings.Count(rest, "\n") != 2 || !strings.Contains(rest, `"next"`) {
		t.Errorf("%s", rest)
	}
	e.wantFailure(404, "UNKNOWN_TOPIC_OR_PARTITION", "GET", "/v1/topics/nope/records", "", "Accept", ndjsonType)
}

// events is an open stream of server-sent events.
type events struct {
	r *bufio.Reader
}

func (e *env) events(ctx context.Context, query, last string) *events {
	e.t.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", e.url+"/v1/topics/t/records?"+query, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := e.client.Do(req)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = resp.Body.Close() })
	if ct := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || ct != sseType {
		e.t.Fatalf("status %d, type %s", resp.StatusCode, ct)
	}
	return &events{bufio.NewReader(resp.Body)}
}

// event reads up to the next event with a given field, and returns its fields.
func (s *events) event(t *testing.T, field string) map[string]string {
	t.Helper()
	got := make(map[string]string)
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended: %v", err)
		}
		if line = strings.TrimSuffix(line, "\n"); line == "" {
			if _, ok := got[field]; ok {
				return got
			}
			got = make(map[string]string)
			continue
		}
		name, value, _ := strings.Cut(line, ": ")
		got[name] = value
	}
}

func (s *events) comment(t *testing.T) { t.Helper(); s.event(t, "") }

func TestEvents(t *testing.T) {
	e := newEnv(t, nil, kfake.NumBrokers(2), kfake.SeedTopics(2, "t"))
	e.fill(4, 2)
	ctx, cancel := context.WithCancel(t.Context())
	s := e.events(ctx, "", "") // from the latest
	first := s.event(t, "id")
	if _, ok := first["data"]; ok || first["retry"] == "" {
		t.Errorf("the first event: %v", first)
	}
	s.comment(t)
	// An answer that was cut off before the first record goes on where it began.
	cancel()
	e.produce(200, "t", `{"records":[{"value":"a","partition":0},{"value":"b","partition":1},{"value":"c","partition":0}]}`)
	s = e.events(t.Context(), "", first["id"])
	var seen []string
	var middle string
	for range 3 {
		ev := s.event(t, "data")
		seen = append(seen, string(decode[record](t, ev["data"]).Value))
		if len(seen) == 1 {
			middle = ev["id"]
		}
	}
	// After any event it goes on with the one behind it.
	s = e.events(t.Context(), "from=earliest", middle)
	rest := []string{string(decode[record](t, s.event(t, "data")["data"]).Value), string(decode[record](t, s.event(t, "data")["data"]).Value)}
	if strings.Join(rest, " ") == "" || !sameSet(append([]string{seen[0]}, rest...), []string{`"a"`, `"b"`, `"c"`}) || !sameSet(seen, []string{`"a"`, `"b"`, `"c"`}) {
		t.Errorf("seen %v, then %v", seen, rest)
	}
	e.produce(200, "t", `{"records":[{"value":"d"}]}`)
	if ev := s.event(t, "data"); string(decode[record](t, ev["data"]).Value) != `"d"` {
		t.Errorf("%v", ev)
	}
}

func sameSet(a, b []string) bool {
	count := make(map[string]int)
	for _, s := range a {
		count[s]++
	}
	for _, s := range b {
		count[s]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return len(a) == len(b)
}

// A stream whose topic goes away ends with an event that says so.
func TestEventsEndWithTopic(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	s := e.events(t.Context(), "", "")
	s.comment(t)
	cl, err := kgo.NewClient(kgo.SeedBrokers(e.cluster.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if _, err := kadm.NewClient(cl).DeleteTopics(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	ev := s.event(t, "data")
	if f := decode[answer](t, ev["data"]).Error; ev["event"] != "error" || f == nil || f.Reason != "UNKNOWN_TOPIC_OR_PARTITION" {
		t.Errorf("%v", ev)
	}
}

// Close ends streams: each is told, and nothing waits for their peers.
func TestEventsEndWithGateway(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	s := e.events(t.Context(), "", "")
	s.comment(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := e.gw.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if f := decode[answer](t, s.event(t, "data")["data"]).Error; f == nil || f.Reason != "SHUTTING_DOWN" {
		t.Errorf("%+v", f)
	}
	e.wantFailure(503, "SHUTTING_DOWN", "GET", "/v1/topics/t/records", "")
	e.wantFailure(503, "SHUTTING_DOWN", "POST", "/v1/topics/t/records", `{"records":[{}]}`)
}

// Leaders that move are followed: by reads, by a stream that is open, and by writes.
func TestLeaderMoves(t *testing.T) {
	e := newEnv(t, nil, kfake.NumBrokers(3), kfake.SeedTopics(1, "t"))
	e.fill(2, 1)
	s := e.events(t.Context(), "", "")
	s.comment(t)
	for i := range int32(6) {
		if err := e.cluster.MoveTopicPartition("t", 0, i%3); err != nil {
			t.Fatal(err)
		}
		e.produce(200, "t", fmt.Sprintf(`{"records":[{"value":"m%d"}]}`, i))
		if got := string(decode[record](t, s.event(t, "data")["data"]).Value); got != fmt.Sprintf(`"m%d"`, i) {
			t.Fatalf("after move %d the stream has %s", i, got)
		}
		if got := e.read(fmt.Sprintf("from=%d", i+2)); values(got.Records) != fmt.Sprintf("m%d", i) {
			t.Fatalf("after move %d: %+v", i, got)
		}
	}
}
