package rest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/gateway"
)

const jsonHeader = "Content-Type"

func (e *env) produce(status int, topic, body string) answer {
	e.t.Helper()
	return decode[answer](e.t, e.want(status, "POST", "/v1/topics/"+topic+"/records", body, jsonHeader, jsonType))
}

// wantFailure demands the status and the reason of an error.
func (e *env) wantFailure(status int, reason, method, path, body string, header ...string) *failure {
	e.t.Helper()
	f := decode[answer](e.t, e.want(status, method, path, body, header...)).Error
	if f == nil || f.Code != status || f.Reason != reason || f.Message == "" {
		e.t.Errorf("%s %s: %+v, want reason %s", method, path, f, reason)
		return new(failure)
	}
	return f
}

func TestProduceRefuses(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(2, "t"))
	const records, one = "/v1/topics/t/records", `{"records":[{"value":1}]}`
	e.wantFailure(415, "UNSUPPORTED_MEDIA_TYPE", "POST", records, one, jsonHeader, "application/x-www-form-urlencoded")
	e.wantFailure(415, "UNSUPPORTED_MEDIA_TYPE", "POST", records, one, jsonHeader, "application/json; charset=latin1")
	e.wantFailure(415, "UNSUPPORTED_MEDIA_TYPE", "POST", records, one, jsonHeader, "application/json;;;")
	e.wantFailure(415, "UNSUPPORTED_MEDIA_TYPE", "POST", records, one, jsonHeader, "application/vnd.kafka.json.v2+json")
	e.want(200, "POST", records, one, jsonHeader, `Application/JSON; charset="UTF-8"`)
	e.want(200, "POST", records, one)
	e.wantFailure(406, "NOT_ACCEPTABLE", "POST", records, one, "Accept", "text/html")
	e.wantFailure(405, "METHOD_NOT_ALLOWED", "PUT", records, one)
	e.wantFailure(400, "INVALID_TOPIC_EXCEPTION", "POST", "/v1/topics/a%20b/records", one)
	e.wantFailure(400, "INVALID_TOPIC_EXCEPTION", "POST", "/v1/topics/"+strings.Repeat("a", 250)+"/records", one)
	e.wantFailure(400, "INVALID_ARGUMENT", "POST", "/v1/topics/t/partitions/x/records", one)
	e.wantFailure(404, "UNKNOWN_TOPIC_OR_PARTITION", "POST", "/v1/topics/nope/records", one)
	f := e.wantFailure(400, "INVALID_ARGUMENT", "POST", records, `{"records":[{"value":1},{"timestamp":"x"}]}`)
	if f.Field != "records[1].timestamp" || f.Record == nil || *f.Record != 1 || f.Retriable {
		t.Errorf("%+v", f)
	}
	read := decode[answer](t, e.want(200, "GET", records, ""))
	if len(read.Records) != 2 {
		t.Errorf("%d records were written, want the 2 of the good requests", len(read.Records))
	}
}

func TestProduceOutcomes(t *testing.T) {
	e := newEnv(t, func(c *gateway.Config) { c.MaxRequestBytes = 4 << 20 }, kfake.SeedTopics(2, "t"))
	some := e.produce(207, "t", `{"records":[{"partition":1,"value":"a"},{"partition":2,"value":"b"},{"partition":1,"value":"c"}]}`)
	if r := some.Results; r[0].Offset != "0" || r[2].Offset != "1" || r[1].Error == nil ||
		r[1].Error.Reason != "UNKNOWN_TOPIC_OR_PARTITION" || r[1].Error.KafkaCode != 3 || r[1].Error.Code != 404 {
		t.Errorf("some failed: %+v", r)
	}
	if all := e.produce(404, "t", `{"records":[{"partition":7},{"partition":8}]}`); all.Results[1].Error == nil {
		t.Errorf("all failed: %+v", all)
	}
	big := e.produce(207, "t", `{"records":[{"partition":0,"value":"`+strings.Repeat("x", 2<<20)+`"},{"value":1,"partition":0}]}`)
	if r := big.Results; r[0].Error == nil || r[0].Error.Reason != "MESSAGE_TOO_LARGE" || r[0].Error.Code != 400 || r[1].Error != nil {
		t.Errorf("too large: %+v", r)
	}
}

// The status is that of the worst failure, also when records fail for different reasons.
func TestProduceBrokerErrors(t *testing.T) {
	for _, c := range []struct {
		err    *kerr.Error
		status int
		code   string
	}{
		{kerr.TopicAuthorizationFailed, 403, "PERMISSION_DENIED"},
		{kerr.InvalidRecord, 400, "INVALID_ARGUMENT"},
		{kerr.InvalidTimestamp, 400, "INVALID_ARGUMENT"},
		{kerr.PolicyViolation, 400, "FAILED_PRECONDITION"},
	} {
		t.Run(c.err.Message, func(t *testing.T) {
			e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
			e.answerProduce(c.err, false)
			got := e.produce(c.status, "t", `{"records":[{"value":1}]}`)
			if f := got.Results[0].Error; f == nil || f.Reason != c.err.Message || f.Status != c.code || f.KafkaCode != int(c.err.Code) {
				t.Errorf("%+v", f)
			}
		})
	}
}

