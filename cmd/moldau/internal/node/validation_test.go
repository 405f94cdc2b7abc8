package node

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker/configdef"
	"moldau/broker/record"
	"moldau/registry/validation"
)

func TestValidationNamesAgree(t *testing.T) {
	for l := configdef.ValidationOff; l <= configdef.ValidationRules; l++ {
		if got := partOf(configdef.ValidatedPart{Level: l}).Level.String(); got != l.String() {
			t.Errorf("level %s is %s", l, got)
		}
	}
	for e := configdef.EnvelopeRequired; e <= configdef.EnvelopeBare; e++ {
		if got := envelopeOf(e).String(); got != e.String() {
			t.Errorf("envelope %s is %s", e, got)
		}
	}
	for from, to := range map[configdef.SubjectStrategy]validation.Strategy{
		configdef.TopicSubject: validation.TopicName, configdef.RecordSubject: validation.RecordName, configdef.TopicRecordSubject: validation.TopicRecordName,
	} {
		if got := partOf(configdef.ValidatedPart{Strategy: from}).Strategy; got != to {
			t.Errorf("strategy %d is %d", from, got)
		}
	}
}

// register registers a schema and returns its id.
func (s *server) register(subject, kind, text string) byte {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"schemaType": kind, "schema": text})
	if err != nil {
		s.t.Fatal(err)
	}
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Post("http://"+s.addresses["registry"]+"/subjects/"+subject+"/versions", "application/json", strings.NewReader(string(body)))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatalf("register: %d %s %v", resp.StatusCode, raw, err)
	}
	var out struct{ ID byte }
	if err := json.Unmarshal(raw, &out); err != nil {
		s.t.Fatal(err)
	}
	return out.ID
}

// client returns a client that does not try again.
func (s *server) client() *kgo.Client {
	s.t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(s.addresses["kafka"]), kgo.DisableIdempotentWrite(), kgo.RecordRetries(20),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	return c
}

func produceTo(ctx context.Context, c *kgo.Client, topic string, value []byte) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return c.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: value}).FirstErr()
}

func named(id byte, payload ...byte) []byte { return append([]byte{0, 0, 0, 0, id}, payload...) }

// TestValidation registers schemas of all three languages and produces what conforms and what does not, before and after a
// restart, and with the role broker alone, which reads the schemas from its own topic.
func TestValidation(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	o, out := options(dir)
	s := start(t, o, out)
	ids := map[string]byte{
		"avro":  s.register("avro-value", "AVRO", `{"type":"record","name":"A","fields":[{"name":"s","type":"string"}]}`),
		"proto": s.register("proto-value", "PROTOBUF", `syntax = "proto3"; message P { string s = 1; }`),
		"json":  s.register("json-value", "JSON", `{"type":"object","required":["s"]}`),
	}
	c := s.client()
	adm := kadm.NewClient(c)
	level := "structure"
	for topic := range ids {
		if _, err := adm.CreateTopic(t.Context(), 1, 1, map[string]*string{"schema.validation.value": &level}, topic); err != nil {
			t.Fatal(err)
		}
	}
	good := map[string][]byte{
		"avro": named(ids["avro"], 2, 'x'), "proto": named(ids["proto"], 0, 10, 1, 'x'), "json": named(ids["json"], []byte(`{"s":1}`)...),
	}
	bad := map[string][][]byte{
		"avro":  {named(ids["avro"], 9, 'x'), named(ids["json"], 2, 'x'), named(99, 2, 'x'), []byte("bare"), named(ids["avro"], 2, 'x', 'y')},
		"proto": {named(ids["proto"], 0, 10, 9), named(ids["proto"], 2, 8, 10, 1, 'x')},
		"json":  {named(ids["json"], []byte(`{}`)...), named(ids["json"], '{')},
	}
	check := func(t *testing.T, c *kgo.Client) {
		t.Helper()
		for topic, payload := range good {
			if err := produceTo(t.Context(), c, topic, payload); err != nil {
				t.Errorf("%s: what conforms was refused: %v", topic, err)
			}
			if err := produceTo(t.Context(), c, topic, nil); err != nil {
				t.Errorf("%s: null was refused: %v", topic, err)
			}
			for _, payload := range bad[topic] {
				if err := produceTo(t.Context(), c, topic, payload); !errors.Is(err, kerr.InvalidRecord) {
					t.Errorf("%s: %q got %v", topic, payload, err)
				}
			}
		}
	}
	check(t, c)
	late := s.register("avro-value", "AVRO", `{"type":"record","name":"A","fields":[{"name":"s","type":"string"},{"name":"n","type":"int","default":0}]}`)
	if err := produceTo(t.Context(), c, "avro", named(late, 2, 'x', 4)); err != nil {
		t.Errorf("a schema that was just registered: %v", err)
	}
	requireRecordError(t, c, named(ids["avro"], 9, 'x'))
	if _, page := s.get("/metrics"); !strings.Contains(page, `moldau_validation_failed_total{level="structure",reason="malformed",topic="avro"}`) {
		t.Error("the metrics do not tell of the failures")
	}
	c.Close()
	s.end()

	for _, roles := range [][]string{nil, {"broker"}} {
		o, out = options(dir)
		o.Roles = roles
		s = start(t, o, out)
		c = s.client()
		check(t, c)
		c.Close()
		s.end()
	}
}

