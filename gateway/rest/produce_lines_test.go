package rest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"moldau/gateway"
	"moldau/registry/registrytest"
)

const (
	linesPath  = "/v1/topics/t/records"
	typeHeader = "Content-Type"
)

// line is one line of an answer, or a summary.
type line struct {
	Offset  string    `json:"offset"`
	Error   *failure  `json:"error"`
	Records *int      `json:"records"`
	Failed  int       `json:"failed"`
	Errors  []failure `json:"errors"`
}

func splitLines(t *testing.T, text string) (out []line) {
	t.Helper()
	for _, s := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		out = append(out, decode[line](t, s))
	}
	return out
}

func (e *env) values(topic string) (out []string) {
	e.t.Helper()
	text := e.want(200, "GET", "/v1/topics/"+topic+"/records?limit=10000&value=text", "")
	for _, r := range decode[answer](e.t, text).Records {
		out = append(out, string(r.Value))
	}
	return out
}

// Each line is a record; the answer has a line for each in the same order, and the sums at the end.
func TestProduceLines(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	body := `{"value":"a"}` + "\n\n \t\r\n" + `{"key":"k","value":{"n": 1.50},"headers":[{"key":"h","value":"v"}]}` + "\r\n" +
		`{"value":` + "\n" + `[1]` + "\n" + `{"value":1} x` + "\n" + `{"value":1,"partition":7}` + "\n" + `{"valu":1}` + "\n" + `{"value":"last"}`
	status, header, text := e.do("POST", linesPath, body, typeHeader, ndjsonType+"; charset=utf-8", "Accept", ndjsonType)
	if status != 200 || header.Get(typeHeader) != ndjsonType {
		t.Fatalf("status %d, %v: %s", status, header, text)
	}
	got := splitLines(t, text)
	if len(got) != 9 {
		t.Fatalf("%d lines: %s", len(got), text)
	}
	for i, want := range []struct{ offset, reason, field string }{
		{offset: "0"},
		{offset: "1"},
		{reason: "INVALID_JSON", field: "value"},
		{reason: "INVALID_JSON"},
		{reason: "INVALID_JSON"},
		{reason: "UNKNOWN_TOPIC_OR_PARTITION"},
		{reason: "INVALID_ARGUMENT", field: "valu"},
		{offset: "2"},
	} {
		switch f := got[i].Error; {
		case f == nil && (want.reason != "" || got[i].Offset != want.offset):
			t.Errorf("line %d: %+v", i, got[i])
		case f != nil && (f.Reason != want.reason || f.Field != want.field || f.Record == nil || *f.Record != i):
			t.Errorf("line %d: %+v", i, *f)
		}
	}
	if last := got[8]; last.Records == nil || *last.Records != 8 || last.Failed != 5 || last.Error != nil {
		t.Errorf("sums: %+v", last)
	}
	if v := e.values("t"); fmt.Sprint(v) != `["a" "{\"n\":1.50}" "last"]` {
		t.Errorf("%v", v)
	}
}

// Without a wish for lines the answer is a summary, whose status tells whether all, some or none were written.
func TestProduceLinesSummary(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(2, "t"))
	good, bad := `{"value":1}`+"\n", "{\n"
	for _, c := range []struct {
		body    string
		status  int
		records int
		failed  int
		named   int
	}{
		{strings.Repeat(good, 3000), 200, 3000, 0, 0},
		{good + bad + good, 207, 3, 1, 1},
		{strings.Repeat(bad, 150), 400, 150, 150, 100},
	} {
		s := decode[line](t, e.want(c.status, "POST", linesPath, c.body, typeHeader, ndjsonType))
		if s.Records == nil || *s.Records != c.records || s.Failed != c.failed || len(s.Errors) != c.named || s.Error != nil {
			t.Errorf("%q…: %+v", c.body[:10], s)
		}
	}
	const path = "/v1/topics/t/partitions/1/records"
	e.want(200, "POST", path, good, typeHeader, ndjsonType)
	for query, field := range map[string]string{"?partition=0": "partition", "?x=1": "x", "?value_schema={": "value_schema"} {
		f := decode[answer](t, e.want(400, "POST", path+query, good, typeHeader, ndjsonType)).Error
		if f == nil || f.Field != field {
			t.Errorf("%s: %+v", query, f)
		}
	}
	if f := decode[answer](t, e.want(400, "POST", linesPath, "\n\n", typeHeader, ndjsonType)).Error; f == nil {
		t.Error("an empty body is no error")
	}
	for _, accept := range []string{ndjsonType, jsonType} { // nothing was sent yet, so the status tells
		got := e.want(404, "POST", "/v1/topics/absent/records", good, typeHeader, ndjsonType, "Accept", accept)
		if f := decode[answer](t, got).Error; f == nil || f.Reason != "UNKNOWN_TOPIC_OR_PARTITION" {
			t.Errorf("%s: %s", accept, got)
		}
	}
	e.want(406, "POST", linesPath, good, typeHeader, ndjsonType, "Accept", "text/html")
}