func TestProduceToPartitionOfPath(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(3, "t"))
	out := decode[answer](t, e.want(200, "POST", "/v1/topics/t/partitions/2/records", `{"records":[{"value":1},{"partition":2}]}`))
	if out.Results[0].Partition != 2 || out.Results[1].Partition != 2 {
		t.Errorf("%+v", out.Results)
	}
	f := e.wantFailure(400, "INVALID_ARGUMENT", "POST", "/v1/topics/t/partitions/2/records", `{"records":[{"partition":1}]}`)
	if f.Field != "records[0].partition" {
		t.Errorf("%+v", f)
	}
	read := decode[answer](t, e.want(200, "GET", "/v1/topics/t/partitions/2/records", ""))
	if len(read.Records) != 2 || read.Records[1].Partition != 2 {
		t.Errorf("%+v", read)
	}
}

// Keys decide as in Kafka's own clients: murmur2 of the bytes, whatever form they were given in.
func TestProduceByKey(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(16, "t"))
	out := e.produce(200, "t", `{"records":[{"key":"21"},{"key":21},{"key_base64":"MjE="},{"key":"foobar"}]}`)
	r := out.Results
	if r[0].Partition != r[1].Partition || r[0].Partition != r[2].Partition {
		t.Errorf("one key is in several partitions: %+v", r)
	}
	// The hashes that Kafka's own test names: murmur2("21") = -973932308, murmur2("foobar") = -790332482.
	if want := int(uint32(0x7fffffff&-973932308) % 16); r[0].Partition != want {
		t.Errorf("key 21 is in partition %d, want %d", r[0].Partition, want)
	}
	if want := int(uint32(0x7fffffff&-790332482) % 16); r[3].Partition != want {
		t.Errorf("key foobar is in partition %d, want %d", r[3].Partition, want)
	}
}

// A record with an old timestamp is not late: what is due is counted from the call.
func TestProduceOldTimestamp(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	out := e.produce(200, "t", `{"records":[{"timestamp":"1970-01-01T00:00:00Z"},{"timestamp":"2026-01-02T03:04:05.678901+02:00"}]}`)
	if out.Results[0].Timestamp != "1970-01-01T00:00:00.000Z" || out.Results[1].Timestamp != "2026-01-02T01:04:05.678Z" {
		t.Errorf("%+v", out.Results)
	}
}

func TestProduceLogAppendTime(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	e.want(200, "PATCH", "/v1/topics/t", `{"set":{"message.timestamp.type":"LogAppendTime"}}`)
	out := e.produce(200, "t", `{"records":[{"timestamp":"1970-01-01T00:00:00Z"}]}`)
	if out.Results[0].Timestamp != "" || out.Results[0].Offset != "0" {
		t.Errorf("a time is told that the broker does not keep: %+v", out.Results[0])
	}
}

func TestBodyLimits(t *testing.T) {
	e := newEnv(t, func(c *gateway.Config) { c.MaxRequestBytes = 100_000; c.MaxInflightBytes = 150_000 }, kfake.SeedTopics(1, "t"))
	body := func(n int) string { return `{"records":[{"value":"` + strings.Repeat("x", n) + `"}]}` }
	e.want(200, "POST", "/v1/topics/t/records", body(20_000))
	e.wantFailure(413, "REQUEST_TOO_LARGE", "POST", "/v1/topics/t/records", body(100_000))
	chunked := func(text string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), "POST", e.url+"/v1/topics/t/records", struct{ *strings.Reader }{strings.NewReader(text)})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := e.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		return resp.StatusCode, resp.Header.Get("Retry-After")
	}
	if status, _ := chunked(body(20_000)); status != 200 {
		t.Errorf("a body of unknown length: %d", status)
	}
	if status, _ := chunked(body(101_000)); status != 413 && status != 429 {
		t.Errorf("a large body of unknown length: %d", status)
	}
	// What others hold counts.
	if err := e.gw.Reserve(149_000); err != nil {
		t.Fatal(err)
	}
	f := e.wantFailure(429, "OVERLOADED", "POST", "/v1/topics/t/records", body(10))
	if !f.Retriable {
		t.Error("not retriable")
	}
	if _, after := chunked(body(10)); after == "" {
		t.Error("no Retry-After")
	}
	e.gw.Unreserve(149_000)
	e.want(200, "POST", "/v1/topics/t/records", body(10))
	if err := e.gw.Reserve(150_000); err != nil {
		t.Errorf("the requests have left something reserved: %v", err)
	}
}

