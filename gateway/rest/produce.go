package rest

import (
	"net/http"
	"strconv"
	"time"

	"moldau/gateway"
)

// produceCall is the memory of one produce request, which the next one uses again.
type produceCall struct {
	body  []byte
	batch *gateway.Batch
	out   []byte
}

func (h *handler) newCall() *produceCall {
	if c, ok := h.calls.Get().(*produceCall); ok {
		return c
	}
	return &produceCall{batch: gateway.NewBatch()}
}

// keptRecords is the largest batch that is kept for the next request.
const keptRecords = 1024

// freeCall keeps the memory of a call, unless the Kafka client still uses it or it is unusually large.
func (h *handler) freeCall(c *produceCall) {
	if c.batch.Abandoned() || cap(c.body) > keptBody || cap(c.batch.Records) > keptRecords {
		return
	}
	c.batch.Reset()
	h.calls.Put(c)
}

// produce serves POST of records, in the form that the Content-Type tells.
func (h *handler) produce(w http.ResponseWriter, r *http.Request, topic string, partition int32) {
	start := time.Now()
	kind, f := bodyType(r.Header, jsonType, ndjsonType, bytesType)
	if f == nil && kind == ndjsonType {
		h.produceLines(w, r, topic, partition)
		return
	}
	if f == nil && accepted(r.Header, jsonType) == "" {
		f = notAcceptable(jsonType)
	}
	if f != nil {
		writeFailure(w, f)
		h.produced.Done(start, gateway.CodeName(f.Code))
		return
	}
	c := h.newCall()
	defer h.freeCall(c)
	var err error
	var reserved int64
	if c.body, reserved, err = h.readBody(w, r, c.body); err == nil {
		if kind == bytesType {
			err = c.one(r.URL.RawQuery, partition)
		} else {
			err = parseRecords(c.body, c.batch, h.cfg.MaxRecords, partition)
		}
		if err == nil {
			err = h.gw.Produce(r.Context(), h.principal(r), topic, c.batch)
		}
	}
	h.gw.Unreserve(reserved)
	if err != nil {
		h.produced.Done(start, fail(w, err))
		return
	}
	status, code := c.encode()
	header := w.Header()
	header.Set("Content-Type", jsonType)
	header.Set("Content-Length", strconv.Itoa(len(c.out)))
	w.WriteHeader(status)
	_, _ = w.Write(c.out) // the peer is gone if that fails
	h.produced.Done(start, code)
}

// principal returns the principal for which a request is served.
func (h *handler) principal(*http.Request) string { return h.cfg.Principal }

// encode writes the results to out. It returns 200 if all records were written, 207 if some were, else the status of
// the failures: the one that all have, or the highest.
func (c *produceCall) encode() (status int, code string) {
	dst := append(c.out[:0], `{"results":[`...)
	worst, failed := gateway.Failure{}, 0
	for i := range c.batch.Records {
		if i > 0 {
			dst = append(dst, ',')
		}
		if err := c.batch.Err(i); err != nil {
			f := gateway.FailureOf(err)
			if f.HTTPStatus > worst.HTTPStatus {
				worst = f
			}
			failed++
			dst = append(dst, `{"error":`...)
			dst = appendFailure(dst, &f)
			dst = append(dst, '}')
			continue
		}
		dst = c.appendResult(dst, i)
	}
	c.out = append(dst, "]}\n"...)
	switch failed {
	case 0:
		return http.StatusOK, "OK"
	case len(c.batch.Records):
		return worst.HTTPStatus, gateway.CodeName(worst.Code)
	}
	return http.StatusMultiStatus, gateway.CodeName(worst.Code)
}

// appendResult appends where record i was written.
func (c *produceCall) appendResult(dst []byte, i int) []byte {
	r := &c.batch.Records[i]
	dst = append(dst, `{"partition":`...)
	dst = strconv.AppendInt(dst, int64(r.Partition), 10)
	dst = append(dst, `,"offset":"`...)
	dst = strconv.AppendInt(dst, r.Offset, 10)
	dst = append(dst, '"')
	if !r.Timestamp.IsZero() {
		dst = append(dst, `,"timestamp":`...)
		dst = appendTime(dst, r.Timestamp)
	}
	return append(dst, '}')
}
