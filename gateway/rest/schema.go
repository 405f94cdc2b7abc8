package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/gateway"
	"moldau/internal/jsontext"
	"moldau/registry/serde"
)

// The members of a produce request that name schemas.
const (
	keySchemaName   = "key_schema"
	valueSchemaName = "value_schema"
)

// schemaBody names the schema of keys or values: by its id, by a subject and a version, or by its text. Without any of
// them it is the latest version of the topic's subject.
type schemaBody struct {
	ID         *int              `json:"id"`
	Subject    string            `json:"subject"`
	Version    json.RawMessage   `json:"version"`
	Type       string            `json:"type"`
	Schema     *string           `json:"schema"`
	References []serde.Reference `json:"references"`
	Strategy   string            `json:"strategy"`
	Register   bool              `json:"register"`
	Message    string            `json:"message"`
	Header     bool              `json:"header"`
}

// schemas reads key_schema and value_schema, wherever in the body they stand: what they say changes how records are read. It
// changes nothing in the body, and leaves what is no JSON to be told when that is read from its beginning.
func (p *recordsBody) schemas() error {
	if !bytes.Contains(p.Data, []byte(`_schema"`)) {
		return nil
	}
	p.ahead = true
	s := jsontext.Scanner{Data: p.Data}
	if s.Space() != '{' {
		return nil
	}
	s.Pos++
	for s.Space() == '"' {
		name, value, ok := nextMember(&s)
		if !ok {
			return nil
		}
		if err := p.schema(name, value); err != nil {
			p.field = name
			return err
		}
		if s.Space() != ',' {
			return nil
		}
		s.Pos++
	}
	return nil
}

// nextMember reads a member of an object; Pos is at its name. It answers false where there is none.
func nextMember(s *jsontext.Scanner) (name string, value []byte, ok bool) {
	start := s.Pos + 1
	escaped, err := s.SkipString()
	if err != nil {
		return "", nil, false
	}
	text := s.Data[start : s.Pos-1]
	if escaped {
		text = jsontext.Unescape(bytes.Clone(text))
	}
	if s.Expect(':', "':'") != nil {
		return "", nil, false
	}
	start = s.Pos
	if _, err := s.SkipValue(); err != nil {
		return "", nil, false
	}
	return string(text), s.Data[start:s.Pos], true
}

// schema takes a member of the body that names a schema.
func (p *recordsBody) schema(name string, value []byte) (err error) {
	switch name {
	case keySchemaName:
		p.keySchema, err = parseSchema(value)
	case valueSchemaName:
		p.valueSchema, err = parseSchema(value)
	}
	return err
}

// parseSchema reads the name of a schema; null is none.
func parseSchema(text []byte) (*serde.Ref, error) {
	if string(bytes.TrimSpace(text)) == "null" {
		return nil, nil
	}
	var b schemaBody
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("it ends early")
		}
		return nil, fmt.Errorf("not the name of a schema: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	ref := &serde.Ref{
		Subject: b.Subject, Type: b.Type, References: b.References, Register: b.Register,
		Message: b.Message, InHeader: b.Header,
	}
	if b.Schema != nil {
		if ref.Text = *b.Schema; ref.Text == "" {
			return nil, errors.New("schema: it has no text")
		}
	}
	if b.ID != nil {
		if ref.ID = *b.ID; ref.ID < 1 {
			return nil, errors.New("id: must be a number from 1 on")
		}
	}
	var err error
	if ref.Strategy, err = serde.ParseStrategy(b.Strategy); err != nil {
		return nil, err
	}
	ref.Version, err = parseVersion(b.Version)
	return ref, err
}

// parseVersion reads a number or "latest".
func parseVersion(text json.RawMessage) (int, error) {
	switch string(text) {
	case "", "null", `"latest"`:
		return 0, nil
	}
	n, err := strconv.ParseUint(string(text), 10, 31)
	if err != nil || n == 0 {
		return 0, errors.New(`version: must be a number from 1 on, or "latest"`)
	}
	return int(n), nil
}

// keyOrValue reads a key or a value: JSON of any kind where a schema encodes it, which null leaves alone.
func (p *recordsBody) keyOrValue(schema *serde.Ref) ([]byte, error) {
	if schema == nil {
		return p.payload()
	}
	if p.Space() == 'n' {
		return nil, p.SkipLiteral("null")
	}
	return p.document()
}

// unencoded reads bytes in base64, which no schema encodes.
func (p *recordsBody) unencoded(schema *serde.Ref) ([]byte, error) {
	if schema != nil && p.Space() != 'n' {
		return nil, errors.New("given as base64 although a schema is given; that takes JSON")
	}
	return p.base64()
}

// piece begins a piece of an answer, which is as much as is in memory at a time.
func (q *readQuery) piece(gw *gateway.Gateway) {
	if q.format == formatSchema || q.decode {
		q.decoding = gw.Decode()
	}
}

// appendRecord appends a record, its key and value by their schemas where the query asks for it.
func (q *readQuery) appendRecord(ctx context.Context, dst []byte, r *kgo.Record) []byte {
	if q.format != formatSchema && !q.decode {
		return appendRecord(dst, r, q.format)
	}
	dst = appendPosition(dst, r)
	if q.decode && r.Key != nil {
		d, err := q.decoding.Key(ctx, r)
		dst = appendDecoded(dst, "key", r.Key, d, err)
	} else {
		dst = appendText(dst, "key", r.Key)
	}
	dst = append(dst, ',')
	if q.format == formatSchema && r.Value != nil {
		d, err := q.decoding.Value(ctx, r)
		dst = appendDecoded(dst, "value", r.Value, d, err)
	} else {
		dst = appendValue(dst, r.Value, q.format)
	}
	return appendHeaders(dst, r)
}

// appendDecoded appends what was decoded under a name, with its format and schema beside it; or the bytes in base64 and
// why they could not be decoded.
func appendDecoded(dst []byte, name string, raw []byte, d serde.Decoded, err error) []byte {
	member := func(suffix string) { dst = append(jsontext.AppendString(dst, name+suffix), ':') }
	if err != nil {
		dst = appendBase64(dst, name, raw)
		dst = append(dst, ',')
		member("_format")
		dst = append(dst, `"base64",`...)
		member("_decode_error")
		return jsontext.AppendString(dst, err.Error())
	}
	member("")
	dst = append(append(dst, d.JSON...), ',')
	member("_format")
	dst = jsontext.AppendString(dst, strings.ToLower(d.Schema.Type))
	dst = append(dst, ',')
	member("_schema")
	if d.Schema.ID == 0 {
		dst = append(dst, `{"guid":`...)
		dst = jsontext.AppendString(dst, d.Schema.GUID)
	} else {
		dst = append(dst, `{"id":`...)
		dst = strconv.AppendInt(dst, int64(d.Schema.ID), 10)
	}
	if d.Message != "" {
		dst = append(dst, `,"message":`...)
		dst = jsontext.AppendString(dst, d.Message)
	}
	return append(dst, '}')
}
