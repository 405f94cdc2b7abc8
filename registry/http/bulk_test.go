package http

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"moldau/registry"
	"moldau/registry/memory"
)

// bulky is a schema whose request counts against the budget.
func bulky(name string) string {
	return fmt.Sprintf(`{"type":"record","name":%q,"doc":%q,"fields":[]}`, name, strings.Repeat("x", 2*bulkyBody))
}

// TestBulkyBodiesShareMemory has a peer that sends half of a bulky body and no more: others of that size wait until it has used up the
// time of a request, small ones don't.
func TestBulkyBodiesShareMemory(t *testing.T) {
	e := newEnv(t, func(c *registry.Config) { c.RequestTimeout = 3 * time.Second })
	e.want("POST", "/subjects/first/versions", schema(bulky("First")), 200, `{"id":1}`)
	e.handler.(*Handler).memory = memory.NewBudget(1) // one page, which a single bulky body takes
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(e.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	body := schema(bulky("Slow"))
	began := time.Now()
	_, err = fmt.Fprintf(c, "POST /subjects/slow/versions HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		len(body), body[:bulkyBody+1])
	if err != nil {
		t.Fatal(err)
	}
	e.want("POST", "/subjects/small/versions", schema(hit1), 200, `{"id":2}`)
	for i := range 3 {
		e.do("POST", fmt.Sprintf("/subjects/s%d/versions", i), schema(bulky("Second"))) // which may wait for longer than it has
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(answer), "can't be read") {
		t.Errorf("%d %s, %v", resp.StatusCode, answer, err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("a peer kept the memory for %s", took)
	}
	e.want("POST", "/subjects/last/versions", schema(bulky("Second")), 200, `{"id":3}`)
}

// TestNoMemoryForABulkyBody is what others are told when the memory is not given back in time.
func TestNoMemoryForABulkyBody(t *testing.T) {
	e := newEnv(t, func(c *registry.Config) { c.RequestTimeout = 100 * time.Millisecond })
	h := e.handler.(*Handler)
	h.memory = memory.NewBudget(1)
	give, err := h.memory.Take(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	e.want("POST", "/subjects/s/versions", schema(bulky("R")), 500,
		`{"error_code":50002,"message":"The operation timed out: too many large requests at once: context deadline exceeded"}`)
	give()
}

// TestLongList reads more schemas than are sent in one piece.
func TestLongList(t *testing.T) {
	e := newEnv(t)
	const n = 5
	for i := range n {
		e.want("POST", fmt.Sprintf("/subjects/s%d/versions", i), schema(bulky(fmt.Sprintf("R%d", i))), 200, fmt.Sprintf(`{"id":%d}`, i+1))
	}
	var list []struct{ Subject, Schema string }
	e.get("/schemas", &list)
	if len(list) != n {
		t.Fatalf("%d schemas", len(list))
	}
	for i, s := range list {
		if s.Subject != fmt.Sprintf("s%d", i) || s.Schema != bulky(fmt.Sprintf("R%d", i)) {
			t.Errorf("%d: %s, %d bytes", i, s.Subject, len(s.Schema))
		}
	}
	e.want("GET", "/schemas?subjectPrefix=none", "", 200, "[]")
}
