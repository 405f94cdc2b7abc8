package rest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"moldau/gateway"
)

func TestParseRecordsRefuses(t *testing.T) {
	for _, c := range []struct {
		name, body, field, reason, message string
		record                             int
	}{
		{"empty", ``, "", "INVALID_JSON", "unexpected end", -1},
		{"not an object", `[]`, "", "INVALID_JSON", "expected an object", -1},
		{"no records", `{}`, "records", "", "at least one", -1},
		{"null records", `{"records":null}`, "records", "", "at least one", -1},
		{"empty records", `{"records":[]}`, "records", "", "at least one", -1},
		{"records twice", `{"records":[{}],"records":[{}]}`, "records", "", "given twice", -1},
		{"records no array", `{"records":{}}`, "records", "INVALID_JSON", "expected an array", -1},
		{"unknown at the top", `{"record":[{}]}`, "record", "", "unknown field", -1},
		{"behind the end", `{"records":[{}]} x`, "", "INVALID_JSON", "expected the end", -1},
		{"two documents", `{"records":[{}]}{}`, "", "INVALID_JSON", "expected the end", -1},
		{"cut off", `{"records":[{"value":`, "records[0].value", "INVALID_JSON", "unexpected end", 0},
		{"unknown in a record", `{"records":[{},{"valu":1}]}`, "records[1].valu", "", "unknown field", 1},
		{"value twice", `{"records":[{"value":1,"value":2}]}`, "records[0].value", "", "given twice", 0},
		{"value in both forms", `{"records":[{"value":1,"value_base64":"AA=="}]}`, "records[0].value_base64", "", "both", 0},
		{"key in both forms", `{"records":[{"key_base64":"AA==","key":1}]}`, "records[0].key", "", "both", 0},
		{"not base64", `{"records":[{"value_base64":"A"}]}`, "records[0].value_base64", "", "not base64", 0},
		{"base64 of a number", `{"records":[{"value_base64":1}]}`, "records[0].value_base64", "INVALID_JSON", "base64", 0},
		{"bad JSON value", `{"records":[{"value":01}]}`, "records[0]", "INVALID_JSON", "expected ','", 0},
		{"value not UTF-8", "{\"records\":[{\"value\":\"\xff\"}]}", "records[0].value", "INVALID_JSON", "not UTF-8", 0},
		{"negative partition", `{"records":[{"partition":-1}]}`, "records[0].partition", "INVALID_JSON", "from 0 on", 0},
		{"huge partition", `{"records":[{"partition":2147483648}]}`, "records[0].partition", "", "not a partition", 0},
		{"part of a partition", `{"records":[{"partition":1.5}]}`, "records[0].partition", "", "not a partition", 0},
		{"zeros before a partition", `{"records":[{"partition":01}]}`, "records[0].partition", "", "not a partition", 0},
		{"text partition", `{"records":[{"partition":"1"}]}`, "records[0].partition", "INVALID_JSON", "from 0 on", 0},
		{"no time", `{"records":[{"timestamp":"yesterday"}]}`, "records[0].timestamp", "", "RFC 3339", 0},
		{"time before 1970", `{"records":[{"timestamp":"1969-12-31T23:59:59Z"}]}`, "records[0].timestamp", "", "1970", 0},
		{"number for a time", `{"records":[{"timestamp":5}]}`, "records[0].timestamp", "INVALID_JSON", "a time in a string", 0},
		{"headers no array", `{"records":[{"headers":{}}]}`, "records[0].headers", "INVALID_JSON", "an array", 0},
		{"header without key", `{"records":[{"headers":[{"key":"a"},{"value":1}]}]}`, "records[0].headers[1]", "", "needs a key", 0},
		{"header with null key", `{"records":[{"headers":[{"key":null}]}]}`, "records[0].headers[0].key", "INVALID_JSON", "a string", 0},
		{"unknown in a header", `{"records":[{"headers":[{"key":"a","v":1}]}]}`, "records[0].headers[0].v", "", "unknown field", 0},
		{"record no object", `{"records":[1]}`, "records[0]", "INVALID_JSON", "an object", 0},
		{"deep", `{"records":[{"value":` + strings.Repeat("[", 10_000) + `}]}`, "records[0].value", "INVALID_JSON", "nested too deep", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := parseRecords([]byte(c.body), gateway.NewBatch(), 10, gateway.AnyPartition)
			var bad *gateway.InvalidError
			if !errors.As(err, &bad) {
				t.Fatalf("%v", err)
			}
			if bad.Field != c.field || bad.Reason != c.reason || bad.Record != c.record || !strings.Contains(bad.Message, c.message) {
				t.Errorf("field %q, reason %q, record %d, message %q", bad.Field, bad.Reason, bad.Record, bad.Message)
			}
		})
	}
}

func TestParseRecordsCounts(t *testing.T) {
	three := []byte(`{"records":[{},{},{}]}`)
	if err := parseRecords(bytes.Clone(three), gateway.NewBatch(), 3, gateway.AnyPartition); err != nil {
		t.Error(err)
	}
	if err := parseRecords(bytes.Clone(three), gateway.NewBatch(), 2, gateway.AnyPartition); !errors.Is(err, gateway.ErrTooLarge) {
		t.Errorf("three of two: %v", err)
	}
}

func TestParseRecordsPartitionOfPath(t *testing.T) {
	b := gateway.NewBatch()
	if err := parseRecords([]byte(`{"records":[{"partition":3},{"partition":null},{}]}`), b, 10, 3); err != nil {
		t.Fatal(err)
	}
	for i := range b.Records {
		if b.Records[i].Partition != 3 {
			t.Errorf("record %d: partition %d", i, b.Records[i].Partition)
		}
	}
	err := parseRecords([]byte(`{"records":[{},{"partition":4}]}`), gateway.NewBatch(), 10, 3)
	var bad *gateway.InvalidError
	if !errors.As(err, &bad) || bad.Field != "records[1].partition" {
		t.Errorf("another partition: %v", err)
	}
}

