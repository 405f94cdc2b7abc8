package rest

import (
	"math"
	"net/http"

	"moldau/gateway"
)

// readLines answers with a line of JSON per record, and {"cursor":"…"} as the last line. Without a limit it sends what
// is there until it has caught up. If it has sent nothing by then, it waits for a first record as long as wait says. A
// fault that comes up on the way ends the answer with {"error":{…},"cursor":"…"}.
func (h *handler) readLines(w http.ResponseWriter, r *http.Request, q *readQuery) string {
	left := q.limit
	if left == 0 {
		left = math.MaxInt
	}
	reader, err := h.gw.Open(r.Context(), h.principal(r), q.request)
	if err != nil {
		return fail(w, err)
	}
	defer reader.Close()
	records, err := reader.Next(r.Context(), min(left, gateway.MaxReadLimit), q.wait)
	if err != nil {
		return fail(w, err)
	}
	s := begin(w, ndjsonType)
	defer s.end()
	for {
		q.piece(h.gw)
		for _, rec := range records {
			s.buf = append(q.appendRecord(r.Context(), s.buf, rec), '\n')
		}
		left -= len(records)
		if len(records) == 0 || left == 0 {
			break
		}
		if s.send() != nil {
			return "CANCELLED"
		}
		if records, err = reader.Next(r.Context(), min(left, gateway.MaxReadLimit), 0); err != nil {
			code := s.failLine(err, reader)
			s.buf = append(s.buf, '\n')
			_ = s.send() // nobody is left to tell if that fails
			return code
		}
	}
	s.buf = append(s.buf, `{"cursor":"`...)
	s.buf = reader.AppendCursor(s.buf)
	s.buf = append(s.buf, "\"}\n"...)
	if s.send() != nil {
		return "CANCELLED"
	}
	return "OK"
}
