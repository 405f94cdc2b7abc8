package rest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"moldau/gateway"
)

// firstRead is how much room a body of unknown length gets at first.
const firstRead = 4 << 10

// keptBody is the largest buffer that is kept for the next request.
const keptBody = 256 << 10

// readBody reads a body into buf, which it may replace by a larger one, and reserves the memory for it. The room grows
// as bytes arrive, never by the length that the peer declares. Give reserved back with Unreserve, whatever the outcome.
func (h *handler) readBody(w http.ResponseWriter, r *http.Request, buf []byte) (body []byte, reserved int64, err error) {
	limit := h.cfg.MaxRequestBytes
	if r.ContentLength > int64(limit) {
		w.Header().Set("Connection", "close") // the body is not read
		return buf, 0, tooLarge(limit)
	}
	if r.ContentLength < 0 || r.ContentLength > firstRead {
		allowed := bodyGrace + time.Duration(max(r.ContentLength, 0)/bodyRate)*time.Second
		if r.ContentLength < 0 {
			allowed = bodyGrace + time.Duration(limit/bodyRate)*time.Second
		}
		ctl := http.NewResponseController(w) // servers that can't set deadlines bound their requests themselves
		_ = ctl.SetReadDeadline(time.Now().Add(allowed))
		// The server goes on reading to notice that the peer leaves: a deadline would end the request then.
		defer func() { _ = ctl.SetReadDeadline(time.Time{}) }()
	}
	body = buf[:0]
	for {
		if len(body) == cap(body) {
			grown := make([]byte, len(body), max(2*cap(body), firstRead))
			copy(grown, body)
			body = grown
		}
		if more := int64(cap(body)) - reserved; more > 0 {
			if err := h.gw.Reserve(more); err != nil {
				return body, reserved, err
			}
			reserved += more
		}
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case len(body) > limit:
			w.Header().Set("Connection", "close")
			return body, reserved, tooLarge(limit)
		case errors.Is(err, io.EOF):
			return body, reserved, nil
		case err != nil:
			return body, reserved, &gateway.InvalidError{
				Record: -1, Reason: "BODY_INCOMPLETE", Message: fmt.Sprintf("the body ended early: %v", err),
			}
		}
	}
}

func tooLarge(limit int) error {
	return fmt.Errorf("%w: the body may have %d bytes", gateway.ErrTooLarge, limit)
}
