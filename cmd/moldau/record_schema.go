package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/cmd/moldau/internal/exit"
	"moldau/registry/serde"
)

// recordEncoder encodes keys and values of records to be written. A nil one leaves them as they are.
type recordEncoder struct {
	key, value *serde.Encoder // nil for what is written as it is
}

// recordEncoder finds the schemas that the flags name; nil if there are none.
func (a *app) recordEncoder(cmd *cobra.Command, topic string, f *produceFlags) (*recordEncoder, error) {
	key, value, err := parts("encode", f.encode)
	if err != nil {
		return nil, err
	}
	key = key || f.encoding.key.given()
	value = value || f.encoding.value.given()
	if !key && !value {
		return nil, nil
	}
	f.registry.timeout = a.cluster.Timeout
	e := &recordEncoder{}
	err = f.registry.with(cmd, func(ctx context.Context, s *serde.Serde) error {
		for _, want := range []struct {
			wanted bool
			choice *schemaChoice
			what   string
			into   **serde.Encoder
		}{
			{key, &f.encoding.key, "key", &e.key},
			{value, &f.encoding.value, "value", &e.value},
		} {
			if !want.wanted {
				continue
			}
			ref, err := f.encoding.ref(want.choice, topic, a.in)
			if err != nil {
				return err
			}
			if *want.into, err = s.Encoder(ctx, ref); err != nil {
				return inRecord("schema of the "+want.what, err)
			}
		}
		return nil
	})
	return e, err
}

// apply encodes a record. Null stays null.
func (e *recordEncoder) apply(r *kgo.Record) error {
	if e == nil {
		return nil
	}
	var err error
	if e.key != nil && r.Key != nil {
		if r.Key, err = e.key.Append(nil, r.Key); err != nil {
			return inRecord("key", err)
		}
		r.Headers = withSchema(r.Headers, serde.KeyHeader, e.key)
	}
	if e.value != nil && r.Value != nil {
		if r.Value, err = e.value.Append(nil, r.Value); err != nil {
			return inRecord("value", err)
		}
		r.Headers = withSchema(r.Headers, serde.ValueHeader, e.value)
	}
	return nil
}

func withSchema(headers []kgo.RecordHeader, name string, e *serde.Encoder) []kgo.RecordHeader {
	if e.Header() == nil {
		return headers
	}
	return append(headers, kgo.RecordHeader{Key: name, Value: e.Header()})
}

// recordDecoder decodes keys and values of records that are read. A nil one leaves them as they are.
type recordDecoder struct {
	ctx        context.Context //nolint:containedctx // that of the command, which the printer's callers do not have
	serde      *serde.Serde
	key, value bool
	warn       io.Writer
	failed     int
	said       map[string]bool // the warnings that were given
}

// maxWarnings bounds the different warnings of one run.
const maxWarnings = 20

func (a *app) recordDecoder(ctx context.Context, f *consumeFlags) (*recordDecoder, error) {
	key, value, err := parts("decode", f.decode)
	if err != nil || !key && !value {
		return nil, err
	}
	f.registry.timeout = a.cluster.Timeout
	s, err := f.registry.open()
	if err != nil {
		return nil, err
	}
	return &recordDecoder{ctx: ctx, serde: s, key: key, value: value, warn: a.err, said: map[string]bool{}}, nil
}

func (d *recordDecoder) close() {
	if d != nil {
		d.serde.Close()
	}
}

// verdict is the error of a run in which something could not be decoded.
func (d *recordDecoder) verdict() error {
	if d == nil || d.failed == 0 {
		return nil
	}
	return &exit.Error{Code: exit.Failed, Err: fmt.Errorf("%d keys or values could not be decoded and were printed as they are", d.failed)}
}

// decodedRecord is what was decoded of one record.
type decodedRecord struct {
	key, value decodedPart
}

type decodedPart struct {
	raw []byte
	ok  bool // JSON and what follows is set
	serde.Decoded
	err error
}

