package callers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	datav1 "moldau/gen/moldau/data/v1"
)

// result is what a caller was told of a record.
type result struct {
	partition       int32
	offset          int64
	reason, message string // of a record that failed
}

// caller sends calls of records to a topic and returns the results of each call.
type caller func(ctx context.Context, g *gateway, topic string, calls [][]Record) ([][]result, error)

// doors are the ways in which the doors take records.
var doors = map[string]caller{
	"REST": eachCall(postJSON), "REST lines": postLines, "gRPC": eachCall(produce), "gRPC stream": produceStream,
}

// gateway is the doors of one.
type gateway struct {
	http   *http.Client
	url    string
	client datav1.ProducerServiceClient
}

// eachCall waits for the answer to a call before it sends the next one.
func eachCall(one func(context.Context, *gateway, string, []Record) ([]result, error)) caller {
	return func(ctx context.Context, g *gateway, topic string, calls [][]Record) ([][]result, error) {
		var out [][]result
		for _, records := range calls {
			results, err := one(ctx, g, topic, records)
			if err != nil {
				return out, err
			}
			out = append(out, results)
		}
		return out, nil
	}
}

// restResult is a result in JSON.
type restResult struct {
	Partition int32  `json:"partition"`
	Offset    string `json:"offset"`
	Error     *struct {
		Code    int    `json:"code"`
		Reason  string `json:"reason"`
		Message string `json:"message"`
	} `json:"error"`
	Records *int64 `json:"records"` // of the line that ends a stream
}

func (r *restResult) result() (result, error) {
	if r.Error != nil {
		if r.Error.Code < 400 || r.Error.Code > 499 {
			return result{}, fmt.Errorf("a bad record has the code %d", r.Error.Code)
		}
		return result{reason: r.Error.Reason, message: r.Error.Message}, nil
	}
	offset, err := strconv.ParseInt(r.Offset, 10, 64)
	return result{partition: r.Partition, offset: offset}, err
}

// appendJSON appends a record as REST takes it.
func appendJSON(dst []byte, r *Record) []byte {
	m := map[string]any{"partition": r.Partition, "value_base64": base64.StdEncoding.EncodeToString(r.Value)}
	if r.Key != nil {
		m["key_base64"] = base64.StdEncoding.EncodeToString(r.Key)
	}
	if !r.Timestamp.IsZero() {
		m["timestamp"] = r.Timestamp.Format(time.RFC3339)
	}
	text, _ := json.Marshal(m) //nolint:errchkjson // strings and a number
	return append(dst, text...)
}

func (g *gateway) post(ctx context.Context, topic, kind string, body []byte) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url+"/v1/topics/"+topic+"/records", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", kind)
	q.Header.Set("Accept", kind)
	return g.http.Do(q)
}

// postJSON sends one request with a JSON body.
func postJSON(ctx context.Context, g *gateway, topic string, records []Record) ([]result, error) {
	body := []byte(`{"records":[`)
	for i := range records {
		if i > 0 {
			body = append(body, ',')
		}
		body = appendJSON(body, &records[i])
	}
	resp, err := g.post(ctx, topic, "application/json", append(body, "]}"...))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	var answer struct{ Results []restResult }
	if err := json.Unmarshal(text, &answer); err != nil || len(answer.Results) != len(records) {
		return nil, fmt.Errorf("status %d, %w: %s", resp.StatusCode, err, text)
	}
	out := make([]result, len(records))
	failed := 0
	for i := range answer.Results {
		if out[i], err = answer.Results[i].result(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, text)
		}
		if out[i].reason != "" {
			failed++
		}
	}
	want := http.StatusOK
	switch failed {
	case 0:
	case len(records):
		want = http.StatusBadRequest
	default:
		want = http.StatusMultiStatus
	}
	if resp.StatusCode != want {
		return nil, fmt.Errorf("status %d where %d of %d records failed", resp.StatusCode, failed, len(records))
	}
	return out, nil
}