func TestTooManyRecords(t *testing.T) {
	e := newEnv(t, func(c *gateway.Config) { c.MaxRecords = 5 }, kfake.SeedTopics(1, "t"))
	e.produce(200, "t", `{"records":[{},{},{},{},{}]}`)
	e.wantFailure(413, "REQUEST_TOO_LARGE", "POST", "/v1/topics/t/records", `{"records":[{},{},{},{},{},{}]}`)
}

// Many callers at a time share batches and each gets its own results.
func TestProduceConcurrently(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	const callers, each = 16, 25
	offsets := make(chan string, callers*each*2)
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range each {
				out := e.produce(200, "t", fmt.Sprintf(`{"records":[{"value":"%d-%d-a"},{"value":"%d-%d-b"}]}`, c, i, c, i))
				for j, r := range out.Results {
					offsets <- fmt.Sprintf("%d-%d-%s@%s", c, i, string(rune('a'+j)), r.Offset)
				}
			}
		})
	}
	wg.Wait()
	close(offsets)
	want := make(map[string]bool)
	for o := range offsets {
		want[o] = true
	}
	read := decode[answer](t, e.want(200, "GET", "/v1/topics/t/records?limit=10000", ""))
	if len(read.Records) != callers*each*2 || len(want) != len(read.Records) {
		t.Fatalf("%d records, %d results", len(read.Records), len(want))
	}
	for _, r := range read.Records {
		if id := decode[string](t, string(r.Value)) + "@" + r.Offset; !want[id] {
			t.Fatalf("no result told of %s", id)
		}
	}
}

// A broker that can't take records in time is told: by its own error where nothing can have been written, else as 504.
func TestProduceTimesOut(t *testing.T) {
	for _, c := range []struct {
		err             *kerr.Error
		status          int
		reason, message string
	}{
		{kerr.NotEnoughReplicas, 503, "NOT_ENOUGH_REPLICAS", "fewer in-sync replicas"},
		{kerr.NotEnoughReplicasAfterAppend, 504, "REQUEST_TIMED_OUT", "may have been written (NOT_ENOUGH_REPLICAS_AFTER_APPEND"},
	} {
		t.Run(c.err.Message, func(t *testing.T) {
			e := newEnv(t, func(c *gateway.Config) { c.DeliveryTimeout = 300 * time.Millisecond }, kfake.SeedTopics(1, "t"))
			e.produce(200, "t", `{"records":[{}]}`)
			e.answerProduce(c.err, true)
			out := e.produce(c.status, "t", `{"records":[{"value":1}]}`)
			if f := out.Results[0].Error; f == nil || f.Reason != c.reason || !f.Retriable && c.status == 503 || !strings.Contains(f.Message, c.message) {
				t.Errorf("%+v", out.Results[0].Error)
			}
		})
	}
}

// answerProduce has the next Produce request, or all of them, answered by an error.
func (e *env) answerProduce(k *kerr.Error, always bool) {
	e.cluster.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		if always {
			e.cluster.KeepControl()
		}
		q := req.(*kmsg.ProduceRequest)
		resp := q.ResponseKind().(*kmsg.ProduceResponse)
		for _, rt := range q.Topics {
			st := kmsg.NewProduceResponseTopic()
			st.Topic, st.TopicID = rt.Topic, rt.TopicID
			for _, rp := range rt.Partitions {
				sp := kmsg.NewProduceResponseTopicPartition()
				sp.Partition, sp.ErrorCode = rp.Partition, k.Code
				st.Partitions = append(st.Partitions, sp)
			}
			resp.Topics = append(resp.Topics, st)
		}
		return resp, nil, true
	})
}

// A topic that permits large records takes them, also on a gateway that wrote to it before, and gives them back whole.
func TestLargeRecords(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	large := `{"records":[{"value":"` + strings.Repeat("x", 3<<20) + `"},{"value":"after"}]}`
	if out := e.produce(207, "t", large); out.Results[0].Error.Reason != "MESSAGE_TOO_LARGE" {
		t.Errorf("%+v", out.Results[0])
	}
	e.want(200, "PATCH", "/v1/topics/t", `{"set":{"max.message.bytes":"5000000"}}`)
	e.produce(200, "t", `{"records":[{"value":"the old client notices"}]}`)
	e.produce(200, "t", large)
	got := e.read("limit=3&value=text")
	if len(got.Records) != 3 || len(got.Records[2].Value) != 3<<20+2 {
		t.Errorf("%d records", len(got.Records))
	}
	if rest := e.read("cursor=" + got.Cursor); values(rest.Records) != "after" {
		t.Errorf("%d records", len(rest.Records))
	}
}
