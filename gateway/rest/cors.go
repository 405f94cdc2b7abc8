package rest

import (
	"net/http"
	"slices"
)

// withCORS lets browsers on the given origins call h; * stands for every origin. Credentials are never allowed: a page
// sends them itself, in a header. Without origins it is h as it is.
func withCORS(origins []string, h http.Handler) http.Handler {
	if len(origins) == 0 {
		return h
	}
	every := slices.Contains(origins, "*")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		header := w.Header()
		header.Add("Vary", "Origin")
		if origin == "" || !every && !slices.Contains(origins, origin) {
			h.ServeHTTP(w, r)
			return
		}
		if every {
			origin = "*"
		}
		header.Set("Access-Control-Allow-Origin", origin)
		header.Set("Access-Control-Expose-Headers", "Retry-After")
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			h.ServeHTTP(w, r)
			return
		}
		header.Set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE")
		header.Set("Access-Control-Allow-Headers", "Content-Type, Authorization, Last-Event-ID")
		header.Set("Access-Control-Max-Age", "3600")
		w.WriteHeader(http.StatusNoContent)
	})
}
