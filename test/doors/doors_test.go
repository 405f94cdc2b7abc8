package doors

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	datav1 "moldau/gen/moldau/data/v1"
	"moldau/internal/jsontext"
	"moldau/test/input"
	"moldau/test/peers"
)

// process is a running process with a connection to its gRPC door.
type process struct {
	t        *testing.T
	url      string
	producer datav1.ProducerServiceClient
	consumer datav1.ConsumerServiceClient
}

func start(t *testing.T) *process {
	t.Helper()
	m := peers.StartMoldau(t, peers.BuildMoldau(t), "--set", "durability=relaxed")
	conn, err := grpc.NewClient(m.Addresses["grpc"], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &process{
		t: t, url: "http://" + m.Addresses["http"],
		producer: datav1.NewProducerServiceClient(conn), consumer: datav1.NewConsumerServiceClient(conn),
	}
}

// open sends a request without a body, or with one of JSON, and demands status 200.
func (p *process) open(method, path, accept, body string) io.ReadCloser {
	p.t.Helper()
	kind := ""
	if body != "" {
		kind = "application/json"
	}
	return p.send(method, path, accept, kind, strings.NewReader(body))
}

// send sends a request and demands status 200.
func (p *process) send(method, path, accept, kind string, body io.Reader) io.ReadCloser {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, body)
	if err != nil {
		p.t.Fatal(err)
	}
	for name, value := range map[string]string{"Accept": accept, "Content-Type": kind} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		p.t.Fatalf("%s %s: status %d: %s", method, path, resp.StatusCode, text)
	}
	return resp.Body
}

func (p *process) do(method, path, body string) {
	p.t.Helper()
	if _, err := io.Copy(io.Discard, p.open(method, path, "application/json", body)); err != nil {
		p.t.Fatal(err)
	}
}

