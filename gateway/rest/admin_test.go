package rest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"moldau/gateway"
)

type topicAnswer struct {
	Topic struct {
		Name           string `json:"name"`
		PartitionCount int    `json:"partition_count"`
		Partitions     []struct {
			HighWatermark  *string `json:"high_watermark"`
			LogStartOffset *string `json:"log_start_offset"`
		} `json:"partitions"`
		Configs []struct {
			Name, Value, Source string
		} `json:"configs"`
	} `json:"topic"`
}

func TestAdmin(t *testing.T) {
	e := newEnv(t, nil)
	created := decode[topicAnswer](t, e.want(200, "POST", "/v1/topics", `{"name":"t","partition_count":2,"configs":{"retention.ms":"1000"}}`, jsonHeader, "application/json; charset=utf-8"))
	if created.Topic.Name != "t" || created.Topic.PartitionCount != 2 {
		t.Errorf("%+v", created)
	}
	e.fill(5, 2)
	got := decode[topicAnswer](t, e.want(200, "GET", "/v1/topics/t", ""))
	if p := got.Topic.Partitions; len(p) != 2 || *p[0].HighWatermark != "3" || *p[0].LogStartOffset != "0" {
		t.Errorf("%+v", got.Topic)
	}
	list := e.want(200, "GET", "/v1/topics?page_size=1", "")
	if !strings.HasPrefix(list, `{"topics":[{"name":"t","topic_id":"`) || !strings.HasSuffix(list, "}\n") {
		t.Errorf("%s", list)
	}
	e.want(200, "PATCH", "/v1/topics/t", `{"set":{"retention.ms":"2000"}}`)
	e.want(200, "POST", "/v1/topics/t:addPartitions", `{"partition_count":3}`)
	trimmed := e.want(200, "POST", "/v1/topics/t:deleteRecords", `{"partitions":[{"partition":1,"before_offset":-1}]}`)
	if trimmed != `{"partitions":[{"partition":1,"log_start_offset":"2"}]}`+"\n" {
		t.Errorf("%s", trimmed)
	}
	e.want(200, "DELETE", "/v1/topics/t", "")
	e.wantFailure(404, "UNKNOWN_TOPIC_OR_PARTITION", "GET", "/v1/topics/t", "")
}

// One shape of errors, whatever part of the server they come from.
func TestAdminRefuses(t *testing.T) {
	e := newEnv(t, func(c *gateway.Config) { c.MaxRequestBytes = 1000 }, kfake.SeedTopics(1, "t"))
	e.wantFailure(409, "TOPIC_ALREADY_EXISTS", "POST", "/v1/topics", `{"name":"t"}`)
	e.wantFailure(400, "INVALID_TOPIC_EXCEPTION", "POST", "/v1/topics", `{}`)
	e.wantFailure(400, "INVALID_TOPIC_EXCEPTION", "POST", "/v1/topics", ``)
	e.wantFailure(400, "INVALID_ARGUMENT", "POST", "/v1/topics", `{"name":`)
	e.wantFailure(400, "INVALID_ARGUMENT", "POST", "/v1/topics", `{"name":"x"} {}`)
	e.wantFailure(400, "INVALID_ARGUMENT", "POST", "/v1/topics", `{"nome":"x"}`)
	e.wantFailure(400, "INVALID_ARGUMENT", "POST", "/v1/topics", `{"name":"x","partition_count":"many"}`)
	e.wantFailure(413, "REQUEST_TOO_LARGE", "POST", "/v1/topics", `{"name":"`+strings.Repeat("x", 2000)+`"}`)
	e.wantFailure(415, "UNSUPPORTED_MEDIA_TYPE", "POST", "/v1/topics", `{"name":"x"}`, jsonHeader, "text/plain")
	e.wantFailure(406, "NOT_ACCEPTABLE", "GET", "/v1/topics", "", "Accept", "text/html")
	e.wantFailure(405, "METHOD_NOT_ALLOWED", "PUT", "/v1/topics/t", `{}`)
	e.wantFailure(405, "METHOD_NOT_ALLOWED", "POST", "/v1/topics/t:nothing", `{}`)
	e.wantFailure(404, "NO_SUCH_ROUTE", "GET", "/v1/topics/t/nothing", "")
	e.wantFailure(404, "NO_SUCH_ROUTE", "GET", "/", "")
	e.wantFailure(404, "NO_SUCH_ROUTE", "GET", "/v1/", "")
	e.wantFailure(400, "INVALID_ARGUMENT", "GET", "/v1/topics?page_sise=1", "")
	f := e.wantFailure(400, "INVALID_ARGUMENT", "GET", "/v1/topics?page_size=20000", "")
	if f.Field != "page_size" || f.Retriable {
		t.Errorf("%+v", f)
	}
	if f := e.wantFailure(404, "UNKNOWN_TOPIC_OR_PARTITION", "DELETE", "/v1/topics/nope", ""); f.KafkaCode != 3 || f.Status != "NOT_FOUND" {
		t.Errorf("%+v", f)
	}
}

