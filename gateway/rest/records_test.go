package rest

import (
	"net/http"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
)

// What goes in comes out: every digit, every byte, headers and time.
func TestRoundTrip(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	body := `{"records":[
		{"key":"k1","value":{"id": 9007199254740993, "x": 1.10, "s":"a\u00e9\n"},"headers":[{"key":"h","value":"v"},{"key":"b","value_base64":"AP8="},{"key":"n","value":null}],"timestamp":"2026-01-02T03:04:05.678Z"},
		{"key":7,"value":"plain \"text\""},
		{"key_base64":"AAH/","value_base64":"/w=="},
		{"key":null,"value":null},
		{"value":"","partition":0}
	]}`
	got := decode[answer](t, e.want(http.StatusOK, "POST", "/v1/topics/t/records", body, "Content-Type", "application/json; charset=utf-8"))
	if len(got.Results) != 5 || got.Results[0].Timestamp != "2026-01-02T03:04:05.678Z" || got.Results[4].Offset != "4" {
		t.Fatalf("results %+v", got.Results)
	}
	read := decode[answer](t, e.want(http.StatusOK, "GET", "/v1/topics/t/records", ""))
	if len(read.Records) != 5 {
		t.Fatalf("%d records: %+v", len(read.Records), read)
	}
	r := read.Records[0]
	if string(r.Value) != `{"id":9007199254740993,"x":1.10,"s":"a\u00e9\n"}` || r.ValueFormat != "json" || *r.Key != "k1" ||
		r.Timestamp != "2026-01-02T03:04:05.678Z" || len(r.Headers) != 3 || *r.Headers[0].Value != "v" ||
		*r.Headers[1].ValueBase64 != "AP8=" || r.Headers[2].Value != nil {
		t.Errorf("record 0: %+v %s", r, r.Value)
	}
	if r = read.Records[1]; string(r.Value) != `"plain \"text\""` || r.ValueFormat != "text" || *r.Key != "7" {
		t.Errorf("record 1: %+v", r)
	}
	if r = read.Records[2]; *r.KeyBase64 != "AAH/" || *r.ValueBase64 != "/w==" || r.ValueFormat != "base64" {
		t.Errorf("record 2: %+v", r)
	}
	if r = read.Records[3]; r.Key != nil || string(r.Value) != "null" || r.ValueFormat != "null" {
		t.Errorf("record 3: %+v", r)
	}
	if r = read.Records[4]; string(r.Value) != `""` || r.ValueFormat != "text" {
		t.Errorf("record 4: %+v", r)
	}
}
