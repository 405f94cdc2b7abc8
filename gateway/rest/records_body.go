package rest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/gateway"
	"moldau/internal/jsontext"
	"moldau/registry/serde"
)

// recordsBody reads the body of a produce request:
//
//	{"records":[{"key":…,"value":…,"headers":[{"key":"h","value":…}],"partition":0,"timestamp":"2026-01-02T03:04:05Z"}]}
//
// A JSON string as key or value is stored as its text, any other JSON compactly and with every digit, key_base64 and
// value_base64 as bytes, null or absence as null. Keys and values alias the body, which is changed in place where a
// string has escapes or a document has white space; only base64 is copied. Beside records there may be key_schema and
// value_schema (schema.go), by which keys and values, which are JSON then, are encoded later. Nothing else is accepted.
type recordsBody struct {
	jsontext.Scanner
	batch *gateway.Batch
	max   int   // records
	fixed int32 // the partition of the path, AnyPartition without one
	arena []byte

	ahead                  bool       // the schemas were looked for
	keySchema, valueSchema *serde.Ref // nil for none

	record int // index of the record at hand, -1 outside of any
	header int // index of the header at hand, -1 outside of any
	field  string
}

// members of a record, as bits: each may be there once.
const (
	hasKey = 1 << iota
	hasKeyBase64
	hasValue
	hasValueBase64
	hasHeaders
	hasPartition
	hasTimestamp
)

// parseRecords appends the records of body to batch. Errors are *gateway.InvalidError, or wrap gateway.ErrTooLarge.
func parseRecords(body []byte, batch *gateway.Batch, maxRecords int, partition int32) error {
	p := &recordsBody{
		Scanner: jsontext.Scanner{Data: body}, batch: batch, max: maxRecords, fixed: partition, record: -1, header: -1,
	}
	err := p.schemas()
	if err == nil {
		err = p.top()
	}
	if err == nil || errors.Is(err, gateway.ErrTooLarge) {
		return err
	}
	bad := &gateway.InvalidError{Field: p.path(), Record: p.record, Message: err.Error()}
	var syntax *jsontext.SyntaxError
	if errors.As(err, &syntax) {
		bad.Reason = "INVALID_JSON"
	}
	return bad
}

// path names the field at hand.
func (p *recordsBody) path() string {
	path := ""
	if p.record >= 0 {
		path = "records[" + strconv.Itoa(p.record) + "]"
	}
	if p.header >= 0 {
		path += ".headers[" + strconv.Itoa(p.header) + "]"
	}
	if p.field != "" {
		if path != "" {
			path += "."
		}
		path += p.field
	}
	return path
}

func (p *recordsBody) top() error {
	seen, records := 0, false
	err := p.object(func(name []byte) error {
		bit := 0
		switch string(name) {
		case "records":
			if records {
				return errors.New("given twice")
			}
			records = true
			return p.list(&p.record, p.one)
		case keySchemaName:
			bit = hasKey
		case valueSchemaName:
			bit = hasValue
		default:
			return errors.New("unknown field; the body has records, key_schema and value_schema")
		}
		if err := once(&seen, bit, 0); err != nil {
			return err
		}
		if !p.ahead {
			return errors.New("its name must be written without escapes")
		}
		_, err := p.SkipValue() // read before
		return err
	})
	if err != nil {
		return err
	}
	if p.Space() != 0 || p.Pos < len(p.Data) {
		return p.Unexpected("the end")
	}
	if !records || len(p.batch.Records) == 0 {
		p.field = "records"
		return errors.New("there must be at least one record")
	}
	return nil
}

// object reads an object and calls member behind the colon of each member; member takes the value. While it runs, field
// is the name.
func (p *recordsBody) object(member func(name []byte) error) error {
	if err := p.Expect('{', "an object"); err != nil {
		return err
	}
	if p.Space() == '}' {
		p.Pos++
		return nil
	}
	outer := p.field
	for {
		if p.Space() != '"' {
			return p.Unexpected("a name in quotes")
		}
		name, err := p.text()
		if err != nil {
			return err
		}
		if err := p.Expect(':', "':'"); err != nil {
			return err
		}
		p.field = fieldName(name)
		if err := member(name); err != nil {
			return err
		}
		p.field = outer
		switch p.Space() {
		case ',':
			p.Pos++
		case '}':
			p.Pos++
			return nil
		default:
			return p.Unexpected("',' or '}'")
		}
	}
}