func TestOpenAPI(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	text := e.want(200, "GET", "/openapi.json", "")
	doc := decode[map[string]any](t, text)
	if doc["openapi"] != "3.1.0" {
		t.Errorf("version %v", doc["openapi"])
	}
	for _, ref := range regexp.MustCompile(`"#/([^"]+)"`).FindAllStringSubmatch(text, -1) {
		var at any = doc
		for part := range strings.SplitSeq(ref[1], "/") {
			m, _ := at.(map[string]any)
			at = m[part]
		}
		if at == nil {
			t.Errorf("%s leads nowhere", ref[0])
		}
	}
	ids := make(map[string]bool)
	routes := 0
	for path, item := range doc["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			op := op.(map[string]any)
			if id := op["operationId"].(string); ids[id] {
				t.Errorf("two operations are %s", id)
			} else {
				ids[id] = true
			}
			routes++
			// Every route that is described exists: its answer is one of the operation.
			path := strings.NewReplacer("{topic}", "nope", "{partition}", "0").Replace(path)
			_, _, body := e.do(strings.ToUpper(method), path, "{}")
			if strings.Contains(body, "NO_SUCH_ROUTE") || strings.Contains(body, "METHOD_NOT_ALLOWED") {
				t.Errorf("%s %s is described, but: %s", method, path, body)
			}
		}
	}
	if routes != 11 {
		t.Errorf("%d operations", routes)
	}
	e.wantFailure(405, "METHOD_NOT_ALLOWED", "POST", "/openapi.json", "")
}

// Answers have the members that the description names, and no others.
func TestOpenAPITellsTheTruth(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	doc := decode[map[string]any](t, e.want(200, "GET", "/openapi.json", ""))
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	check := func(schema string, v any) {
		t.Helper()
		properties := schemas[schema].(map[string]any)["properties"].(map[string]any)
		for name := range v.(map[string]any) {
			if properties[name] == nil {
				t.Errorf("%s has no %s", schema, name)
			}
		}
		required, _ := schemas[schema].(map[string]any)["required"].([]any)
		for _, name := range required {
			if _, ok := v.(map[string]any)[name.(string)]; !ok {
				t.Errorf("%s without %v", schema, name)
			}
		}
	}
	produced := decode[map[string]any](t, e.want(207, "POST", "/v1/topics/t/records", `{"records":[{"key_base64":"/w==","value":1,"headers":[{"key":"a"}]},{"partition":9}]}`))
	check("ProduceResponse", produced)
	check("RecordPosition", produced["results"].([]any)[0])
	check("Error", produced["results"].([]any)[1].(map[string]any)["error"])
	lines := decode[map[string]any](t, e.want(207, "POST", "/v1/topics/t/records", "{}\n{\n"+strings.Repeat(" ", 11<<20), "Content-Type", "application/x-ndjson"))
	if len(lines) != 4 {
		t.Errorf("not all members: %v", lines)
	}
	check("LinesSummary", lines)
	read := decode[map[string]any](t, e.want(200, "GET", "/v1/topics/t/records", ""))
	check("ReadResponse", read)
	check("ReadRecord", read["records"].([]any)[0])
	topic := decode[map[string]any](t, e.want(200, "GET", "/v1/topics/t", ""))
	check("moldau.admin.v1.GetTopicResponse", topic)
	check("moldau.admin.v1.Topic", topic["topic"])
	check("moldau.admin.v1.Partition", topic["topic"].(map[string]any)["partitions"].([]any)[0])
	if f := decode[map[string]any](t, e.want(400, "GET", "/v1/topics/t/records?from=7", "")); true {
		check("ErrorAnswer", f)
		check("Error", f["error"])
	}
}

