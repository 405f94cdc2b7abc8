package main

import (
	"encoding/json"
	"io"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
)

// recordPrinter prints records in a format of kgo's, or as JSON.
type recordPrinter struct {
	format *kgo.RecordFormatter // nil for JSON
	decode *recordDecoder       // nil for none
	buf    []byte
}

func newRecordPrinter(layout string) (*recordPrinter, error) {
	if layout == "json" {
		return &recordPrinter{}, nil
	}
	f, err := kgo.NewRecordFormatter(layout)
	return &recordPrinter{format: f}, err
}

func (p *recordPrinter) write(w io.Writer, fp *kgo.FetchPartition, r *kgo.Record) error {
	var err error
	switch d := p.decode.record(r); {
	case p.format != nil:
		p.buf = p.format.AppendPartitionRecord(p.buf[:0], fp, d.plain(r))
	case d != nil:
		p.buf, err = d.appendJSON(p.buf[:0], r)
	default:
		p.buf, err = appendJSON(p.buf[:0], r)
	}
	if err != nil {
		return err
	}
	_, err = w.Write(p.buf)
	return err
}

// jsonRecord is a record as one line of JSON. Bytes that are no UTF-8 are in
// the field with _base64 in its name; null is null.
type jsonRecord struct {
	Topic       string       `json:"topic"`
	Partition   int32        `json:"partition"`
	Offset      int64        `json:"offset"`
	Timestamp   string       `json:"timestamp"`
	Key         *string      `json:"key"`
	KeyBase64   []byte       `json:"key_base64,omitempty"`
	Value       *string      `json:"value"`
	ValueBase64 []byte       `json:"value_base64,omitempty"`
	Headers     []jsonHeader `json:"headers,omitempty"`
}

type jsonHeader struct {
	Key         string  `json:"key"`
	Value       *string `json:"value"`
	ValueBase64 []byte  `json:"value_base64,omitempty"`
}

func appendJSON(dst []byte, r *kgo.Record) ([]byte, error) {
	j := jsonRecord{
		Topic: r.Topic, Partition: r.Partition, Offset: r.Offset,
		Timestamp: r.Timestamp.UTC().Format(time.RFC3339Nano),
	}
	j.Key, j.KeyBase64 = textOrBytes(r.Key)
	j.Value, j.ValueBase64 = textOrBytes(r.Value)
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

func textOrBytes(b []byte) (*string, []byte) {
	if b == nil {
		return nil, nil
	}
	if !utf8.Valid(b) {
		return nil, b
	}
	s := string(b)
	return &s, nil
}
