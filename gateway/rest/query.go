package rest

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"moldau/gateway"
)

// readQuery is what the query of a read asks for.
type readQuery struct {
	request gateway.ReadRequest
	started bool // from or cursor is given
	limit   int  // 0 if none is given
	wait    time.Duration
	format  valueFormat
	decode  bool // the key by its schema

	decoding *gateway.Decoding // of the piece at hand, where something is to be decoded
}

func badQuery(name, message string) error {
	return &gateway.InvalidError{Field: name, Record: -1, Message: message}
}

// parseQuery reads the query of a read. Parameters that do not exist, or are given twice, are refused: a typing error
// must not silently read something else.
func parseQuery(raw, topic string, partition int32) (readQuery, error) {
	q := readQuery{request: gateway.ReadRequest{Topic: topic, Partition: partition}}
	err := eachParameter(raw, "", q.set)
	return q, err
}

func (q *readQuery) set(name, value string) (err error) {
	switch name {
	case "from", "cursor":
		if q.started {
			return badQuery("from", "given together with cursor")
		}
		q.started = true
		if name == "cursor" {
			q.request.Start = gateway.FromCursor(value)
			return nil
		}
		q.request.Start, err = parseFrom(value)
		return err
	case "partition":
		q.request.Partition, err = parsePartition(value, q.request.Partition)
		return err
	case "limit":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return badQuery(name, "must be a number from 1 on")
		}
		q.limit = n
	case "wait":
		if q.wait, err = time.ParseDuration(value); err != nil || q.wait < 0 {
			return badQuery(name, "must be a duration such as 500ms or 10s")
		}
	case "value":
		format, ok := valueFormats[value]
		if !ok {
			return badQuery(name, "must be auto, json, text, base64 or schema")
		}
		q.format = format
	case "key":
		if value != "text" && value != "schema" {
			return badQuery(name, "must be text or schema")
		}
		q.decode = value == "schema"
	default:
		return badQuery(name, "unknown parameter; there are from, cursor, partition, limit, wait, key and value")
	}
	return nil
}

// parseFrom reads earliest, latest, an offset, or @ and a time: RFC 3339, or milliseconds since 1970.
func parseFrom(value string) (gateway.Start, error) {
	switch value {
	case "earliest":
		return gateway.FromEarliest(), nil
	case "latest":
		return gateway.FromLatest(), nil
	}
	if text, ok := strings.CutPrefix(value, "@"); ok {
		if ms, err := strconv.ParseInt(text, 10, 64); err == nil && ms >= 0 {
			return gateway.FromTime(time.UnixMilli(ms)), nil
		}
		t, err := parseTime(text)
		if err != nil {
			return gateway.Start{}, badQuery("from", err.Error()+", or milliseconds since 1970")
		}
		return gateway.FromTime(t), nil
	}
	offset, err := strconv.ParseInt(value, 10, 64)
	if err != nil || offset < 0 {
		return gateway.Start{}, badQuery("from", "must be earliest, latest, an offset, or @ and a time")
	}
	return gateway.FromOffset(offset), nil
}

// lastEventID returns the cursor that a browser sends when it connects again.
func lastEventID(h http.Header) string { return h.Get("Last-Event-ID") }
