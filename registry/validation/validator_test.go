package validation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"moldau/broker/record"
	"moldau/registry/catalog"
	"moldau/registry/conform"
	"moldau/registry/format"
	"moldau/registry/format/avro"
	"moldau/registry/format/jsonschema"
	"moldau/registry/format/protobuf"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeSource is a catalog of which the newest versions are seen only after Current.
type fakeSource struct {
	mu            sync.Mutex
	shown, newest *catalog.Catalog
	err           error
	asked         int
	offset        int64
}

func (f *fakeSource) Catalog() *catalog.Catalog {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shown
}

func (f *fakeSource) Wait(context.Context) error { return f.err }

func (f *fakeSource) Current(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	f.shown = f.newest
	return nil
}

// add writes a version to the topic.
func (f *fakeSource) add(t testing.TB, subject string, id int32, kind, text string) *catalog.Schema {
	t.Helper()
	s := &catalog.Schema{Subject: subject, Version: int32(len(f.newest.Versions(subject)) + 1), ID: id, Type: kind, Text: text} //nolint:gosec // a few
	s.GUID = s.Sum()
	key := fmt.Sprintf(`{"keytype":"SCHEMA","subject":%q,"version":%d,"magic":1}`, subject, s.Version)
	value := fmt.Sprintf(`{"subject":%q,"version":%d,"id":%d,"schemaType":%q,"schema":%q,"deleted":false}`, subject, s.Version, id, kind, text)
	next, err := f.newest.Apply(catalog.Record{Key: []byte(key), Value: []byte(value), Offset: f.offset})
	if err != nil {
		t.Fatal(err)
	}
	f.offset++
	f.newest = next
	return s
}

const (
	avroText  = `{"type":"record","name":"A","namespace":"n","fields":[{"name":"s","type":"string"}]}`
	protoText = "syntax = \"proto3\";\npackage n;\n\nmessage P {\n  string s = 1;\n}\n"
	jsonText  = `{"type":"object","required":["s"]}`
)

func newTestValidator(t testing.TB) (*Validator, *fakeSource) {
	t.Helper()
	f := &fakeSource{shown: new(catalog.Catalog), newest: new(catalog.Catalog)}
	l := format.DefaultLimits()
	v := New(Options{
		Open: func() (Source, error) { return f, nil }, SchemasTopic: "_schemas", Waiting: 2,
		Formats: []format.Format{avro.New(l), protobuf.New(l), jsonschema.New(l)}, Limits: conform.DefaultLimits(),
	})
	t.Cleanup(v.Close)
	return v, f
}

var unpack = record.NewDecompressor(record.Limits{})

func batchOf(t testing.TB, codec record.Codec, records ...record.Record) record.Batch {
	t.Helper()
	b := record.NewBuilder(record.NewOptions(codec))
	for i := range records {
		b.Append(&records[i])
	}
	built, err := b.Build(nil, record.NewCompressor())
	if err != nil {
		t.Fatal(err)
	}
	return built
}

func named5(id byte, payload string) []byte { return append([]byte{0, 0, 0, 0, id}, payload...) }

