package http

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf16"

	"moldau/registry"
)

func TestMediaTypes(t *testing.T) {
	e := newEnv(t)
	for _, c := range []struct{ accept, want string }{
		{"", defaultMedia},
		{"*/*", defaultMedia},
		{"application/*", defaultMedia},
		{"application/json", jsonMedia},
		{"application/vnd.schemaregistry+json", otherMedia},
		{"application/vnd.schemaregistry.v1+json, application/json", defaultMedia},
		{"text/html, application/json;q=0.1", jsonMedia},
		{"application/json, */*;q=0.01", jsonMedia},
		{"*/whatever", defaultMedia},
		{"*", defaultMedia},
		{"text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", defaultMedia},
		{"application/vnd.schemaregistry.v2+json; q=0.1, application/vnd.schemaregistry+json; q=0.9", otherMedia},
	} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", e.url+"/subjects", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", c.accept)
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || got != c.want {
			t.Errorf("accept %q: %d %s, want %s", c.accept, resp.StatusCode, got, c.want)
		}
	}
	e.want("GET", "/subjects", "", 406, `{"error_code":406,"message":"HTTP 406 Not Acceptable"}`, "Accept", "text/html")
	for _, ct := range []string{"application/json; charset=utf-8", "application/octet-stream", otherMedia, ""} {
		e.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`, "Content-Type", ct)
	}
	e.want("POST", "/subjects/s/versions", schema(hit1), 415, `{"error_code":415,"message":"HTTP 415 Unsupported Media Type"}`, "Content-Type", "text/plain")
}

func TestBodiesInOtherCharacterSets(t *testing.T) {
	e := newEnv(t)
	text := schema(`{"type":"record","name":"R","doc":"grüße 😀","fields":[]}`)
	units := utf16.Encode([]rune(text))
	little, big := []byte{}, []byte{}
	for _, u := range units {
		little, big = append(little, byte(u), byte(u>>8)), append(big, byte(u>>8), byte(u))
	}
	for name, body := range map[string]string{
		"little": string(little), "big": string(big), "little with mark": "\xff\xfe" + string(little),
		"big with mark": "\xfe\xff" + string(big), "utf-8 with mark": "\ufeff" + text, "utf-8": text,
	} {
		t.Run(name, func(*testing.T) {
			e.want("POST", "/subjects/s/versions", body, 200, `{"id":1}`, "Content-Type", defaultMedia+"; charset=utf-16")
		})
	}
	for _, body := range []string{"\xff\xfe", "\x00", "{\x00", "\x00{", "\xff\xfe{", "\xef\xbb\xbf"} {
		if status, answer := e.do("POST", "/subjects/s/versions", body); status != 400 && status != 422 {
			t.Errorf("%q: %d %s", body, status, answer)
		}
	}
}

func TestRequestsThatAreNone(t *testing.T) {
	e := newEnv(t, func(c *registry.Config) { c.MaxRequestBytes, c.MaxSchemaBytes = 4096, 2000 })
	e.want("GET", "/nowhere", "", 404, `{"error_code":404,"message":"HTTP 404 Not Found"}`)
	e.want("PUT", "/subjects", "", 405, `{"error_code":405,"message":"HTTP 405 Method Not Allowed"}`)
	e.want("POST", "/", "", 200, `{}`)
	e.want("GET", "//subjects/", "", 200, `[]`)
	e.want("POST", "/subjects/s/versions", `{`, 400, `{"error_code":400...`)
	e.want("POST", "/subjects/s/versions", `null`, 422, `{"error_code":422...`)
	e.want("POST", "/subjects/s/versions", ` `, 422, `{"error_code":422...`)
	e.want("POST", "/subjects/s/versions", `{"schema":{}}`, 400, `{"error_code":400...`)
	e.want("POST", "/subjects/s/versions", `{"schema":"\"int\"","unknown":[1]}`, 200, `{"id":1}`)
	e.want("POST", "/subjects/s/versions", schema(strings.Repeat("x", 5000)), 413, `{"error_code":413...`)
	e.want("POST", "/subjects/s/versions", schema(`"`+strings.Repeat("x", 2500)+`"`), 422, `{"error_code":42209...`)
	e.want("POST", "/subjects/s/versions", schema("x", `,"schemaType":"XML"`), 422, `{"error_code":42201,"message":"Invalid schema type XML"}`)
	e.want("GET", "/subjects?x=%zz", "", 400, `{"error_code":400...`)
	e.want("HEAD", "/subjects", "", 200, ``)
}

func TestServerMetadata(t *testing.T) {
	e := newEnv(t)
	e.want("GET", "/v1/metadata/id", "", 200, `{"scope":{"path":[],"clusters":{"kafka-cluster":"...`)
	e.want("GET", "/v1/metadata/version", "", 200, `{"version":"dev","commitId":""}`)
	e.want("GET", "/v1/metadata/deployment", "", 200, `{"attributes":[]}`)
	e.want("GET", "/schemas/types", "", 200, `["AVRO"...`)
}