// A stream is longer than any request may be, and takes no more memory than its window.
func TestProduceLinesWithoutEnd(t *testing.T) {
	e := newEnv(t, func(c *gateway.Config) {
		c.MaxRequestBytes, c.MaxRecords, c.MaxInflightBytes = 64<<10, 100, 8<<20
	}, kfake.SeedTopics(1, "t"))
	const n = 20_000
	record := `{"value":"` + strings.Repeat("v", 90) + `"}` + "\n"
	pr, pw := io.Pipe()
	go func() {
		for range n {
			if _, err := io.WriteString(pw, record); err != nil {
				return
			}
		}
		_ = pw.Close()
	}()
	req, err := http.NewRequestWithContext(t.Context(), "POST", e.url+linesPath, pr)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(typeHeader, ndjsonType)
	req.Header.Set("Accept", ndjsonType)
	resp, err := e.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	for i := 0; i < n; i++ {
		if !lines.Scan() {
			t.Fatalf("%d lines, %v", i, lines.Err())
		}
		if l := decode[line](t, lines.Text()); l.Offset != strconv.Itoa(i) {
			t.Fatalf("line %d: %s", i, lines.Text())
		}
	}
	if !lines.Scan() || lines.Text() != `{"records":20000,"failed":0}` || lines.Scan() {
		t.Errorf("at the end: %s", lines.Text())
	}
	// A line that is longer than a request may be ends the stream, behind what came before it.
	s := decode[line](t, e.want(207, "POST", linesPath, record+`{"value":"`+strings.Repeat("v", 80<<10), typeHeader, ndjsonType))
	if *s.Records != 1 || s.Failed != 0 || s.Error == nil || s.Error.Code != 413 {
		t.Errorf("%+v", s)
	}
}

// raw opens a connection and sends the beginning of a stream in chunks.
func (e *env) raw(accept string, chunks ...string) (net.Conn, *bufio.Reader) {
	e.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(e.url, "http://"))
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		e.t.Fatal(err)
	}
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAccept: %s\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n", linesPath, accept, ndjsonType)
	if err != nil {
		e.t.Fatal(err)
	}
	e.chunks(conn, chunks...)
	return conn, bufio.NewReader(conn)
}

func (e *env) chunks(conn net.Conn, chunks ...string) {
	e.t.Helper()
	for _, c := range chunks {
		if _, err := fmt.Fprintf(conn, "%x\r\n%s\r\n", len(c), c); err != nil {
			e.t.Fatal(err)
		}
	}
}