// record decodes a record, nil if there is nothing to decode at all.
func (d *recordDecoder) record(r *kgo.Record) *decodedRecord {
	if d == nil || r.Attrs.IsControl() {
		return nil
	}
	out := &decodedRecord{key: decodedPart{raw: r.Key}, value: decodedPart{raw: r.Value}}
	if d.key && r.Key != nil {
		d.part(r, &out.key, "key", serde.KeyHeader)
	}
	if d.value && r.Value != nil {
		d.part(r, &out.value, "value", serde.ValueHeader)
	}
	return out
}

func (d *recordDecoder) part(r *kgo.Record, p *decodedPart, what, header string) {
	p.Decoded, p.err = d.serde.Decode(d.ctx, "", p.raw, serde.Header(r.Headers, header))
	if p.ok = p.err == nil; p.ok {
		return
	}
	d.failed++
	if text := what + ": " + p.err.Error(); !d.said[text] && len(d.said) < maxWarnings {
		d.said[text] = true
		fmt.Fprintf(d.warn, "topic %s, partition %d, offset %d: the %s\n", r.Topic, r.Partition, r.Offset, text)
	}
}

// plain is the record with JSON in the place of what was decoded.
func (d *decodedRecord) plain(r *kgo.Record) *kgo.Record {
	if d == nil {
		return r
	}
	out := *r
	if d.key.ok {
		out.Key = d.key.JSON
	}
	if d.value.ok {
		out.Value = d.value.JSON
	}
	return &out
}

// decodedJSON is a jsonRecord whose key and value are JSON where they were decoded.
type decodedJSON struct {
	Topic       string       `json:"topic"`
	Partition   int32        `json:"partition"`
	Offset      int64        `json:"offset"`
	Timestamp   string       `json:"timestamp"`
	Key         any          `json:"key"`
	KeyBase64   []byte       `json:"key_base64,omitempty"`
	KeySchema   *schemaName  `json:"key_schema,omitempty"`
	KeyError    string       `json:"key_decode_error,omitempty"`
	Value       any          `json:"value"`
	ValueBase64 []byte       `json:"value_base64,omitempty"`
	ValueSchema *schemaName  `json:"value_schema,omitempty"`
	ValueError  string       `json:"value_decode_error,omitempty"`
	Headers     []jsonHeader `json:"headers,omitempty"`
}

// schemaName says by which schema something was decoded.
type schemaName struct {
	ID      int    `json:"id,omitempty"`
	GUID    string `json:"guid,omitempty"`
	Type    string `json:"type"`
	Message string `json:"message,omitempty"`
}

func (p *decodedPart) show() (value any, raw []byte, schema *schemaName, failure string) {
	if p.ok {
		return json.RawMessage(p.JSON), nil, &schemaName{p.Schema.ID, p.Schema.GUID, p.Schema.Type, p.Message}, ""
	}
	if p.err != nil {
		failure = p.err.Error()
	}
	text, raw := textOrBytes(p.raw)
	if text == nil {
		return nil, raw, nil, failure
	}
	return *text, nil, nil, failure
}

func (d *decodedRecord) appendJSON(dst []byte, r *kgo.Record) ([]byte, error) {
	j := decodedJSON{
		Topic: r.Topic, Partition: r.Partition, Offset: r.Offset,
		Timestamp: r.Timestamp.UTC().Format(time.RFC3339Nano),
	}
	j.Key, j.KeyBase64, j.KeySchema, j.KeyError = d.key.show()
	j.Value, j.ValueBase64, j.ValueSchema, j.ValueError = d.value.show()
	for _, h := range r.Headers {
		jh := jsonHeader{Key: h.Key}
		jh.Value, jh.ValueBase64 = textOrBytes(h.Value)
		j.Headers = append(j.Headers, jh)
	}
	raw, err := json.Marshal(j)
	if err != nil {
		return dst, err
	}
	return append(append(dst, raw...), '\n'), nil
}