func TestReasons(t *testing.T) {
	v, f := newTestValidator(t)
	a := f.add(t, "t-value", 1, format.Avro, avroText)
	p := f.add(t, "t-value", 2, format.Protobuf, protoText)
	f.add(t, "t-value", 3, format.JSON, jsonText)
	f.add(t, "n.A", 4, format.Avro, strings.Replace(avroText, `"s"`, `"r"`, 1))
	f.add(t, "t-n.P", 5, format.Protobuf, strings.Replace(protoText, "s = 1", "r = 1", 1))
	header := func(s *catalog.Schema, index string) []record.Header {
		return []record.Header{{Key: []byte(conform.ValueHeader), Value: append(append([]byte{1}, s.GUID[:]...), index...)}}
	}
	for _, c := range []struct {
		name   string
		level  Level
		by     Strategy
		take   Envelope
		value  []byte
		header []record.Header
		want   string
	}{
		{"avro", Structure, TopicName, Required, named5(1, "\x02x"), nil, ""},
		{"avro cut short", Structure, TopicName, Required, named5(1, "\x04x"), nil, "malformed"},
		{"avro cut short, id only", ID, TopicName, Required, named5(1, "\x04x"), nil, ""},
		{"avro trailing", Full, TopicName, Required, named5(1, "\x02xy"), nil, "trailing"},
		{"protobuf", Structure, TopicName, Required, named5(2, "\x00\x0a\x01x"), nil, ""},
		{"protobuf, no such message", ID, TopicName, Required, named5(2, "\x02\x08\x0a\x01x"), nil, "message_index"},
		{"protobuf, malformed indexes", ID, TopicName, Required, named5(2, "\x80"), nil, "message_index"},
		{"json", Rules, TopicName, Required, named5(3, `{"s":1}`), nil, ""},
		{"json without the field", Structure, TopicName, Required, named5(3, `{}`), nil, "schema"},
		{"no id", Structure, TopicName, Required, []byte("bare"), nil, "no_schema_id"},
		{"unknown id", ID, TopicName, Required, named5(77, ""), nil, "unknown_schema"},
		{"other subject", ID, TopicName, Required, named5(4, "\x02x"), nil, "subject"},
		{"record", Structure, RecordName, Required, named5(4, "\x02x"), nil, ""},
		{"record, other subject", ID, RecordName, Required, named5(1, "\x02x"), nil, "subject"},
		{"topic and record", Structure, TopicRecordName, Required, named5(5, "\x00\x0a\x01x"), nil, ""},
		{"topic and record, other subject", Structure, TopicRecordName, Required, named5(2, "\x00\x0a\x01x"), nil, "subject"},
		{"bare", Structure, TopicName, Bare, []byte(`{"s":1}`), nil, ""},
		{"bare and wrong", Structure, TopicName, Bare, []byte(`{}`), nil, "schema"},
		{"guid", Structure, TopicName, Required, []byte("\x02x"), header(a, ""), ""},
		{"guid and more", ID, TopicName, Required, []byte("\x02x"), header(a, "\x00"), "no_schema_id"},
		{"guid of protobuf", Structure, TopicName, Required, []byte("\x0a\x01x"), header(p, "\x00"), ""},
		{"guid without indexes", Structure, TopicName, Required, []byte("\x0a\x01x"), header(p, ""), "message_index"},
		{"malformed header", ID, TopicName, Required, []byte("x"), []record.Header{{Key: []byte(conform.ValueHeader), Value: []byte{1}}}, "no_schema_id"},
		{"null", Structure, TopicName, Required, nil, nil, ""},
	} {
		topic := &Topic{Name: "t", Value: Part{Level: c.level, Strategy: c.by}, Envelope: c.take}
		for _, codec := range []record.Codec{record.None, record.Zstd} {
			b := batchOf(t, codec, record.Record{Value: nil}, record.Record{Value: c.value, Headers: c.header})
			got, err := validate(v, topic, b)
			switch {
			case err != nil:
				t.Errorf("%s: %v", c.name, err)
			case c.want == "" && len(got) > 0, c.want != "" && (len(got) != 1 || got[0].Index != 1 || got[0].Reason != c.want || got[0].Message == ""):
				t.Errorf("%s: %+v, want %q", c.name, got, c.want)
			}
		}
	}
}

// validate shows a batch to a validator, and asks for as many failures as it may have.
func validate(v *Validator, t *Topic, b record.Batch) ([]Failure, error) {
	r := b.Records(unpack)
	defer r.Close()
	got, err := v.Validate(t, r, int(b.Count()))
	return got.Failures, err
}

