package rest

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"moldau/gateway"
	"moldau/registry/registrytest"
)

const hitSchema = `"{\"type\":\"record\",\"name\":\"Hit\",\"fields\":[{\"name\":\"path\",\"type\":\"string\"},{\"name\":\"status\",\"type\":[\"null\",\"int\"],\"default\":null}]}"`

var guids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// part cuts what lies between two texts out of an answer.
func part(t *testing.T, text, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, from)
	out, _, found := strings.Cut(rest, to)
	if !ok || !found {
		t.Fatalf("no %s … %s in %s", from, to, text)
	}
	return out
}

// What is produced by a schema is stored in its form, each record by itself, and comes back as JSON.
func TestSchemas(t *testing.T) {
	server := registrytest.Start(t)
	for name, change := range map[string]func(*gateway.Config){
		"by address": func(c *gateway.Config) { c.RegistryURLs = []string{server.URL} },
		"in process": func(c *gateway.Config) { c.RegistryTransport = handlerTransport{server.Handler} },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, change, kfake.SeedTopics(1, "t"))
			const records = "/v1/topics/t/records"
			text := e.want(http.StatusMultiStatus, "POST", records,
				`{"key_schema":{"schema":"\"string\"","register":true,"header":true},
				 "records":[{"key":"a","value":{"status":404, "path":"/\u00fc"}},{"value":{"path":5}},{"value":null},{"key":"b","value":{"path":"/2","zz":1}},{"value":{"path":""}}],
				 "value_schema":{"schema":`+hitSchema+`,"register":true}}`)
			results := decode[answer](t, text).Results
			for i, want := range []string{"", "records[1].value", "", "records[3].value", ""} {
				f := results[i].Error
				if want == "" {
					if f != nil {
						t.Errorf("record %d: %+v", i, f)
					}
					continue
				}
				if f == nil || f.Field != want || f.Reason != "SCHEMA_MISMATCH" || f.Code != 400 || f.Retriable {
					t.Errorf("record %d: %+v", i, f)
				}
			}
			got := e.want(200, "GET", records+"?key=schema&value=schema", "")
			want := []string{
				`"key":"a","key_format":"avro","key_schema":{"guid":"G"},"value":{"path":"/ü","status":{"int":404}},"value_format":"avro","value_schema":{"id":N},"headers":[{"key":"__key_schema_id"`,
				`"key":null,"value":null,"value_format":"null","headers":[]`,
				`"key":null,"value":{"path":"","status":null},"value_format":"avro","value_schema":{"id":N},"headers":[]`,
			}
			plain := guids.ReplaceAllString(regexp.MustCompile(`"id":\d+`).ReplaceAllString(got, `"id":N`), "G")
			for _, w := range want {
				if !strings.Contains(plain, w) {
					t.Errorf("no %s\nin %s", w, plain)
				}
			}
			described := decode[struct {
				Components struct {
					Schemas map[string]struct{ Properties map[string]any }
				}
			}](t, e.want(200, "GET", "/openapi.json", "")).Components.Schemas["ReadRecord"].Properties
			for _, r := range decode[struct{ Records []map[string]any }](t, got).Records {
				for member := range r {
					if described[member] == nil {
						t.Errorf("%s is not described", member)
					}
				}
			}
			raw := decode[answer](t, e.want(200, "GET", records+"?value=base64&limit=1", "")).Records[0]
			if b, err := base64.StdEncoding.DecodeString(*raw.ValueBase64); err != nil || b[0] != 0 || string(b[5:]) != "\x06/ü\x02\xa8\x06" || *raw.Key != "\x02a" {
				t.Errorf("stored are %q, %q, %v", *raw.Key, b, err)
			}
			id := part(t, got, `"value_schema":{"id":`, `}`)
			// The latest of the subject, a version, an id: no text is needed when it is there.
			for _, ref := range []string{`{}`, `{"subject":"t-value"}`, `{"subject":"t-value","version":"latest"}`, `{"subject":"t-value","version":1}`, `{"id":` + id + `}`} {
				e.want(200, "POST", records, `{"value_schema":`+ref+`,"records":[{"value":{"path":"x"}}]}`)
			}
		})
	}
}

// handlerTransport hands requests to a handler.
type handlerTransport struct{ http.Handler }

