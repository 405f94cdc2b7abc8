package rest

import (
	"encoding/base64"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/internal/jsontext"
)

// valueFormat is how the values of records are written.
type valueFormat int8

const (
	formatAuto valueFormat = iota // JSON where the bytes are JSON, else text where they are UTF-8, else base64
	formatJSON                    // JSON, else base64
	formatText                    // text, else base64
	formatBase64
	formatSchema // by its schema, else base64
)

// valueFormats are the names of the formats in queries.
var valueFormats = map[string]valueFormat{
	"auto": formatAuto, "json": formatJSON, "text": formatText, "base64": formatBase64,
	"schema": formatSchema,
}

// appendRecord appends a record as a JSON object. A value that does not have the format which was asked for is written
// in base64; no value makes a read fail.
func appendRecord(dst []byte, r *kgo.Record, format valueFormat) []byte {
	dst = appendPosition(dst, r)
	dst = appendText(dst, "key", r.Key)
	dst = append(dst, ',')
	dst = appendValue(dst, r.Value, format)
	return appendHeaders(dst, r)
}

// appendPosition appends what a record begins with, up to the comma in front of its key.
func appendPosition(dst []byte, r *kgo.Record) []byte {
	dst = append(dst, `{"partition":`...)
	dst = strconv.AppendInt(dst, int64(r.Partition), 10)
	dst = append(dst, `,"offset":"`...)
	dst = strconv.AppendInt(dst, r.Offset, 10)
	dst = append(dst, `","timestamp":`...)
	dst = appendTime(dst, r.Timestamp)
	return append(dst, ',')
}

// appendHeaders appends what a record ends with, from the comma behind its value on.
func appendHeaders(dst []byte, r *kgo.Record) []byte {
	dst = append(dst, `,"headers":[`...)
	for i, h := range r.Headers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"key":`...)
		dst = jsontext.AppendString(dst, h.Key)
		dst = append(dst, ',')
		dst = appendText(dst, "value", h.Value)
		dst = append(dst, '}')
	}
	return append(dst, "]}"...)
}

// appendValue appends the members value, or value_base64, and value_format.
func appendValue(dst, b []byte, format valueFormat) []byte {
	if b == nil {
		return append(dst, `"value":null,"value_format":"null"`...)
	}
	if format == formatAuto || format == formatJSON {
		if out, err := jsontext.Compact(append(dst, `"value":`...), b); err == nil {
			return append(out, `,"value_format":"json"`...)
		}
	}
	if (format == formatAuto || format == formatText) && utf8.Valid(b) {
		dst = append(dst, `"value":`...)
		dst = jsontext.AppendString(dst, b)
		return append(dst, `,"value_format":"text"`...)
	}
	return append(appendBase64(dst, "value", b), `,"value_format":"base64"`...)
}

// appendBase64 appends a member with _base64 behind its name.
func appendBase64(dst []byte, name string, b []byte) []byte {
	dst = append(append(dst, '"'), name...)
	dst = append(dst, `_base64":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

// appendText appends a member as text, or with _base64 behind its name in base64; null for nil.
func appendText(dst []byte, name string, b []byte) []byte {
	dst = append(dst, '"')
	dst = append(dst, name...)
	switch {
	case b == nil:
		return append(dst, `":null`...)
	case utf8.Valid(b):
		dst = append(dst, `":`...)
		return jsontext.AppendString(dst, b)
	}
	dst = append(dst, `_base64":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

// appendTime appends a timestamp in quotes, in UTC and with milliseconds, as Kafka keeps it.
func appendTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 { // no RFC 3339: foreign clients may write such timestamps
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, t.UnixMilli(), 10)
		return append(dst, '"')
	}
	hour, minute, second := t.Clock()
	dst = appendDigits(append(dst, '"'), year, 4)
	dst = appendDigits(append(dst, '-'), int(month), 2)
	dst = appendDigits(append(dst, '-'), day, 2)
	dst = appendDigits(append(dst, 'T'), hour, 2)
	dst = appendDigits(append(dst, ':'), minute, 2)
	dst = appendDigits(append(dst, ':'), second, 2)
	dst = appendDigits(append(dst, '.'), t.Nanosecond()/int(time.Millisecond), 3)
	return append(dst, 'Z', '"')
}

// appendDigits appends n with leading zeros.
func appendDigits(dst []byte, n, width int) []byte {
	dst = append(dst, "0000"[:width]...)
	for i := len(dst) - 1; n > 0 && width > 0; i, width = i-1, width-1 {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
	return dst
}