func TestNullIsRefusedOnDemand(t *testing.T) {
	v, _ := newTestValidator(t)
	topic := &Topic{Name: "t", Key: Part{Level: ID}, RejectNull: true}
	got, err := validate(v, topic, batchOf(t, record.None, record.Record{Value: []byte("x")}))
	if err != nil || len(got) != 1 || got[0].Reason != "null" || !strings.HasPrefix(got[0].Message, "The key") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestUnknownSchemaAsksForTheEndOnce(t *testing.T) {
	v, f := newTestValidator(t)
	topic := &Topic{Name: "t", Value: Part{Level: ID}}
	b := batchOf(t, record.None, record.Record{Value: named5(7, "")}, record.Record{Value: named5(8, "")})
	got, err := validate(v, topic, b)
	if err != nil || len(got) != 2 || f.asked != 1 {
		t.Errorf("%+v, %v, asked %d times", got, err, f.asked)
	}
	f.add(t, "t-value", 7, format.Avro, avroText)
	if got, err = validate(v, topic, b); err != nil || len(got) != 1 || got[0].Index != 1 {
		t.Errorf("after the registration: %+v, %v", got, err)
	}
}

// TestStaleCatalogRefusesNothing registers schemas that the validator has under other names already, which a stale catalog
// would refuse.
func TestStaleCatalogRefusesNothing(t *testing.T) {
	for _, c := range []struct {
		name  string
		topic Topic
		value []byte
		// subject gets a schema of this id afterwards.
		subject string
		id      int32
	}{
		{"subject", Topic{Name: "t", Value: Part{Level: ID}}, named5(1, "\x02x"), "t-value", 1},
		{"record", Topic{Name: "t", Value: Part{Level: ID, Strategy: RecordName}}, named5(1, "\x02x"), "n.A", 1},
		{"latest", Topic{Name: "u", Value: Part{Level: ID}, LatestOnly: true}, named5(3, "{}"), "u-value", 3},
		{"bare", Topic{Name: "u", Value: Part{Level: Structure}, Envelope: Bare}, []byte(`{"s":1}`), "u-value", 3},
	} {
		v, f := newTestValidator(t)
		f.add(t, "other", 1, format.Avro, avroText)
		f.add(t, "another", 3, format.JSON, jsonText)
		f.add(t, "u-value", 2, format.Avro, avroText)
		f.shown = f.newest
		b := batchOf(t, record.None, record.Record{Value: c.value}, record.Record{Value: c.value})
		got, err := validate(v, &c.topic, b)
		if err != nil || len(got) != 2 || f.asked != 1 {
			t.Errorf("%s, before: %+v, %v, asked %d times", c.name, got, err, f.asked)
		}
		kind, text := format.Avro, avroText
		if c.id == 3 {
			kind, text = format.JSON, jsonText
		}
		f.add(t, c.subject, c.id, kind, text)
		if got, err = validate(v, &c.topic, b); err != nil || len(got) > 0 || f.asked != 2 {
			t.Errorf("%s, after: %+v, %v, asked %d times", c.name, got, err, f.asked)
		}
	}
}

func TestLatestOnly(t *testing.T) {
	v, f := newTestValidator(t)
	f.add(t, "t-value", 1, format.Avro, avroText)
	topic := &Topic{Name: "t", Value: Part{Level: ID}, LatestOnly: true}
	b := batchOf(t, record.None, record.Record{Value: named5(1, "\x02x")})
	if got, err := validate(v, topic, b); err != nil || len(got) > 0 {
		t.Errorf("the only version: %+v, %v", got, err)
	}
	f.add(t, "t-value", 2, format.Avro, `"string"`)
	f.shown = f.newest
	if got, err := validate(v, topic, b); err != nil || len(got) != 1 || got[0].Reason != reasonNotLatest || got[0].SchemaID != 1 {
		t.Errorf("an older version: %+v, %v", got, err)
	}
	topic.LatestOnly = false
	if got, err := validate(v, topic, b); err != nil || len(got) > 0 {
		t.Errorf("an older version where all may be: %+v, %v", got, err)
	}
}

// TestManyFailures has more of them than get a message, and more than are asked for.
func TestManyFailures(t *testing.T) {
	v, _ := newTestValidator(t)
	b := batchOf(t, record.None, slices.Repeat([]record.Record{{Value: []byte("bad")}}, record.MaxRecordErrors+10)...)
	got, err := validate(v, &Topic{Name: "t", Value: Part{Level: ID}}, b)
	if err != nil || len(got) != record.MaxRecordErrors+10 {
		t.Fatalf("%d failures, %v", len(got), err)
	}
	for i, f := range got {
		if f.Index != int32(i) || f.Reason != reasonNoID || f.SchemaID != NoSchema || (f.Message == "") != (i >= record.MaxRecordErrors) {
			t.Fatalf("failure %d: %+v", i, f)
		}
	}
	r := b.Records(unpack)
	defer r.Close()
	if got, err := v.Validate(&Topic{Name: "t", Value: Part{Level: ID}}, r, 3); err != nil || len(got.Failures) != 3 {
		t.Errorf("asked for 3: %d, %v", len(got.Failures), err)
	}
}

func TestTopicsWithSeries(t *testing.T) {
	m := newMetrics(nil)
	for i := range maxTopics {
		if name := fmt.Sprint("t", i); m.label(name) != name {
			t.Fatalf("topic %d has no series of its own", i)
		}
	}
	if got := m.label("late"); got != otherTopics {
		t.Errorf("one too many: %s", got)
	}
	if got := m.label("t0"); got != "t0" {
		t.Errorf("an old one: %s", got)
	}
}

func TestNothingPassesBeforeTheFirstLoad(t *testing.T) {
	v, f := newTestValidator(t)
	f.err = errors.New("no broker")
	topic := &Topic{Name: "t", Value: Part{Level: ID}}
	b := batchOf(t, record.None, record.Record{})
	if _, err := validate(v, topic, b); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if got, err := validate(v, &Topic{Name: "_schemas", Value: topic.Value}, b); err != nil || got != nil {
		t.Errorf("the registry's own topic: %v, %v", got, err)
	}
	f.err = nil
	if _, err := validate(v, topic, b); err != nil {
		t.Error(err)
	}
	v.Close()
	if _, err := validate(v, topic, b); !errors.Is(err, ErrUnavailable) {
		t.Errorf("after Close: %v", err)
	}
}

// TestFewWait fills the places of those who wait; the next one is sent away at once.
func TestFewWait(t *testing.T) {
	v, _ := newTestValidator(t)
	for range v.opts.Waiting {
		v.waiting <- struct{}{}
	}
	_, err := validate(v, &Topic{Name: "t", Value: Part{Level: ID}}, batchOf(t, record.None, record.Record{}))
	if !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestUncheckable(t *testing.T) {
	v, f := newTestValidator(t)
	f.add(t, "t-value", 1, format.Avro, `{"type":"nonsense"}`)
	got, err := validate(v, &Topic{Name: "t", Value: Part{Level: Structure}}, batchOf(t, record.None, record.Record{Value: named5(1, "")}))
	if err != nil || len(got) != 1 || got[0].Reason != reasonUncheckable {
		t.Errorf("%+v, %v", got, err)
	}
}

// slowOnce is a format that lacked the time to parse its first schema.
type slowOnce struct {
	format.Format
	asked atomic.Int32
}

func (s *slowOnce) Parse(ctx context.Context, source format.Source) (format.Schema, error) {
	if s.asked.Add(1) == 1 {
		return nil, fmt.Errorf("parse: %w", context.DeadlineExceeded)
	}
	return s.Format.Parse(ctx, source)
}

// A schema that could not be compiled in time is no fault of the record, and is compiled again after a while.
func TestSchemaThatTookTooLongIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, f := newTestValidator(t)
		slow := &slowOnce{Format: avro.New(format.DefaultLimits())}
		v.checkers.formats[format.Avro] = slow
		f.add(t, "t-value", 1, format.Avro, avroText)
		topic, batch := &Topic{Name: "t", Value: Part{Level: Structure}}, batchOf(t, record.None, record.Record{Value: named5(1, "\x02x")})
		for range 3 {
			if got, err := validate(v, topic, batch); !errors.Is(err, ErrUnavailable) {
				t.Fatalf("%+v, %v", got, err)
			}
		}
		<-time.After(failureAge + 1)
		if got, err := validate(v, topic, batch); err != nil || len(got) > 0 || slow.asked.Load() != 2 {
			t.Errorf("%+v, %v; parsed %d times", got, err, slow.asked.Load())
		}
	})
}

func BenchmarkValidate(b *testing.B) {
	v, f := newTestValidator(b)
	f.add(b, "t-value", 1, format.Avro, avroText)
	f.add(b, "t-value", 2, format.Protobuf, protoText)
	f.add(b, "t-value", 3, format.JSON, jsonText)
	text := strings.Repeat("x", 60)
	payloads := map[string][]byte{
		"avro": named5(1, "\x78"+text), "protobuf": named5(2, "\x00\x0a\x3c"+text), "json": named5(3, `{"s":"`+text+`"}`),
	}
	for _, kind := range []string{"avro", "protobuf", "json"} {
		batch := batchOf(b, record.None, slices.Repeat([]record.Record{{Value: payloads[kind]}}, 1000)...)
		for _, level := range []Level{ID, Structure} {
			topic := &Topic{Name: "t", Value: Part{Level: level}}
			b.Run(kind+"/"+level.String(), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if got, err := validate(v, topic, batch); err != nil || len(got) > 0 {
						b.Fatal(got, err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
			})
		}
	}
}
