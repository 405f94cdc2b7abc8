package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/types/known/timestamppb"

	datav1 "moldau/gen/moldau/data/v1"
	"moldau/internal/jsontext"
)

// fromProto fills b with records and returns about how much memory they take. Keys and values alias the messages.
func (b *Batch) fromProto(records []*datav1.Record) (size int64, err error) {
	b.Records = make([]kgo.Record, 0, len(records))
	refs := schemaRefs{}
	for i, rec := range records {
		r, field, err := recordOf(rec)
		if err != nil {
			return 0, &InvalidError{Field: fmt.Sprintf("records[%d].%s", i, field), Record: i, Message: err.Error()}
		}
		size += int64(len(r.Key) + len(r.Value))
		for _, h := range r.Headers {
			size += int64(len(h.Key) + len(h.Value))
		}
		b.Records = append(b.Records, r)
		if field, err := b.schemas(refs, i, rec); err != nil {
			return 0, &InvalidError{Field: fmt.Sprintf("records[%d].%s.schema", i, field), Record: i, Message: err.Error()}
		}
	}
	return size, nil
}

// schemas notes the schemas by which record i is encoded. On an error it tells the field.
func (b *Batch) schemas(refs schemaRefs, i int, rec *datav1.Record) (field string, err error) {
	if s := rec.GetKey().GetSchema(); s != nil {
		ref, err := refs.of(s.GetSchema())
		if err != nil {
			return "key", err
		}
		b.EncodeKey(i, ref)
	}
	if s := rec.GetValue().GetSchema(); s != nil {
		ref, err := refs.of(s.GetSchema())
		if err != nil {
			return "value", err
		}
		b.EncodeValue(i, ref)
	}
	return "", nil
}

// recordOf returns a record as the client library takes it, or the field that is wrong with it.
func recordOf(rec *datav1.Record) (r kgo.Record, field string, err error) {
	r.Partition = AnyPartition
	if rec == nil {
		return r, "", nil
	}
	if rec.Partition != nil {
		if r.Partition = *rec.Partition; r.Partition < 0 {
			return r, "partition", errors.New("must not be negative")
		}
	}
	if ts := rec.GetTimestamp(); ts != nil {
		if r.Timestamp = ts.AsTime(); ts.CheckValid() != nil || r.Timestamp.UnixMilli() < 0 {
			return r, "timestamp", errors.New("must be from 1970 on")
		}
	}
	if r.Key, err = payloadBytes(rec.GetKey()); err != nil {
		return r, "key", err
	}
	if r.Value, err = payloadBytes(rec.GetValue()); err != nil {
		return r, "value", err
	}
	for j, h := range rec.GetHeaders() {
		value, err := payloadBytes(h.GetValue())
		if err == nil && h.GetValue().GetSchema() != nil {
			err = errors.New("headers have no schema")
		}
		if err != nil {
			return r, fmt.Sprintf("headers[%d].value", j), err
		}
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.GetKey(), Value: value})
	}
	return r, "", nil
}

// payloadBytes returns the bytes of a payload: nil for null, never nil for one that is empty. One with a schema is JSON
// until it is encoded.
func payloadBytes(p *datav1.Payload) ([]byte, error) {
	if p == nil {
		return nil, nil
	}
	switch c := p.GetContent().(type) {
	case *datav1.Payload_Raw:
		if c.Raw == nil {
			return []byte{}, nil
		}
		return c.Raw, nil
	case *datav1.Payload_Text:
		return []byte(c.Text), nil
	case *datav1.Payload_Json:
		out, err := jsontext.Compact([]byte{}, c.Json)
		if err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
		return out, nil
	case *datav1.Payload_Schema:
		if len(c.Schema.GetJson()) == 0 {
			return nil, errors.New("a payload with a schema needs JSON; leave it out for null")
		}
		return c.Schema.GetJson(), nil
	}
	return nil, errors.New("a payload needs a content; leave it out for null")
}