// A record is written and told when its line is there, while the body goes on; a body that stops or breaks off loses
// nothing of what came before.
func TestProduceLinesSlowAndBroken(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	conn, answers := e.raw(ndjsonType, `{"value":"a"}`+"\n"+`{"val`)
	resp, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	next := func() line {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("no line, %v", lines.Err())
		}
		return decode[line](t, lines.Text())
	}
	if l := next(); l.Offset != "0" {
		t.Errorf("%+v", l)
	}
	e.chunks(conn, `ue":"b"}`+"\n", `{"value":"c"}`+"\n", `{"value":"part`)
	if b, c := next(), next(); b.Offset != "1" || c.Offset != "2" {
		t.Errorf("%+v, %+v", b, c)
	}
	last := next() // nothing comes for as long as a stream may be idle
	if last.Records == nil || *last.Records != 3 || last.Error == nil || last.Error.Reason != "BODY_INCOMPLETE" {
		t.Errorf("%s", lines.Text())
	}

	broken, _ := e.raw(jsonType, `{"value":"d"}`+"\n", `{"value":"e`)
	if err := broken.Close(); err != nil {
		t.Fatal(err)
	}
	garbage, answers := e.raw(jsonType, `{"value":"f"}`+"\n")
	if _, err := io.WriteString(garbage, "zz\r\n"); err != nil { // no chunk
		t.Fatal(err)
	}
	if resp, err = http.ReadResponse(answers, nil); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if s := decode[line](t, string(text)); err != nil || resp.StatusCode != 207 || *s.Records != 1 || s.Error == nil || s.Error.Reason != "BODY_INCOMPLETE" {
		t.Errorf("status %d: %s, %v", resp.StatusCode, text, err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; {
		v := fmt.Sprint(e.values("t"))
		if v == `["a" "b" "c" "d" "f"]` || v == `["a" "b" "c" "f" "d"]` {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(v)
		}
	}
}

// Close ends a stream that waits for its peer.
func TestProduceLinesEndWithGateway(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	_, answers := e.raw(ndjsonType, `{"value":"a"}`+"\n")
	resp, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	closed := make(chan error, 1)
	go func() { closed <- e.gw.Close(t.Context()) }()
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	if l := decode[line](t, lines.Text()); l.Records == nil || *l.Records != 1 || l.Error == nil || l.Error.Reason != "SHUTTING_DOWN" {
		t.Errorf("%s", lines.Text())
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// Lines are encoded by the schemas that the query names.
func TestProduceLinesBySchema(t *testing.T) {
	server := registrytest.Start(t)
	e := newEnv(t, func(c *gateway.Config) { c.RegistryURLs = []string{server.URL} }, kfake.SeedTopics(1, "t"))
	query := `?value_schema={"schema":"\"int\"","register":true}`
	query = strings.NewReplacer(`"`, "%22", `\`, "%5C", "{", "%7B", "}", "%7D").Replace(query)
	text := e.want(200, "POST", linesPath+query, `{"value":7}`+"\n"+`{"value":"x"}`+"\n"+`{"value":8}`, typeHeader, ndjsonType, "Accept", ndjsonType)
	got := splitLines(t, text)
	if f := got[1].Error; f == nil || f.Reason != "SCHEMA_MISMATCH" || f.Field != "value" || *f.Record != 1 {
		t.Errorf("%s", text)
	}
	read := e.want(200, "GET", linesPath+"?value=schema", "")
	if !strings.Contains(read, `"value":7,"value_format":"avro"`) || !strings.Contains(read, `"value":8,`) {
		t.Error(read)
	}
}

// A body of bytes is the value of one record; the rest of it is in the query.
func TestProduceBytes(t *testing.T) {
	e := newEnv(t, func(c *gateway.Config) { c.MaxRequestBytes = 1000 }, kfake.SeedTopics(3, "t"))
	value := "\x00\xff{\n"
	text := e.want(200, "POST", linesPath+"?key=k&header=a:1&header=b:x:y&header=a:&partition=2&timestamp=2026-01-02T03:04:05Z", value, typeHeader, bytesType)
	if r := decode[answer](t, text).Results; len(r) != 1 || r[0].Partition != 2 || r[0].Offset != "0" {
		t.Error(text)
	}
	e.want(200, "POST", "/v1/topics/t/partitions/2/records?key_base64=/w%3D%3D", "", typeHeader, bytesType)
	got := e.want(200, "GET", linesPath+"?partition=2", "")
	for _, want := range []string{
		`"timestamp":"2026-01-02T03:04:05.000Z","key":"k","value_base64":"AP97Cg==","value_format":"base64","headers":[{"key":"a","value":"1"},{"key":"b","value":"x:y"},{"key":"a","value":""}]`,
		`"key_base64":"/w==","value":"","value_format":"text","headers":[]`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	for query, field := range map[string]string{
		"key=a&key_base64=YQ==": "key", "key_base64=!": "key_base64", "partition=-1": "partition", "timestamp=now": "timestamp", "header=x": "header",
		"key=a&key=b": "key", "acks=1": "acks",
	} {
		if f := decode[answer](t, e.want(400, "POST", linesPath+"?"+query, "v", typeHeader, bytesType)).Error; f == nil || f.Field != field {
			t.Errorf("%s: %+v", query, f)
		}
	}
	e.want(413, "POST", linesPath, strings.Repeat("v", 1001), typeHeader, bytesType)
	e.want(404, "POST", linesPath+"?partition=3", "v", typeHeader, bytesType)
}