// fieldName returns a name for error messages. Those that are known cost nothing.
func fieldName(name []byte) string {
	switch string(name) {
	case "records":
		return "records"
	case "key":
		return "key"
	case "value":
		return "value"
	case "headers":
		return "headers"
	case "partition":
		return "partition"
	case "timestamp":
		return "timestamp"
	}
	if len(name) > 64 {
		name = name[:64]
	}
	return string(name)
}

// list reads an array, or null for none, and calls item for each element with index set to its number.
func (p *recordsBody) list(index *int, item func() error) error {
	switch p.Space() {
	case '[':
		p.Pos++
	case 'n':
		return p.SkipLiteral("null")
	default:
		return p.Unexpected("an array")
	}
	if p.Space() == ']' {
		p.Pos++
		return nil
	}
	outer := p.field
	for {
		*index++
		p.field = ""
		p.Space()
		if err := item(); err != nil {
			return err
		}
		p.field = outer
		switch p.Space() {
		case ',':
			p.Pos++
		case ']':
			p.Pos++
			*index = -1
			return nil
		default:
			*index = -1
			return p.Unexpected("',' or ']'")
		}
	}
}

// one reads a record.
func (p *recordsBody) one() error {
	if len(p.batch.Records) == p.max {
		return fmt.Errorf("%w: more than %d records", gateway.ErrTooLarge, p.max)
	}
	p.batch.Records = append(p.batch.Records, kgo.Record{Partition: p.fixed})
	at := len(p.batch.Records) - 1
	r := &p.batch.Records[at]
	seen := 0
	err := p.object(func(name []byte) error {
		bit, excludes := 0, 0
		var read func() error
		switch string(name) {
		case "key":
			bit, excludes = hasKey, hasKeyBase64
			read = func() (err error) { r.Key, err = p.keyOrValue(p.keySchema); return err }
		case "key_base64":
			bit, excludes = hasKeyBase64, hasKey
			read = func() (err error) { r.Key, err = p.unencoded(p.keySchema); return err }
		case "value":
			bit, excludes = hasValue, hasValueBase64
			read = func() (err error) { r.Value, err = p.keyOrValue(p.valueSchema); return err }
		case "value_base64":
			bit, excludes = hasValueBase64, hasValue
			read = func() (err error) { r.Value, err = p.unencoded(p.valueSchema); return err }
		case "headers":
			bit = hasHeaders
			read = func() error { return p.list(&p.header, func() error { return p.oneHeader(r) }) }
		case "partition":
			bit = hasPartition
			read = func() error { return p.partition(r) }
		case "timestamp":
			bit = hasTimestamp
			read = func() (err error) { r.Timestamp, err = p.timestamp(); return err }
		default:
			return errors.New("unknown field; a record has key, key_base64, value, value_base64, headers, partition and timestamp")
		}
		if err := once(&seen, bit, excludes); err != nil {
			return err
		}
		return read()
	})
	if p.keySchema != nil && r.Key != nil {
		p.batch.EncodeKey(at, p.keySchema)
	}
	if p.valueSchema != nil && r.Value != nil {
		p.batch.EncodeValue(at, p.valueSchema)
	}
	return err
}

// once notes a member in seen and refuses it when it, or its other form, was there.
func once(seen *int, bit, excludes int) error {
	if *seen&bit != 0 {
		return errors.New("given twice")
	}
	if *seen&excludes != 0 {
		return errors.New("given both as JSON and as base64")
	}
	*seen |= bit
	return nil
}