func (h handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestSchemasRefuse(t *testing.T) {
	server := registrytest.Start(t)
	e := newEnv(t, func(c *gateway.Config) { c.RegistryURLs = []string{server.URL} }, kfake.SeedTopics(1, "t"))
	const records = "/v1/topics/t/records"
	for _, tt := range []struct {
		schema string
		status int
		reason string
		text   string
	}{
		{`{"id":9}`, 404, "SCHEMA_NOT_FOUND", "id 9"},
		{`{}`, 404, "SCHEMA_NOT_FOUND", "t-value"},
		{`{"subject":"s","version":7}`, 404, "SCHEMA_NOT_FOUND", "s"},
		{`{"schema":"{"}`, 400, "SCHEMA_UNUSABLE", "invalid schema"},
		{`{"schema":"\"string\""}`, 404, "SCHEMA_NOT_FOUND", "t-value"},
		{`{"strategy":"record"}`, 400, "INVALID_SCHEMA_REFERENCE", "needs a subject"},
		{`{"schema":"\"string\"","register":true,"message":"M"}`, 400, "INVALID_SCHEMA_REFERENCE", "Protobuf"},
		{`{"schema":"\"int\"","register":true}`, 400, "REGISTRY_REFUSED", "incompatible"},
	} {
		a := decode[answer](t, e.want(tt.status, "POST", records, `{"records":[{"value":1}],"value_schema":`+tt.schema+`}`))
		if f := a.Results[0].Error; f == nil || f.Reason != tt.reason || !strings.Contains(f.Message, tt.text) {
			t.Errorf("%s: %+v", tt.schema, f)
		}
	}
	for body, field := range map[string]string{
		`{"records":[{"value":1}],"value_schema":{"idd":1}}`:                        "value_schema",
		`{"records":[{"value":1}],"value_schema":{"id":0}}`:                         "value_schema",
		`{"records":[{"value":1}],"value_schema":7}`:                                "value_schema",
		`{"records":[{"value":1}],"key_schema":{"version":0}}`:                      "key_schema",
		`{"records":[{"value":1}],"key_schema":{"schema":""}}`:                      "key_schema",
		`{"records":[{"value":1}],"value_schema":{"strategy":"x"}}`:                 "value_schema",
		`{"value_schema":{"id":1},"records":[{"value_base64":"AA=="}]}`:             "records[0].value_base64",
		`{"key_schema":{"id":1},"records":[{"key_base64":"AA=="}]}`:                 "records[0].key_base64",
		`{"value_schema":{"id":1},"value_schema":{"id":1},"records":[{"value":1}]}`: "value_schema",
		`{"values_schema":{"id":1},"records":[{"value":1}]}`:                        "values_schema",
	} {
		if f := e.wantFailure(400, "INVALID_ARGUMENT", "POST", records, body); f.Field != field {
			t.Errorf("%s: %+v", body, f)
		}
	}
	e.wantFailure(400, "INVALID_JSON", "POST", records, `{"value_schema":{"id":1},"records":[{"value":}]}`)
	if f := e.wantFailure(400, "INVALID_ARGUMENT", "POST", records, `{"value\u005fschema":{"id":1},"records":[{"value":1}]}`); f.Field != "value_schema" {
		t.Errorf("%+v", f)
	}
	e.wantFailure(400, "INVALID_ARGUMENT", "GET", records+"?key=json", "")
	e.want(200, "POST", records, `{"value_schema":null,"records":[{"value":"plain","key":"k"},{"value_base64":"AAAAAGM="}]}`)
	got := e.want(200, "GET", records+"?key=schema&value=schema", "")
	for _, want := range []string{
		`"key_base64":"aw==","key_format":"base64","key_decode_error":"the bytes name no schema"`,
		`"value_base64":"cGxhaW4=","value_format":"base64","value_decode_error":"the bytes name no schema"`,
		`"value_base64":"AAAAAGM=","value_format":"base64","value_decode_error":"no such schema`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s\nin %s", want, got)
		}
	}
}

// Without a registry a record that needs one fails alone, and so does a registry that is not there.
func TestNoRegistry(t *testing.T) {
	const body = `{"value_schema":{"id":1},"records":[{"value":1},{"value":null}]}`
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	a := decode[answer](t, e.want(http.StatusMultiStatus, "POST", "/v1/topics/t/records", body))
	if f := a.Results[0].Error; f == nil || f.Reason != "NO_REGISTRY" || f.Status != "FAILED_PRECONDITION" {
		t.Errorf("%+v", f)
	}
	e = newEnv(t, func(c *gateway.Config) { c.RegistryURLs = []string{"http://127.0.0.1:1"} }, kfake.SeedTopics(1, "t"))
	a = decode[answer](t, e.want(http.StatusMultiStatus, "POST", "/v1/topics/t/records", body))
	if f := a.Results[0].Error; f == nil || f.Reason != "REGISTRY_UNAVAILABLE" || f.Code != 503 || !f.Retriable {
		t.Errorf("%+v", f)
	}
	e = newEnv(t, func(c *gateway.Config) {
		c.RegistryTransport = handlerTransport{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != "u" || password != "p" {
				t.Errorf("user %q, password %q", user, password)
			}
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"error_code":40301,"message":"not you"}`))
		})}
		c.RegistryUser, c.RegistryPassword = "u", "p"
	}, kfake.SeedTopics(1, "t"))
	a = decode[answer](t, e.want(http.StatusMultiStatus, "POST", "/v1/topics/t/records", body))
	if f := a.Results[0].Error; f == nil || f.Reason != "REGISTRY_DENIED" || f.Code != 403 || f.Retriable {
		t.Errorf("%+v", f)
	}
}

// Short JSON may stand for much; what is beyond the bound of a request fails.
func TestSchemasBound(t *testing.T) {
	server := registrytest.Start(t)
	e := newEnv(t, func(c *gateway.Config) {
		c.RegistryURLs = []string{server.URL}
		c.MaxRequestBytes = 64 << 10
	}, kfake.SeedTopics(1, "t"))
	schema := `"{\"type\":\"record\",\"name\":\"L\",\"fields\":[{\"name\":\"s\",\"type\":\"string\",\"default\":\"` + strings.Repeat("x", 30<<10) + `\"}]}"`
	a := decode[answer](t, e.want(http.StatusMultiStatus, "POST", "/v1/topics/t/records",
		`{"value_schema":{"schema":`+schema+`,"register":true},"records":[{"value":{}},{"value":{}},{"value":{}}]}`))
	for i, r := range a.Results {
		if (r.Error == nil) != (i < 2) || i == 2 && r.Error.Reason != "REQUEST_TOO_LARGE" {
			t.Errorf("record %d: %+v", i, r.Error)
		}
	}
	e.produce(200, "t", `{"records":[{"value":1}]}`) // what was reserved is given back
}