// lines returns the lines of the access log, without their ends.
func lines(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(input.AccessLog(t))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// check demands that got, by key, is what lines has by number.
func check(t *testing.T, door string, lines []string, got map[string]string) {
	t.Helper()
	if len(got) != len(lines) {
		t.Errorf("%s: %d of %d lines", door, len(got), len(lines))
	}
	for i, line := range lines {
		if got[strconv.Itoa(i)] != line {
			t.Fatalf("%s: line %d is %q, want %q", door, i, got[strconv.Itoa(i)], line)
		}
	}
}

// Every line of a real access log goes in by HTTP, as a document, as lines or as bytes, or by a gRPC stream, and comes out by JSON pages, NDJSON, server-sent
// events, gRPC pages and a gRPC stream, each line once and byte for byte.
func TestAccessLogThroughEveryDoor(t *testing.T) {
	p := start(t)
	all := lines(t)
	p.do("POST", "/v1/topics", `{"name":"access","partition_count":3}`)
	quarter := len(all) / 4
	p.produceHTTP(all, 0, quarter)
	p.produceGRPC(all, quarter, 2*quarter)
	p.produceLines(all, 2*quarter, len(all)-100)
	p.produceBytes(all, len(all)-100, len(all))

	check(t, "JSON", all, p.readPages())
	check(t, "NDJSON", all, p.readLines())
	check(t, "server-sent events", all, p.readEvents(len(all)))
	check(t, "gRPC Read", all, p.readGRPC())
	check(t, "gRPC Tail", all, p.tailGRPC())
}

func (p *process) produceHTTP(all []string, from, to int) {
	p.t.Helper()
	for ; from < to; from += 500 {
		body := []byte(`{"records":[`)
		for i := from; i < min(from+500, to); i++ {
			if i > from {
				body = append(body, ',')
			}
			body = append(fmt.Appendf(body, `{"key":"%d","value":`, i), jsontext.AppendString(nil, all[i])...)
			body = append(body, '}')
		}
		p.do("POST", "/v1/topics/access/records", string(append(body, "]}"...)))
	}
}

// produceLines sends lines as one body without a length, and reads the answers meanwhile.
func (p *process) produceLines(all []string, from, to int) {
	p.t.Helper()
	body, lines := io.Pipe()
	go func() { // ends with the last line, or when the request has failed
		w := bufio.NewWriter(lines)
		for i := from; i < to; i++ {
			if _, err := fmt.Fprintf(w, "{\"key\":\"%d\",\"value\":%s}\n", i, jsontext.AppendString(nil, all[i])); err != nil {
				return
			}
		}
		_ = lines.CloseWithError(w.Flush())
	}()
	answers := bufio.NewScanner(p.send("POST", "/v1/topics/access/records", "application/x-ndjson", "application/x-ndjson", body))
	count, last := 0, ""
	for ; answers.Scan(); count++ {
		if last = answers.Text(); strings.Contains(last, "error") {
			p.t.Fatal(last)
		}
	}
	want := fmt.Sprintf(`{"records":%d,"failed":0}`, to-from)
	if answers.Err() != nil || count != to-from+1 || last != want {
		p.t.Fatalf("%d answers, %v, at last %s, want %s", count, answers.Err(), last, want)
	}
}

func (p *process) produceBytes(all []string, from, to int) {
	p.t.Helper()
	for i := from; i < to; i++ {
		path := fmt.Sprintf("/v1/topics/access/records?key=%d", i)
		if _, err := io.Copy(io.Discard, p.send("POST", path, "", "application/octet-stream", strings.NewReader(all[i]))); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *process) produceGRPC(all []string, from, to int) {
	p.t.Helper()
	ss, err := p.producer.ProduceStream(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	batches := 0
	sendErr := make(chan error, 1)
	go func() { // ends with the last batch
		sendErr <- func() error {
			for start := from; start < to; start += 300 {
				q := &datav1.ProduceStreamRequest{Sequence: int64(start), Topic: "access"}
				for i := start; i < min(start+300, to); i++ {
					q.Records = append(q.Records, &datav1.Record{
						Key:   &datav1.Payload{Content: &datav1.Payload_Text{Text: strconv.Itoa(i)}},
						Value: &datav1.Payload{Content: &datav1.Payload_Raw{Raw: []byte(all[i])}},
					})
				}
				if err := ss.Send(q); err != nil {
					return err
				}
			}
			return ss.CloseSend()
		}()
	}()
	for {
		resp, err := ss.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || resp.Error != nil {
			p.t.Fatalf("%v, %v", resp, err)
		}
		for _, r := range resp.Results {
			if r.GetPosition() == nil {
				p.t.Fatalf("batch %d: %v", resp.Sequence, r)
			}
		}
		batches++
	}
	if err := <-sendErr; err != nil || batches != (to-from+299)/300 {
		p.t.Fatalf("%d batches, %v", batches, err)
	}
}

// record is a record as the HTTP door writes it.
type record struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value"`
	Cursor string          `json:"cursor"` // of the last line of NDJSON
}

// add notes a record; a key that is there twice is a record that came twice.
func (p *process) add(got map[string]string, key, value string) {
	p.t.Helper()
	if _, twice := got[key]; twice {
		p.t.Fatalf("line %s came twice", key)
	}
	got[key] = value
}

func (p *process) addJSON(got map[string]string, r *record) {
	p.t.Helper()
	var text string
	if err := json.Unmarshal(r.Value, &text); err != nil {
		p.t.Fatal(err)
	}
	p.add(got, r.Key, text)
}

func (p *process) readPages() map[string]string {
	p.t.Helper()
	got := make(map[string]string)
	for query := "from=earliest"; ; {
		var page struct {
			Records []record `json:"records"`
			Cursor  string   `json:"cursor"`
		}
		if err := json.NewDecoder(p.open("GET", "/v1/topics/access/records?value=text&limit=777&"+query, "application/json", "")).Decode(&page); err != nil {
			p.t.Fatal(err)
		}
		if len(page.Records) == 0 {
			return got
		}
		for i := range page.Records {
			p.addJSON(got, &page.Records[i])
		}
		query = "cursor=" + page.Cursor
	}
}

func (p *process) readLines() map[string]string {
	p.t.Helper()
	got := make(map[string]string)
	d := json.NewDecoder(p.open("GET", "/v1/topics/access/records?value=text", "application/x-ndjson", ""))
	for {
		var r record
		if err := d.Decode(&r); err != nil {
			p.t.Fatal(err)
		}
		if r.Cursor != "" {
			return got
		}
		p.addJSON(got, &r)
	}
}

func (p *process) readEvents(n int) map[string]string {
	p.t.Helper()
	got := make(map[string]string)
	body := bufio.NewReader(p.open("GET", "/v1/topics/access/records?value=text&from=earliest", "text/event-stream", ""))
	for len(got) < n {
		line, err := body.ReadBytes('\n')
		if err != nil {
			p.t.Fatal(err)
		}
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			var r record
			if err := json.Unmarshal(data, &r); err != nil {
				p.t.Fatal(err)
			}
			p.addJSON(got, &r)
		}
	}
	return got
}

func (p *process) readGRPC() map[string]string {
	p.t.Helper()
	got := make(map[string]string)
	q := &datav1.ReadRequest{Topic: "access", Limit: 1000}
	for {
		page, err := p.consumer.Read(p.t.Context(), q)
		if err != nil {
			p.t.Fatal(err)
		}
		if len(page.Records) == 0 {
			return got
		}
		for _, r := range page.Records {
			p.add(got, string(r.Key.GetRaw()), string(r.Value.GetRaw()))
		}
		q.Start = &datav1.Start{Position: &datav1.Start_Cursor{Cursor: page.Cursor}}
	}
}

func (p *process) tailGRPC() map[string]string {
	p.t.Helper()
	got := make(map[string]string)
	for partition := range int32(3) {
		s, err := p.consumer.Tail(p.t.Context(), &datav1.TailRequest{
			Topic: "access", Start: &datav1.Start{Position: &datav1.Start_Offset{Offset: 0}}, Partition: proto.Int32(partition),
		})
		if err != nil {
			p.t.Fatal(err)
		}
		p.takeTail(got, s)
	}
	return got
}

// takeTail takes the records of one partition, up to the end that the partition has now.
func (p *process) takeTail(got map[string]string, s grpc.ServerStreamingClient[datav1.TailResponse]) {
	p.t.Helper()
	for {
		m, err := s.Recv()
		if err != nil {
			p.t.Fatal(err)
		}
		for _, r := range m.Records {
			p.add(got, string(r.Key.GetRaw()), string(r.Value.GetRaw()))
		}
		rest, err := p.consumer.Read(p.t.Context(), &datav1.ReadRequest{
			Topic: "access", Start: &datav1.Start{Position: &datav1.Start_Cursor{Cursor: m.Cursor}}, Limit: 1,
		})
		if err != nil {
			p.t.Fatal(err)
		}
		if len(rest.Records) == 0 {
			return
		}
	}
}

// Nested JSON with 64-bit counters keeps every digit.
func TestStatusDocumentsKeepEveryDigit(t *testing.T) {
	data, err := os.ReadFile(input.Status(t))
	if err != nil {
		t.Fatal(err)
	}
	p := start(t)
	docs := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	var body bytes.Buffer
	body.WriteString(`{"records":[`)
	for i, doc := range docs {
		if i > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"key":"%d","value":%s}`, i, doc)
	}
	body.WriteString(`]}`)
	p.do("POST", "/v1/topics/status/records", body.String())
	d := json.NewDecoder(p.open("GET", "/v1/topics/status/records?value=json", "application/x-ndjson", ""))
	for i := range docs {
		var r record
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		want, err := jsontext.Compact(nil, docs[i])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(r.Value, want) {
			t.Fatalf("document %d is %.200s, want %.200s", i, r.Value, want)
		}
	}
}