// Many values in base64 share memory and must not overwrite each other.
func TestParseRecordsBase64(t *testing.T) {
	var body strings.Builder
	body.WriteString(`{"records":[`)
	var want [][]byte
	for i := range 300 {
		if i > 0 {
			body.WriteByte(',')
		}
		want = append(want, bytes.Repeat([]byte{byte(i)}, i*7))
		body.WriteString(`{"value_base64":"` + base64.StdEncoding.EncodeToString(want[i]) + `"}`)
	}
	body.WriteString(`]}`)
	b := gateway.NewBatch()
	if err := parseRecords([]byte(body.String()), b, 1000, gateway.AnyPartition); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if got := b.Records[i].Value; got == nil || !bytes.Equal(got, want[i]) {
			t.Fatalf("value %d: %d bytes, want %d", i, len(got), len(want[i]))
		}
	}
}

// oracle is a record as the standard library reads it.
type oracle struct {
	Key         json.RawMessage `json:"key"`
	KeyBase64   []byte          `json:"key_base64"`
	Value       json.RawMessage `json:"value"`
	ValueBase64 []byte          `json:"value_base64"`
	Partition   *int32          `json:"partition"`
	Timestamp   *time.Time      `json:"timestamp"`
	Headers     []struct {
		Key         string          `json:"key"`
		Value       json.RawMessage `json:"value"`
		ValueBase64 []byte          `json:"value_base64"`
	} `json:"headers"`
}

func (o *oracle) payload(t *testing.T, raw json.RawMessage, b64 []byte, schema json.RawMessage) []byte {
	t.Helper()
	switch bySchema := len(schema) > 0 && string(schema) != "null"; {
	case b64 != nil:
		return b64
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case raw[0] == '"' && !bySchema:
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		return append([]byte{}, s...)
	}
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What is taken, the standard library takes too and reads the same; what is refused is an InvalidError.
func FuzzParseRecords(f *testing.F) {
	for _, s := range []string{
		`{"records":[{"key":"k1","value":{"id": 1.10},"headers":[{"key":"h","value":"v"},{"key":"b","value_base64":"AP8="}],"partition":0,"timestamp":"2026-01-02T03:04:05.678Z"}]}`,
		`{"records":[{"value":"a\u00e9\n\ud83d\ude00"},{"value":[1, 2 , {"a" : null}]},{"key_base64":"","value":null}]}`,
		`{"records":[{"headers":null,"partition":null,"timestamp":null}, {} ]}`,
		`{"key_schema":{"id":1},"records":[{"key":"a\u00e9","value":"b"},{"key":null,"value":[1, 2]}],"value_schema":null}`,
		`{"rec\u006frds":[{"key":"a","value":"b\n"},{"value":{"a" : 1}}],"value\u005fschema":{"subject":"s","version":"latest"},"key_schema":null}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		b := gateway.NewBatch()
		if err := parseRecords(bytes.Clone(in), b, 100, gateway.AnyPartition); err != nil {
			var bad *gateway.InvalidError
			if !errors.As(err, &bad) && !errors.Is(err, gateway.ErrTooLarge) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		var want struct {
			Records     []oracle        `json:"records"`
			KeySchema   json.RawMessage `json:"key_schema"`
			ValueSchema json.RawMessage `json:"value_schema"`
		}
		if err := json.Unmarshal(in, &want); err != nil {
			t.Fatalf("%q is taken, but: %v", in, err)
		}
		if len(want.Records) != len(b.Records) {
			t.Fatalf("%d records, want %d", len(b.Records), len(want.Records))
		}
		for i := range b.Records {
			r, o := &b.Records[i], &want.Records[i]
			same := func(what string, got, want []byte) {
				if !bytes.Equal(got, want) || (got == nil) != (want == nil) {
					t.Fatalf("%q: record %d: %s %q, want %q", in, i, what, got, want)
				}
			}
			same("key", r.Key, o.payload(t, o.Key, o.KeyBase64, want.KeySchema))
			same("value", r.Value, o.payload(t, o.Value, o.ValueBase64, want.ValueSchema))
			if len(r.Headers) != len(o.Headers) {
				t.Fatalf("%q: %d headers, want %d", in, len(r.Headers), len(o.Headers))
			}
			for j := range r.Headers {
				same("header", r.Headers[j].Value, o.payload(t, o.Headers[j].Value, o.Headers[j].ValueBase64, nil))
				if r.Headers[j].Key != o.Headers[j].Key {
					t.Fatalf("%q: header %q, want %q", in, r.Headers[j].Key, o.Headers[j].Key)
				}
			}
			if o.Partition != nil && r.Partition != *o.Partition || o.Partition == nil && r.Partition != gateway.AnyPartition {
				t.Fatalf("%q: partition %d", in, r.Partition)
			}
			if o.Timestamp != nil && !r.Timestamp.Equal(*o.Timestamp) {
				t.Fatalf("%q: time %v", in, r.Timestamp)
			}
		}
	})
}

func BenchmarkParseRecords(b *testing.B) {
	body := []byte(`{"records":[{"key":"user-17","value":{"id":12345,"page":"/index.html","ms":17}}]}`)
	batch := gateway.NewBatch()
	b.ReportAllocs()
	for b.Loop() {
		batch.Records = batch.Records[:0]
		if err := parseRecords(body, batch, 10, gateway.AnyPartition); err != nil {
			b.Fatal(err)
		}
	}
}
