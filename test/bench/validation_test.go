//go:build bench

package bench

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/broker/record"
	"moldau/test/peers"
)

// validatedKind is a schema and a payload that conforms to it, without the envelope.
type validatedKind struct {
	kind, schema string
	envelope     int // bytes of the message path behind the id
	payload      []byte
	aim          float64 // what is left of the rate without validation, at level structure
}

const (
	validatedID, validatedNote = "b7e4f9d2-6a53-4c1e-8f0b-2d9c7a51e6f3", "please ring the bell twice"
	validatedUnits             = 12
	validatedTotal             = 199.95
)

// validatedKinds are the same order in three languages, about 100 bytes long.
func validatedKinds() []validatedKind {
	return []validatedKind{
		{"AVRO", `{"type":"record","name":"Order","fields":[{"name":"id","type":"string"},{"name":"units","type":"long"},
			{"name":"total","type":"double"},{"name":"currency","type":"string"},{"name":"note","type":["null","string"]},
			{"name":"tags","type":{"type":"array","items":"string"}}]}`, 0, avroOrder(), 0.85},
		{"PROTOBUF", `syntax = "proto3"; message Order { string id = 1; int64 units = 2; double total = 3; string currency = 4;
			optional string note = 5; repeated string tags = 6; }`, 1, protobufOrder(), 0.85},
		{"JSON", `{"type":"object","required":["id","units"],"properties":{"id":{"type":"string"},"units":{"type":"integer","minimum":0},
			"total":{"type":"number"},"currency":{"type":"string","maxLength":3},"note":{"type":["null","string"]},
			"tags":{"type":"array","items":{"type":"string"}}}}`, 0, jsonOrder(), 0.4},
	}
}

func avroOrder() (b []byte) {
	text := func(s string) { b = append(binary.AppendVarint(b, int64(len(s))), s...) }
	text(validatedID)
	b = binary.AppendVarint(b, validatedUnits)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(validatedTotal))
	text("CZK")
	b = binary.AppendVarint(b, 1)
	text(validatedNote)
	b = binary.AppendVarint(b, 2)
	text("new")
	text("gift")
	return binary.AppendVarint(b, 0)
}

func protobufOrder() (b []byte) {
	text := func(field byte, s string) { b = append(append(b, field<<3|2, byte(len(s))), s...) }
	text(1, validatedID)
	b = append(b, 2<<3, validatedUnits, 3<<3|1)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(validatedTotal))
	text(4, "CZK")
	text(5, validatedNote)
	text(6, "new")
	text(6, "gift")
	return b
}

func jsonOrder() []byte {
	return fmt.Appendf(nil, `{"id":%q,"units":%d,"total":%v,"currency":"CZK","note":%q,"tags":["new","gift"]}`, validatedID, validatedUnits, validatedTotal, validatedNote)
}

var validationLevels = []string{"off", "id", "structure", "full", "rules"}

// TestValidationCost prints what each level of validation costs beside none, in turns: a Go client that has a core of its
// own to work on, and prebuilt frames, whose client costs nothing, so that all is the broker's.
func TestValidationCost(t *testing.T) {
	if testing.Short() {
		t.Skip("-short runs the rows that matter most")
	}
	records, rounds := setting("BENCH_RECORDS", defaultRecords/2), setting("BENCH_ROUNDS", defaultRounds)
	m := peers.StartMoldau(t, peers.BuildMoldau(t), "--set", "durability=relaxed")
	b := broker{"moldau", m.Kafka(), m.Pid}
	r := &registryLoad{t: t, url: "http://" + m.Addresses["registry"]}
	for _, k := range validatedKinds() {
		value := r.enveloped(k)
		topic := func(level string) string { return "validated-" + k.kind + "-" + level }
		for _, level := range validationLevels {
			createTopic(t, b.addr, topic(level))
			setConfig(t, b.addr, topic(level), "schema.validation.value", level)
		}
		frames, client := map[string][]Sample{}, map[string][]Sample{}
		for round := range rounds + 1 {
			for _, level := range validationLevels {
				// The client comes first: it tries again while the broker has not compiled the schema yet.
				c := sampledBoth(t, b, func() int { return produceValues(t, b.addr, topic(level), value, records) })
				f := sampled(t, b, func() int { return replayValues(t, b.addr, topic(level), value, records) })
				if round > 0 {
					frames[level], client[level] = append(frames[level], f), append(client[level], c)
				}
			}
		}
		printValidation(t, k, len(value), frames, client)
		for _, level := range validationLevels {
			deleteTopic(t, b.addr, topic(level))
		}
	}
}