// oneHeader reads a header of r.
func (p *recordsBody) oneHeader(r *kgo.Record) error {
	var h kgo.RecordHeader
	seen := 0
	err := p.object(func(name []byte) (err error) {
		switch string(name) {
		case "key":
			if err := once(&seen, hasKey, 0); err != nil {
				return err
			}
			if p.Space() != '"' {
				return p.Unexpected("a string")
			}
			key, err := p.text()
			h.Key = string(key)
			return err
		case "value":
			if err := once(&seen, hasValue, hasValueBase64); err != nil {
				return err
			}
			h.Value, err = p.payload()
			return err
		case "value_base64":
			if err := once(&seen, hasValueBase64, hasValue); err != nil {
				return err
			}
			h.Value, err = p.base64()
			return err
		}
		return errors.New("unknown field; a header has key, value and value_base64")
	})
	if err != nil {
		return err
	}
	if seen&hasKey == 0 {
		return errors.New("a header needs a key")
	}
	r.Headers = append(r.Headers, h)
	return nil
}

// text reads a string; Pos is at its opening quote.
func (p *recordsBody) text() ([]byte, error) {
	start := p.Pos + 1
	escaped, err := p.SkipString()
	if err != nil {
		return nil, err
	}
	b := p.Data[start : p.Pos-1 : p.Pos-1]
	if escaped {
		b = jsontext.Unescape(b)
	}
	return b, nil
}

// payload reads a key or a value: the text of a string, nil for null, else the JSON as it is, compact.
func (p *recordsBody) payload() ([]byte, error) {
	switch p.Space() {
	case '"':
		return p.text()
	case 'n':
		return nil, p.SkipLiteral("null")
	}
	return p.document()
}

// document reads JSON of any kind as it is, but without white space between its tokens.
func (p *recordsBody) document() ([]byte, error) {
	start := p.Pos
	spaced, err := p.SkipValue()
	if err != nil {
		return nil, err
	}
	b := p.Data[start:p.Pos:p.Pos]
	if spaced {
		b = jsontext.Squeeze(b)
	}
	return b, nil
}

// base64 reads bytes in base64, padded, in the standard alphabet; null is nil.
func (p *recordsBody) base64() ([]byte, error) {
	switch p.Space() {
	case '"':
	case 'n':
		return nil, p.SkipLiteral("null")
	default:
		return nil, p.Unexpected("a string in base64, or null")
	}
	text, err := p.text()
	if err != nil {
		return nil, err
	}
	if len(text) == 0 {
		return []byte{}, nil // empty, which is not null
	}
	if need := base64.StdEncoding.DecodedLen(len(text)); cap(p.arena)-len(p.arena) < need {
		p.arena = make([]byte, 0, max(need, min(base64.StdEncoding.DecodedLen(len(p.Data)-p.Pos)+need, 64<<10)))
	}
	start := len(p.arena)
	if p.arena, err = base64.StdEncoding.AppendDecode(p.arena, text); err != nil {
		return nil, fmt.Errorf("not base64: %w", err)
	}
	return p.arena[start:len(p.arena):len(p.arena)], nil
}

// partition reads the partition of r, or null for none.
func (p *recordsBody) partition(r *kgo.Record) error {
	if p.Space() == 'n' {
		return p.SkipLiteral("null")
	}
	start := p.Pos
	if digits := p.Digits(); digits == 0 {
		return p.Unexpected("a number from 0 on")
	}
	n, err := strconv.ParseInt(string(p.Data[start:p.Pos]), 10, 32)
	if err != nil || p.At('.') || p.At('e') || p.At('E') || p.Pos-start > 1 && p.Data[start] == '0' {
		return errors.New("not a partition: expected a number from 0 to 2147483647")
	}
	if p.fixed != gateway.AnyPartition && p.fixed != int32(n) { //nolint:gosec // parsed with 32 bits
		return fmt.Errorf("differs from the partition %d of the path", p.fixed)
	}
	r.Partition = int32(n) //nolint:gosec // parsed with 32 bits
	return nil
}

// timestamp reads a time, or null for none.
func (p *recordsBody) timestamp() (time.Time, error) {
	switch p.Space() {
	case '"':
	case 'n':
		return time.Time{}, p.SkipLiteral("null")
	default:
		return time.Time{}, p.Unexpected("a time in a string")
	}
	text, err := p.text()
	if err != nil {
		return time.Time{}, err
	}
	return parseTime(string(text))
}

var errTime = errors.New("not a time: expected RFC 3339 from 1970 on, such as 2026-01-02T03:04:05.678Z")

// parseTime reads a time as Kafka can hold it.
func parseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.UnixMilli() < 0 {
		return time.Time{}, errTime
	}
	return t, nil
}
