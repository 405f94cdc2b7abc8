package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"moldau/gateway"
	"moldau/internal/jsontext"
)

const (
	// linesWindow is how many pieces of a stream may be under way at a time. When they are, no more is read.
	linesWindow = 8
	// linesPiece is how much room a piece gets; a line that is longer gets more. linesRecords is what it holds at most.
	linesPiece   = 32 << 10
	linesRecords = 500
	// linesIdle is how long a stream may be without a byte.
	linesIdle = 5 * time.Minute
)

// piece is a part of a stream that is under way.
type piece struct {
	*produceCall
	first    int64 // the number of its first record
	reserved int64
	err      error // nothing of it was handed to the broker
}

// lineStream is a request whose body has a record on each line and may have no end. The goroutine of the handler reads and
// hands to the broker; another one waits for the outcomes and tells them.
type lineStream struct {
	h      *handler
	r      *http.Request
	ctl    *http.ResponseController
	ctx    context.Context
	cancel func() // ends ctx, and with it the wait for outcomes
	topic  string
	query  linesQuery
	most   int // records of a piece

	// Of the goroutine that reads.
	idle time.Duration
	read int64 // records so far
	eof  bool
	line recordsBody

	tally linesTally // of the goroutine that answers, and of the handler after it
}

// produceLines serves POST of records as lines. Pieces are sent as they arrive, so what was read of a body that breaks off
// is written.
func (h *handler) produceLines(w http.ResponseWriter, r *http.Request, topic string, partition int32) {
	start := time.Now()
	w.Header().Add("Vary", "Accept")
	form := accepted(r.Header, jsonType, ndjsonType)
	if form == "" {
		f := notAcceptable(jsonType, ndjsonType)
		writeFailure(w, f)
		h.produced.Done(start, gateway.CodeName(f.Code))
		return
	}
	query, err := parseLinesQuery(r.URL.RawQuery, partition)
	if err != nil {
		h.produced.Done(start, fail(w, err))
		return
	}
	ctl := http.NewResponseController(w)
	_ = ctl.EnableFullDuplex() // HTTP/2 always is
	// The server ends the context of the request when the body can't be read; what came before that is still delivered.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	s := &lineStream{
		h: h, r: r, ctl: ctl, ctx: ctx, cancel: cancel, topic: topic, query: query, idle: h.idle,
		most:  min(linesRecords, h.cfg.MaxRecords),
		tally: linesTally{w: w, asLines: form == ndjsonType},
	}
	h.streamed.Streamed(s.serve())
}

// serve returns the name of the code of the outcome.
func (s *lineStream) serve() string {
	window := make(chan *piece, linesWindow-1) // and one in the hands of the goroutine that answers
	answered := make(chan struct{})
	go func() { // ends when the window is closed
		defer close(answered)
		s.answer(window)
	}()
	watched := make(chan struct{})
	go func() { // ends with ctx, which ends below
		defer close(watched)
		select {
		case <-s.h.gw.Closing(): // what was read is still told
			s.wake()
		case <-s.ctx.Done():
		}
	}()
	err := s.receive(window)
	close(window)
	<-answered
	if err != nil || !s.eof {
		s.tally.w.Header().Set("Connection", "close") // the rest of the body is not read
	}
	code := s.tally.finish(err)
	s.cancel()
	<-watched
	return code
}

// receive reads the body to its end and hands its records to the broker, piece by piece.
func (s *lineStream) receive(window chan<- *piece) error {
	p, err := s.newPiece(nil)
	for err == nil {
		err = s.fill(p)
		rest := s.parse(p)
		if err != nil || len(rest) == 0 && s.eof {
			s.send(p, window)
			return err
		}
		next, short := s.newPiece(rest)
		s.send(p, window)
		p, err = next, short
	}
	s.free(p)
	return err
}

// newPiece returns a piece that begins with what was left of the last one.
func (s *lineStream) newPiece(rest []byte) (*piece, error) {
	p := &piece{produceCall: s.h.newCall(), first: s.read}
	most := max(s.h.cfg.MaxRequestBytes+1, len(rest)) // a line that fills it is too long
	if room := min(max(linesPiece, len(rest)), most); cap(p.body) < room {
		p.body = make([]byte, 0, room)
	}
	p.body = append(p.body[:0:min(cap(p.body), most)], rest...)
	return p, s.reserve(p)
}