// TestDeadLetters leaves a batch without records behind, reads past it with a client, and looks at what became of its records.
func TestDeadLetters(t *testing.T) {
	o, out := options(filepath.Join(t.TempDir(), "data"))
	s := start(t, o, out)
	id := s.register("orders-value", "AVRO", `"string"`)
	c := s.client()
	level, action := "structure", "dlq"
	if _, err := kadm.NewClient(c).CreateTopic(t.Context(), 1, 1, map[string]*string{"schema.validation.value": &level, "schema.validation.action": &action}, "orders"); err != nil {
		t.Fatal(err)
	}
	for _, payload := range [][]byte{named(id, 9), []byte("bare"), named(id, 2, 'x')} {
		if err := produceTo(t.Context(), c, "orders", payload); err != nil {
			t.Errorf("%q: %v", payload, err)
		}
	}
	good := s.records("orders", 1)
	if good[0].Offset != 2 || string(good[0].Value) != string(named(id, 2, 'x')) {
		t.Errorf("the good record is %d %q", good[0].Offset, good[0].Value)
	}
	for i, want := range []string{
		"reason=malformed message=The value does not conform to schema 1: byte 1: a length is negative schema.id=1 topic=orders partition=0",
		"reason=no_schema_id message=The value does not begin with a schema id topic=orders partition=0",
	} {
		var got []string
		for _, h := range s.records("orders.dlq", 2)[i].Headers {
			got = append(got, strings.TrimPrefix(h.Key, "moldau.validation.")+"="+string(h.Value))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("dead letter %d: %q", i, got)
		}
	}
	c.Close()
	s.end()
}

// records reads records of the partition 0 of a topic from its beginning.
func (s *server) records(topic string, n int) []*kgo.Record {
	s.t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(s.addresses["kafka"]), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	var out []*kgo.Record
	for len(out) < n {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			s.t.Fatal(err)
		}
		out = append(out, fetches.Records()...)
	}
	return out
}

// requireRecordError sends one batch by hand and looks at the answer's errors of records.
func requireRecordError(t *testing.T, c *kgo.Client, payload []byte) {
	t.Helper()
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = -1, 30_000
	topics, err := kadm.NewClient(c).ListTopics(t.Context(), "avro")
	if err != nil {
		t.Fatal(err)
	}
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic, rt.TopicID = "avro", topics["avro"].ID
	rp := kmsg.NewProduceRequestTopicPartition()
	rp.Records = batchOf(t, payload)
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	p := &resp.Topics[0].Partitions[0]
	if p.ErrorCode != kerr.InvalidRecord.Code || len(p.ErrorRecords) != 1 || p.ErrorRecords[0].RelativeOffset != 1 || p.ErrorMessage == nil ||
		p.ErrorRecords[0].ErrorMessage == nil || !strings.Contains(*p.ErrorRecords[0].ErrorMessage, "does not conform to schema") {
		t.Errorf("the answer is %+v", p)
	}
}

// batchOf builds a batch of a null value and a payload.
func batchOf(t *testing.T, payload []byte) []byte {
	t.Helper()
	b := record.NewBuilder(record.NewOptions(record.None))
	for _, value := range [][]byte{nil, payload} {
		b.Append(&record.Record{Timestamp: time.Now().UnixMilli(), Value: value})
	}
	built, err := b.Build(nil, record.NewCompressor())
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// TestCoercedPayloadsAreDecoded produces payloads that name no schema, and reads them decoded by the schema that the broker put in front.
func TestCoercedPayloadsAreDecoded(t *testing.T) {
	o, out := options(filepath.Join(t.TempDir(), "data"))
	s := start(t, o, out)
	level, envelope := "structure", "coerce"
	configs := map[string]*string{"schema.validation.value": &level, "schema.validation.envelope": &envelope}
	c, err := kgo.NewClient(kgo.SeedBrokers(s.addresses["kafka"]), kgo.ProducerBatchCompression(kgo.ZstdCompression()), kgo.RecordRetries(20))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for kind, v := range map[string]struct{ schema, payload string }{
		"AVRO":     {`{"type":"record","name":"A","fields":[{"name":"s","type":"string"}]}`, "\x02x"},
		"PROTOBUF": {`syntax = "proto3"; message P { string s = 1; }`, "\x0a\x01x"},
		"JSON":     {`{"type":"object","required":["s"]}`, `{"s":"x"}`},
	} {
		s.register(kind+"-value", kind, v.schema)
		if _, err := kadm.NewClient(c).CreateTopic(t.Context(), 1, 1, configs, kind); err != nil {
			t.Fatal(err)
		}
		if err := produceTo(t.Context(), c, kind, []byte(v.payload)); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if err := produceTo(t.Context(), c, kind, []byte("\xffwrong")); !errors.Is(err, kerr.InvalidRecord) {
			t.Errorf("%s: what conforms to nothing: %v", kind, err)
		}
		_, body := s.get("/v1/topics/" + kind + "/records?from=earliest&value=schema")
		var read struct {
			Records []struct{ Value struct{ S string } }
		}
		if err := json.Unmarshal([]byte(body), &read); err != nil || len(read.Records) != 1 || read.Records[0].Value.S != "x" {
			t.Errorf("%s: %s, %v", kind, body, err)
		}
	}
}
