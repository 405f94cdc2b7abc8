package rest

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"moldau/gateway"
)

const (
	// linesFlush is from where on results are sent although more of them follow at once.
	linesFlush = 32 << 10
	// linesErrors is how many failed records a summary names.
	linesErrors = 100
)

// errPeerGone says that an answer could not be sent.
var errPeerGone = errors.New("the peer takes no answers")

// linesTally tells the outcomes of a stream of records: a line for each, or one summary at the end.
type linesTally struct {
	w       http.ResponseWriter
	asLines bool
	out     *stream // once the header is sent

	records, failed int64
	worst           gateway.Failure
	errors          []byte // of the first failed records, as elements of an array
	named           int
	err             error // which ended the stream
}

// tell tells the outcomes of a piece; with flush, at once.
func (t *linesTally) tell(p *piece, flush bool) error {
	if t.asLines && t.out == nil {
		t.out = begin(t.w, ndjsonType)
	}
	for i := range p.batch.Records {
		err := p.batch.Err(i)
		t.records++
		switch {
		case err != nil:
			t.fail(err, p.first+int64(i), i)
		case t.asLines:
			t.out.buf = append(p.appendResult(t.out.buf, i), '\n')
		}
	}
	if t.asLines && (flush || len(t.out.buf) >= linesFlush) && t.out.send() != nil {
		return errPeerGone
	}
	return nil
}

// fail tells that a record failed: by its number in the stream, at is its place in its piece.
func (t *linesTally) fail(err error, number int64, at int) {
	t.failed++
	f := gateway.FailureOf(err)
	f.Record = int(number)
	f.Field = strings.TrimPrefix(f.Field, "records["+strconv.Itoa(at)+"].")
	if f.HTTPStatus > t.worst.HTTPStatus {
		t.worst = f
	}
	switch {
	case t.asLines:
		t.out.buf = append(appendFailure(append(t.out.buf, `{"error":`...), &f), "}\n"...)
	case t.named < linesErrors:
		if t.named++; t.named > 1 {
			t.errors = append(t.errors, ',')
		}
		t.errors = appendFailure(t.errors, &f)
	}
}

// finish ends the answer; err is what the body ended with. It returns the name of the code.
func (t *linesTally) finish(err error) string {
	if t.err == nil {
		t.err = err
	}
	if t.err == nil && t.records == 0 {
		t.err = &gateway.InvalidError{Record: -1, Message: "there must be at least one record"}
	}
	switch {
	case errors.Is(t.err, errPeerGone):
		return "CANCELLED"
	case t.records == 0:
		return fail(t.w, t.err)
	}
	code, status := "OK", http.StatusOK
	switch {
	case t.failed < t.records && (t.failed > 0 || t.err != nil):
		status = http.StatusMultiStatus
	case t.failed == t.records:
		status = t.worst.HTTPStatus
	}
	if t.failed > 0 {
		code = gateway.CodeName(t.worst.Code)
	}
	out := t.out
	if out == nil {
		out = &stream{w: t.w, ctl: http.NewResponseController(t.w)}
		t.w.Header().Set("Content-Type", jsonType)
		t.w.WriteHeader(status)
	}
	defer out.end()
	out.buf = append(out.buf, `{"records":`...)
	out.buf = strconv.AppendInt(out.buf, t.records, 10)
	out.buf = append(out.buf, `,"failed":`...)
	out.buf = strconv.AppendInt(out.buf, t.failed, 10)
	if t.named > 0 {
		out.buf = append(append(append(out.buf, `,"errors":[`...), t.errors...), ']')
	}
	if t.err != nil {
		f := gateway.FailureOf(t.err)
		out.buf = appendFailure(append(out.buf, `,"error":`...), &f)
		code = gateway.CodeName(f.Code)
	}
	out.buf = append(out.buf, "}\n"...)
	if out.send() != nil {
		return "CANCELLED"
	}
	return code
}