func printValidation(t *testing.T, k validatedKind, size int, frames, client map[string][]Sample) {
	t.Helper()
	table(t, fmt.Sprintf("validation, %s, records of %d B", k.kind, size), "level", "Go client, records/s", "client and broker, µs/record", "× off",
		"prebuilt frames, broker, µs/record", "over off, µs/record")
	cost := func(samples map[string][]Sample, level string) Spread {
		return Summarize(samples[level], Sample.PerRecord)
	}
	off, bare := cost(client, "off").Median, cost(frames, "off").Median
	for _, level := range validationLevels {
		both, alone := cost(client, level), cost(frames, level)
		line(t, level, Summarize(client[level], Sample.Rate).String(), both.String(), number(off/both.Median), alone.String(), number(alone.Median-bare))
	}
	aim(t, "records for the same processor time, × off", atLeast("structure, "+k.kind, off/cost(client, "structure").Median, k.aim))
}

// enveloped registers a schema for all topics of its kind, and returns a payload that names it.
func (r *registryLoad) enveloped(k validatedKind) []byte {
	r.t.Helper()
	var id uint32
	for _, level := range validationLevels {
		body, err := json.Marshal(map[string]string{"schemaType": k.kind, "schema": k.schema})
		if err != nil {
			r.t.Fatal(err)
		}
		resp, err := r.client.Post(fmt.Sprintf("%s/subjects/validated-%s-%s-value/versions", r.url, k.kind, level), "application/json", bytes.NewReader(body))
		var made struct{ ID uint32 }
		if err := json.Unmarshal(r.answer(resp, err), &made); err != nil || resp.StatusCode != http.StatusOK {
			r.t.Fatal(err)
		}
		id = made.ID
	}
	value := binary.BigEndian.AppendUint32([]byte{0}, id)
	value = append(value, make([]byte, k.envelope)...)
	return append(value, k.payload...)
}

// sampledBoth is sampled with the processor time of this process, the client's, as well.
func sampledBoth(t *testing.T, b broker, run func() int) Sample {
	t.Helper()
	before, err := CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	s := sampled(t, b, run)
	after, err := CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	s.Broker += after - before
	return s
}

// replayValues is replayFrames with records of one value.
func replayValues(t *testing.T, addr, topic string, value []byte, records int) int {
	t.Helper()
	builder := record.NewBuilder(record.NewOptions(record.None))
	for range replayRecords {
		builder.Append(&record.Record{Timestamp: time.Now().UnixMilli(), Value: value})
	}
	batch, err := builder.Build(nil, record.NewCompressor())
	if err != nil {
		t.Fatal(err)
	}
	var requests [][]byte
	for p := range 2 * replayConns {
		requests = append(requests, produceRequest(topic, p, 1, batch))
	}
	return replayAll(t, addr, records, func(conn, turn int) []byte { return requests[2*conn+turn%2] })
}

// produceValues produces records of one value with an idempotent client, without compression.
func produceValues(t *testing.T, addr, topic string, value []byte, records int) int {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ProducerLinger(5*time.Millisecond), kgo.MaxBufferedRecords(50_000))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for range records {
		cl.Produce(t.Context(), &kgo.Record{Value: value}, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	if err := cl.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return records
}

// setConfig sets a config of a topic.
func setConfig(t *testing.T, addr, topic, name, value string) {
	t.Helper()
	adm, done := admin(t, addr)
	defer done()
	answers, err := adm.AlterTopicConfigs(t.Context(), []kadm.AlterConfig{{Op: kadm.SetConfig, Name: name, Value: &value}}, topic)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		if a.Err != nil {
			t.Fatal(a.Err)
		}
	}
}