// reserve takes the memory of a piece's body.
func (s *lineStream) reserve(p *piece) error {
	more := int64(cap(p.body)) - p.reserved
	if err := s.h.gw.Reserve(more); err != nil {
		return err
	}
	p.reserved += more
	return nil
}

func (s *lineStream) free(p *piece) {
	s.h.gw.Unreserve(p.reserved)
	s.h.freeCall(p.produceCall)
}

// fill reads until p has a whole line or the body ends.
func (s *lineStream) fill(p *piece) error {
	limit := s.h.cfg.MaxRequestBytes
	for seen := 0; !s.eof && bytes.IndexByte(p.body[seen:], '\n') < 0; {
		seen = len(p.body)
		if seen > limit {
			return fmt.Errorf("%w: a line may have %d bytes", gateway.ErrTooLarge, limit)
		}
		if seen == cap(p.body) {
			p.body = append(make([]byte, 0, min(2*cap(p.body), limit+1)), p.body...)
			if err := s.reserve(p); err != nil {
				return err
			}
		}
		_ = s.ctl.SetReadDeadline(time.Now().Add(s.idle))
		if err := s.ended(); err != nil {
			return err
		}
		n, err := s.r.Body.Read(p.body[seen:cap(p.body)])
		p.body = p.body[:seen+n]
		switch {
		case errors.Is(err, io.EOF):
			s.eof = true
			_ = s.ctl.SetReadDeadline(time.Time{}) // which the next request on the connection must not inherit
		case err != nil:
			if ended := s.ended(); ended != nil {
				return ended
			}
			return &gateway.InvalidError{Record: -1, Reason: "BODY_INCOMPLETE", Message: fmt.Sprintf("the body ended early: %v", err)}
		}
	}
	return nil
}

// wake ends a read that waits for the body. Servers that can't set deadlines bound their requests themselves.
func (s *lineStream) wake() { _ = s.ctl.SetReadDeadline(time.Now()) }

// ended tells whether the peer, the one who answers or the gateway is done.
func (s *lineStream) ended() error {
	select {
	case <-s.h.gw.Closing():
		return gateway.ErrClosed
	default:
		return s.ctx.Err()
	}
}

// parse takes the whole lines of a piece and returns what is left. A line that is no record fails alone.
func (s *lineStream) parse(p *piece) (rest []byte) {
	rest = p.body
	for len(p.batch.Records) < s.most && len(rest) > 0 {
		line, behind, whole := bytes.Cut(rest, []byte{'\n'})
		if !whole && !s.eof {
			break
		}
		rest = behind
		if line = bytes.Trim(line, " \t\r"); len(line) > 0 {
			s.parseLine(p, line)
		}
	}
	s.read += int64(len(p.batch.Records))
	return rest
}

func (s *lineStream) parseLine(p *piece, line []byte) {
	at := len(p.batch.Records)
	body := &s.line
	*body = recordsBody{
		Scanner: jsontext.Scanner{Data: line}, batch: p.batch, max: math.MaxInt, fixed: s.query.partition, record: -1, header: -1,
		keySchema: s.query.keySchema, valueSchema: s.query.valueSchema,
	}
	err := body.one()
	if err == nil && (body.Space() != 0 || body.Pos < len(body.Data)) {
		err = body.Unexpected("the end of the line")
	}
	if err == nil {
		return
	}
	bad := &gateway.InvalidError{Field: body.path(), Record: at, Message: err.Error()}
	var syntax *jsontext.SyntaxError
	if errors.As(err, &syntax) {
		bad.Reason = "INVALID_JSON"
	}
	p.batch.Refuse(at, bad)
}

// send hands a piece to the broker, and waits while the window is full.
func (s *lineStream) send(p *piece, window chan<- *piece) {
	if len(p.batch.Records) == 0 {
		s.free(p)
		return
	}
	p.err = s.h.gw.Send(s.ctx, s.h.principal(s.r), s.topic, p.batch)
	window <- p // which is read until it is closed
}

// answer tells the outcomes of the pieces. When one failed as a whole, or the peer takes no answers, the stream ends.
func (s *lineStream) answer(window <-chan *piece) {
	for p := range window {
		err := p.err
		if err == nil {
			err = s.h.gw.Finish(s.ctx, p.batch)
		}
		if s.tally.err == nil {
			if s.tally.err = err; err == nil {
				s.tally.err = s.tally.tell(p, len(window) == 0)
			}
			if s.tally.err != nil {
				s.cancel()
				s.wake()
			}
		}
		s.free(p)
	}
}
