package http

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkRequests measures the door without the network: reads, and a registration of what is there already.
func BenchmarkRequests(b *testing.B) {
	e := newEnv(b)
	e.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`)
	for _, c := range []struct{ name, method, path, body string }{
		{"id", "GET", "/schemas/ids/1", ""},
		{"latest", "GET", "/subjects/s/versions/latest", ""},
		{"same", "POST", "/subjects/s/versions", schema(hit1)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				req := httptest.NewRequestWithContext(b.Context(), c.method, c.path, strings.NewReader(c.body))
				req.Header.Set("Content-Type", defaultMedia)
				w := httptest.NewRecorder()
				e.handler.ServeHTTP(w, req)
				if w.Code != http.StatusOK {
					b.Fatalf("%d %s", w.Code, w.Body)
				}
			}
		})
	}
}
