package rest

import (
	"net/http"
	"strconv"
	"time"

	"moldau/gateway"
)

// get serves GET of records, in the form that the Accept header asks for.
func (h *handler) get(w http.ResponseWriter, r *http.Request, topic string, partition int32) {
	start := time.Now()
	w.Header().Add("Vary", "Accept")
	form := accepted(r.Header, jsonType, ndjsonType, sseType)
	if form == "" {
		f := notAcceptable(jsonType, ndjsonType, sseType)
		writeFailure(w, f)
		h.read.Done(start, gateway.CodeName(f.Code))
		return
	}
	q, err := parseQuery(r.URL.RawQuery, topic, partition)
	if err == nil {
		err = h.gw.CheckWait(q.wait)
	}
	if err != nil {
		h.read.Done(start, fail(w, err))
		return
	}
	switch form {
	case ndjsonType:
		h.read.Done(start, h.readLines(w, r, &q))
	case sseType:
		h.tailed.Streamed(h.tail(w, r, &q))
	default:
		h.read.Done(start, h.readOnce(w, r, &q))
	}
}

// readOnce answers with one JSON document: {"records":[…],"cursor":"…"}.
func (h *handler) readOnce(w http.ResponseWriter, r *http.Request, q *readQuery) string {
	limit, err := h.gw.CheckLimit(q.limit)
	if err != nil {
		return fail(w, err)
	}
	reader, err := h.gw.Open(r.Context(), h.principal(r), q.request)
	if err != nil {
		return fail(w, err)
	}
	defer reader.Close()
	records, err := reader.Next(r.Context(), limit, q.wait)
	if err != nil {
		return fail(w, err)
	}
	out := make([]byte, 0, 512+len(records)*256)
	out = append(out, `{"records":[`...)
	q.piece(h.gw)
	for i, rec := range records {
		if i > 0 {
			out = append(out, ',')
		}
		out = q.appendRecord(r.Context(), out, rec)
	}
	out = append(out, `],"cursor":"`...)
	out = reader.AppendCursor(out)
	out = append(out, "\"}\n"...)
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Content-Length", strconv.Itoa(len(out)))
	_, _ = w.Write(out) //nolint:gosec // JSON, declared as such, with nosniff; the peer is gone if it fails
	return "OK"
}

// stream writes pieces of an answer that is sent as it comes, each within sendTimeout.
type stream struct {
	w   http.ResponseWriter
	ctl *http.ResponseController
	buf []byte
}

// begin sends the header. Errors have no status of their own from here on.
func begin(w http.ResponseWriter, contentType string) *stream {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies that know it pass pieces on at once
	w.WriteHeader(http.StatusOK)
	return &stream{w: w, ctl: http.NewResponseController(w)}
}

// send sends what is in buf.
func (s *stream) send() error {
	_ = s.ctl.SetWriteDeadline(time.Now().Add(sendTimeout)) // servers without deadlines bound their writes themselves
	if _, err := s.w.Write(s.buf); err != nil {
		return err
	}
	s.buf = s.buf[:0]
	return s.ctl.Flush()
}

// end takes the deadline back, which the next request on the connection must not inherit.
func (s *stream) end() { _ = s.ctl.SetWriteDeadline(time.Time{}) }

// failLine appends {"error":{…},"cursor":"…"}, the cursor if there is one.
func (s *stream) failLine(err error, reader *gateway.Reader) string {
	f := gateway.FailureOf(err)
	s.buf = appendFailure(append(s.buf, `{"error":`...), &f)
	if reader != nil {
		s.buf = append(s.buf, `,"cursor":"`...)
		s.buf = reader.AppendCursor(s.buf)
		s.buf = append(s.buf, '"')
	}
	s.buf = append(s.buf, '}')
	return gateway.CodeName(f.Code)
}