func TestCORS(t *testing.T) {
	off := newEnv(t, nil)
	_, h, _ := off.do("GET", "/v1/topics", "", "Origin", "https://a.example")
	if h.Get("Access-Control-Allow-Origin") != "" {
		t.Error("CORS is on by default")
	}
	on := newEnv(t, func(c *gateway.Config) { c.CORSOrigins = []string{"https://a.example", "https://b.example"} }, kfake.SeedTopics(1, "t"))
	for _, c := range []struct{ method, path, origin, want string }{
		{"GET", "/v1/topics", "https://b.example", "https://b.example"},
		{"GET", "/v1/topics", "https://evil.example", ""},
		{"POST", "/v1/topics/t/records", "https://a.example", "https://a.example"},
		{"GET", "/nothing", "https://a.example", "https://a.example"},
		{"DELETE", "/v1/topics/nope", "https://a.example", "https://a.example"},
	} {
		_, h, _ := on.do(c.method, c.path, `{"records":[{}]}`, "Origin", c.origin)
		if got := h.Get("Access-Control-Allow-Origin"); got != c.want || !strings.Contains(strings.Join(h.Values("Vary"), ","), "Origin") {
			t.Errorf("%s %s from %s: %q, Vary %v", c.method, c.path, c.origin, got, h.Values("Vary"))
		}
	}
	status, h, _ := on.do("OPTIONS", "/v1/topics/t/records", "", "Origin", "https://a.example", "Access-Control-Request-Method", "POST")
	if status != http.StatusNoContent || !strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST") || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Last-Event-ID") {
		t.Errorf("preflight: %d, %v", status, h)
	}
	if status, _, _ := on.do("OPTIONS", "/v1/topics/t/records", "", "Origin", "https://evil.example", "Access-Control-Request-Method", "POST"); status == http.StatusNoContent {
		t.Error("a preflight of another origin is allowed")
	}
	every := newEnv(t, func(c *gateway.Config) { c.CORSOrigins = []string{"*"} })
	if _, h, _ := every.do("GET", "/v1/topics", "", "Origin", "https://x.example"); h.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%v", h)
	}
}

func TestAccepted(t *testing.T) {
	for _, c := range []struct{ accept, want string }{
		{"", jsonType},
		{"*/*", jsonType},
		{"application/json", jsonType},
		{"application/*", jsonType},
		{"application/x-ndjson", ndjsonType},
		{"text/event-stream", sseType},
		{"text/*", sseType},
		{"application/json;q=0.1, application/x-ndjson", ndjsonType},
		{"text/html, application/xhtml+xml, */*;q=0.8", jsonType},
		{"application/x-ndjson;q=0, */*", jsonType},
		{"application/json;q=0", ""},
		{"text/html", ""},
		{"bad;;;, application/x-ndjson", ndjsonType},
		{"application/json;q=7", jsonType},
	} {
		h := http.Header{}
		if c.accept != "" {
			h.Set("Accept", c.accept)
		}
		if got := accepted(h, jsonType, ndjsonType, sseType); got != c.want {
			t.Errorf("%q: %q, want %q", c.accept, got, c.want)
		}
	}
}

// The two descriptions that are merged name different things.
func TestOpenAPIPartsDoNotClash(t *testing.T) {
	var hand map[string]any
	if err := json.Unmarshal(recordsOpenAPI, &hand); err != nil {
		t.Fatal(err)
	}
	for path := range object(hand, "paths") {
		if !strings.HasSuffix(path, "/records") {
			t.Errorf("%s is described by hand", path)
		}
	}
}
