package rest

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestAppendTime(t *testing.T) {
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.UnixMilli(0), `"1970-01-01T00:00:00.000Z"`},
		{time.Date(2026, 11, 30, 23, 59, 59, 7_999_999, time.FixedZone("", 3600)), `"2026-11-30T22:59:59.007Z"`},
		{time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC), `"9999-12-31T23:59:59.999Z"`},
		{time.UnixMilli(-1), `"1969-12-31T23:59:59.999Z"`},
		{time.UnixMilli(1 << 60), `"1152921504606846976"`},
		{time.Date(7, 1, 2, 3, 4, 5, 0, time.UTC), `"0007-01-02T03:04:05.000Z"`},
	} {
		if got := string(appendTime(nil, c.at)); got != c.want {
			t.Errorf("%v: %s, want %s", c.at, got, c.want)
		}
	}
}

func TestAppendRecord(t *testing.T) {
	r := &kgo.Record{
		Partition: 3, Offset: 1<<63 - 1, Timestamp: time.UnixMilli(5), Key: []byte("k\"\n\x00"), Value: []byte(" {\"a\" : 1e400}\n"),
		Headers: []kgo.RecordHeader{{Key: "h\xff", Value: nil}, {Key: "", Value: []byte{0xff}}, {Key: "e", Value: []byte{}}},
	}
	want := `{"partition":3,"offset":"9223372036854775807","timestamp":"1970-01-01T00:00:00.005Z","key":"k\"\n\u0000",` +
		`"value":{"a":1e400},"value_format":"json","headers":[{"key":"h\ufffd","value":null},{"key":"","value_base64":"/w=="},{"key":"e","value":""}]}`
	if got := string(appendRecord(nil, r, formatAuto)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	r.Value = []byte("123 456")
	want = `"value":"123 456","value_format":"text"`
	if got := string(appendValue(nil, r.Value, formatAuto)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