// postLines sends all calls as the lines of one request.
func postLines(ctx context.Context, g *gateway, topic string, calls [][]Record) ([][]result, error) {
	var body []byte
	for _, records := range calls {
		for i := range records {
			body = append(appendJSON(body, &records[i]), '\n')
		}
	}
	resp, err := g.post(ctx, topic, "application/x-ndjson", body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	lines := bufio.NewScanner(resp.Body)
	out := make([][]result, len(calls))
	for i, records := range calls {
		for range records {
			r, err := nextLine(lines)
			if err != nil {
				return out, err
			}
			out[i] = append(out[i], r)
		}
	}
	for lines.Scan() {
		continue // the sums
	}
	return out, lines.Err()
}

func nextLine(lines *bufio.Scanner) (result, error) {
	if !lines.Scan() {
		return result{}, errors.Join(io.ErrUnexpectedEOF, lines.Err())
	}
	var line restResult
	if err := json.Unmarshal(lines.Bytes(), &line); err != nil || line.Records != nil {
		return result{}, fmt.Errorf("%w: %s", err, lines.Bytes())
	}
	return line.result()
}

func toProtos(records []Record) []*datav1.Record {
	raw := func(b []byte) *datav1.Payload {
		if b == nil {
			return nil
		}
		return &datav1.Payload{Content: &datav1.Payload_Raw{Raw: b}}
	}
	var out []*datav1.Record
	for i := range records {
		r := &records[i]
		m := &datav1.Record{Key: raw(r.Key), Value: raw(r.Value), Partition: &r.Partition}
		if !r.Timestamp.IsZero() {
			m.Timestamp = timestamppb.New(r.Timestamp)
		}
		out = append(out, m)
	}
	return out
}

func fromProtos(results []*datav1.ProduceResult, want int) ([]result, error) {
	if len(results) != want {
		return nil, fmt.Errorf("%d results of %d records", len(results), want)
	}
	var out []result
	for _, r := range results {
		if st := r.GetError(); st != nil {
			out = append(out, result{reason: reasonOf(st), message: st.GetMessage()})
			continue
		}
		out = append(out, result{partition: r.GetPosition().GetPartition(), offset: r.GetPosition().GetOffset()})
	}
	return out, nil
}

func reasonOf(st *status.Status) string {
	for _, d := range st.GetDetails() {
		info := new(errdetails.ErrorInfo)
		if d.UnmarshalTo(info) == nil {
			return info.GetReason()
		}
	}
	return "(none)"
}

// produce sends one unary call.
func produce(ctx context.Context, g *gateway, topic string, records []Record) ([]result, error) {
	resp, err := g.client.Produce(ctx, &datav1.ProduceRequest{Topic: topic, Records: toProtos(records)})
	if err != nil {
		return nil, err
	}
	return fromProtos(resp.GetResults(), len(records))
}

// produceStream sends the calls as batches of a stream, and does not wait for answers in between.
func produceStream(ctx context.Context, g *gateway, topic string, calls [][]Record) ([][]result, error) {
	stream, err := g.client.ProduceStream(ctx)
	if err != nil {
		return nil, err
	}
	sent := make(chan error, 1)
	go func() { // ends with the stream
		for i, records := range calls {
			q := &datav1.ProduceStreamRequest{Sequence: int64(i), Topic: topic, Records: toProtos(records)}
			if err := stream.Send(q); err != nil {
				sent <- err
				return
			}
		}
		sent <- stream.CloseSend()
	}()
	var out [][]result
	for i, records := range calls {
		resp, err := stream.Recv()
		if err != nil {
			return out, err
		}
		if resp.GetSequence() != int64(i) || resp.GetError() != nil {
			return out, fmt.Errorf("batch %d is answered by %v", i, resp)
		}
		results, err := fromProtos(resp.GetResults(), len(records))
		if err != nil {
			return out, err
		}
		out = append(out, results)
	}
	return out, <-sent
}
