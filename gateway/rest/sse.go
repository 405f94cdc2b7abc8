package rest

import (
	"net/http"
	"time"

	"moldau/gateway"
)

const (
	// heartbeat is how often a stream without records shows that it is alive.
	heartbeat = 15 * time.Second
	// eventChunk is how many records are sent in one piece.
	eventChunk = 500
	// manyPartitions is from where on cursors are so long that only the last record of a piece carries one.
	manyPartitions = 64
)

// tail answers with server-sent events, one per record, until the peer leaves. The id of an event is the cursor behind
// it, which a browser sends as Last-Event-ID when it connects again; so does an event without data at the beginning.
// Without a position it begins behind the latest record.
func (h *handler) tail(w http.ResponseWriter, r *http.Request, q *readQuery) string {
	if q.limit != 0 || q.wait != 0 {
		return fail(w, badQuery("", "limit and wait are not for event streams, which have no end"))
	}
	if id := lastEventID(r.Header); id != "" {
		q.request.Start = gateway.FromCursor(id)
	} else if !q.started {
		q.request.Start = gateway.FromLatest()
	}
	reader, err := h.gw.Open(r.Context(), h.principal(r), q.request)
	if err != nil {
		return fail(w, err)
	}
	defer reader.Close()
	s := begin(w, sseType)
	defer s.end()
	s.buf = append(s.buf, "retry: 2000\nid: "...)
	s.buf = reader.AppendCursor(s.buf)
	s.buf = append(s.buf, "\n\n"...)
	every := reader.Partitions() < manyPartitions
	for {
		if s.send() != nil {
			return "CANCELLED"
		}
		records, err := reader.Next(r.Context(), eventChunk, h.heartbeat)
		if err != nil {
			return s.lastEvent(r, err)
		}
		q.piece(h.gw)
		for i, rec := range records {
			if every || i == len(records)-1 {
				s.buf = append(s.buf, "id: "...)
				s.buf = reader.AppendCursorAfter(s.buf, i)
				s.buf = append(s.buf, '\n')
			}
			s.buf = append(s.buf, "data: "...)
			s.buf = q.appendRecord(r.Context(), s.buf, rec)
			s.buf = append(s.buf, "\n\n"...)
		}
		if len(records) == 0 {
			s.buf = append(s.buf, ": heartbeat\n\n"...)
		}
	}
}

// lastEvent ends a stream. A peer that is still there is told why, by an event of the type error.
func (s *stream) lastEvent(r *http.Request, err error) string {
	if r.Context().Err() != nil {
		return "OK" // the peer left: that is how a stream ends
	}
	s.buf = append(s.buf, "event: error\ndata: "...)
	code := s.failLine(err, nil)
	s.buf = append(s.buf, "\n\n"...)
	_ = s.send() // nobody is left to tell if that fails
	return code
}