// payload returns bytes in a format, or raw where they don't have it.
func payload(b []byte, format datav1.PayloadFormat) *datav1.Payload {
	if b == nil {
		return nil
	}
	auto := format == datav1.PayloadFormat_PAYLOAD_FORMAT_AUTO
	if auto || format == datav1.PayloadFormat_PAYLOAD_FORMAT_JSON {
		if out, err := jsontext.Compact(nil, b); err == nil {
			return &datav1.Payload{Content: &datav1.Payload_Json{Json: out}}
		}
	}
	if (auto || format == datav1.PayloadFormat_PAYLOAD_FORMAT_TEXT) && utf8.Valid(b) {
		return &datav1.Payload{Content: &datav1.Payload_Text{Text: string(b)}}
	}
	return &datav1.Payload{Content: &datav1.Payload_Raw{Raw: b}}
}

// toProtos returns records as they are read. The messages are made many at a time.
func (g *Gateway) toProtos(ctx context.Context, records []*kgo.Record, keys, values datav1.PayloadFormat) []*datav1.ReadRecord {
	out := make([]*datav1.ReadRecord, len(records))
	messages := make([]datav1.ReadRecord, len(records))
	times := make([]timestamppb.Timestamp, len(records))
	decoding := g.Decode()
	for i, r := range records {
		m := &messages[i]
		m.Partition, m.Offset = r.Partition, r.Offset
		setTime(&times[i], r.Timestamp)
		m.Timestamp = &times[i]
		if keys == datav1.PayloadFormat_PAYLOAD_FORMAT_SCHEMA && r.Key != nil {
			d, err := decoding.Key(ctx, r)
			m.Key, m.KeyDecodeError = decodedPayload(d, r.Key, err)
		} else {
			m.Key = payload(r.Key, keys)
		}
		if values == datav1.PayloadFormat_PAYLOAD_FORMAT_SCHEMA && r.Value != nil {
			d, err := decoding.Value(ctx, r)
			m.Value, m.ValueDecodeError = decodedPayload(d, r.Value, err)
		} else {
			m.Value = payload(r.Value, values)
		}
		for _, h := range r.Headers {
			m.Headers = append(m.Headers, &datav1.Header{
				Key: strings.ToValidUTF8(h.Key, "\ufffd"), Value: payload(h.Value, datav1.PayloadFormat_PAYLOAD_FORMAT_TEXT),
			})
		}
		out[i] = m
	}
	return out
}

// results returns the outcomes of b. The messages are made many at a time.
func (b *Batch) results() []*datav1.ProduceResult {
	n := len(b.Records)
	out := make([]*datav1.ProduceResult, n)
	results := make([]datav1.ProduceResult, n)
	outcomes := make([]datav1.ProduceResult_Position, n)
	positions := make([]datav1.RecordPosition, n)
	times := make([]timestamppb.Timestamp, n)
	for i := range b.Records {
		out[i] = &results[i]
		if err := b.Err(i); err != nil {
			f := FailureOf(err)
			results[i].Outcome = &datav1.ProduceResult_Error{Error: f.Status().Proto()}
			continue
		}
		r := &b.Records[i]
		positions[i].Partition, positions[i].Offset = r.Partition, r.Offset
		if !r.Timestamp.IsZero() {
			setTime(&times[i], r.Timestamp)
			positions[i].Timestamp = &times[i]
		}
		outcomes[i].Position = &positions[i]
		results[i].Outcome = &outcomes[i]
	}
	return out
}

func setTime(dst *timestamppb.Timestamp, t time.Time) {
	dst.Seconds, dst.Nanos = t.Unix(), int32(t.Nanosecond()) //nolint:gosec // below a billion
}

// start returns where a request begins; def if it does not say.
func start(s *datav1.Start, def Start) (Start, error) {
	switch p := s.GetPosition().(type) {
	case nil:
		return def, nil
	case *datav1.Start_Earliest:
		return FromEarliest(), nil
	case *datav1.Start_Latest:
		return FromLatest(), nil
	case *datav1.Start_Offset:
		return FromOffset(p.Offset), nil
	case *datav1.Start_Time:
		if err := p.Time.CheckValid(); err != nil {
			return Start{}, invalid("start.time", "%v", err)
		}
		return FromTime(time.UnixMilli(max(p.Time.AsTime().UnixMilli(), 0))), nil
	case *datav1.Start_Cursor:
		return FromCursor(p.Cursor), nil
	}
	return Start{}, invalid("start", "unknown position")
}
