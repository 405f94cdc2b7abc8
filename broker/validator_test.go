package broker

import (
	"bytes"
	"errors"
	"testing"

	"moldau/broker/configdef"
	"moldau/broker/record"
)

// fakeValidator refuses values that begin with "bad". Under coerce it has "key:" and "value:" put in front of keys and values that begin
// with "bare".
type fakeValidator struct {
	err    error
	called int
}

// fakeEnvelopes are those of the records of a batch.
type fakeEnvelopes map[int32][2][]byte

func (e fakeEnvelopes) Of(i int32) (inFrontOfKey, inFrontOfValue []byte) { return e[i][0], e[i][1] }

func (f *fakeValidator) Validate(_ string, rules *configdef.Validation, records *record.Reader, limit int) (Verdict, error) {
	f.called++
	if f.err != nil {
		return Verdict{}, f.err
	}
	var out Verdict
	envelopes := fakeEnvelopes{}
	for i := int32(0); records.Next(); i++ {
		r := records.Record()
		if bytes.HasPrefix(r.Value, []byte("bad")) {
			if len(out.Failures) < limit {
				out.Failures = append(out.Failures, ValidationFailure{Index: i, SchemaID: 7, Reason: "malformed", Message: "The value is bad"})
			}
			continue
		}
		var e [2][]byte
		if bytes.HasPrefix(r.Key, []byte("bare")) {
			e[0] = []byte("key:")
		}
		if bytes.HasPrefix(r.Value, []byte("bare")) {
			e[1] = []byte("value:")
		}
		if rules.Envelope == configdef.EnvelopeCoerce && (e[0] != nil || e[1] != nil) {
			envelopes[i] = e
		}
	}
	if len(envelopes) > 0 {
		out.Envelopes = envelopes
	}
	return out, nil
}

func TestProduceIsValidated(t *testing.T) {
	f := new(fakeValidator)
	n := startNode(t, relaxed, func(_ *Config, d *Deps) { d.Validator = f })
	free := n.topic("free", 1)
	reject := n.topic("reject", 1, "schema.validation.value", "structure")
	observe := n.topic("observe", 1, "confluent.value.schema.validation", "true", "schema.validation.action", "observe")
	internal := n.topic("__state", 1, "schema.validation.value", "structure")

	n.mustProduce(free, 0, plain(t, "bad"))
	n.mustProduce(internal, 0, plain(t, "bad"))
	if f.called != 0 {
		t.Errorf("%d batches were validated that nobody wanted validated", f.called)
	}
	for _, codec := range []record.Codec{record.None, record.Gzip, record.Snappy, record.LZ4, record.Zstd} {
		got := n.produce(reject, 0, batchOf(t, record.NewOptions(codec), "a", "bad", "c", "bad too"))
		if !errors.Is(got.Err, ErrInvalidRecord) || len(got.RecordErrors) != 2 || got.RecordErrors[0].Index != 1 || got.RecordErrors[1].Index != 3 ||
			got.RecordErrors[0].Message != "The value is bad" || got.BaseOffset != -1 {
			t.Errorf("%v: %+v", codec, got)
		}
	}
	n.mustProduce(reject, 0, plain(t, "good"))
	equal(t, "reject", n.read(reject, 0, 0), []string{"0=good"})
	n.mustProduce(observe, 0, plain(t, "a", "bad"))
	equal(t, "observe", n.read(observe, 0, 0), []string{"0=a", "1=bad"})
}

// TestValidationLooksAtTheBatchFirst sends batches that no topic takes: they are refused as elsewhere, whatever the schemas say.
func TestValidationLooksAtTheBatchFirst(t *testing.T) {
	n := startNode(t, relaxed, func(_ *Config, d *Deps) { d.Validator = &fakeValidator{err: errors.New("loading")} })
	topic := n.topic("t", 1, "schema.validation.value", "structure", "cleanup.policy", "compact")
	b := plain(t, "a")
	b[len(b)-1] ^= 1
	if got := n.produce(topic, 0, b); !errors.Is(got.Err, ErrCorruptMessage) {
		t.Errorf("a wrong checksum: %+v", got)
	}
	builder := record.NewBuilder(record.NewOptions(record.Zstd))
	builder.Append(&record.Record{Timestamp: testStart.UnixMilli(), Value: []byte("no key")})
	keyless, err := builder.Build(nil, testCompressor)
	must(t, err)
	if got := n.produce(topic, 0, keyless); !errors.Is(got.Err, ErrInvalidRecord) || len(got.RecordErrors) != 1 {
		t.Errorf("without a key: %+v", got)
	}
}

func TestRefusedBatchTakesNoSequence(t *testing.T) {
	n := startNode(t, relaxed, func(_ *Config, d *Deps) { d.Validator = new(fakeValidator) })
	topic := n.topic("t", 1, "schema.validation.value", "id")
	id := ProducerIdentity{ID: 7, Epoch: 0}
	n.mustProduce(topic, 0, batchOf(t, idempotent(id, 0), "a"))
	if got := n.produce(topic, 0, batchOf(t, idempotent(id, 1), "bad")); !errors.Is(got.Err, ErrInvalidRecord) {
		t.Fatalf("%+v", got)
	}
	n.mustProduce(topic, 0, batchOf(t, idempotent(id, 1), "b"))
	equal(t, "records", n.read(topic, 0, 0), []string{"0=a", "1=b"})
}

func TestUnavailableSchemasAreNoPass(t *testing.T) {
	n := startNode(t, relaxed, func(_ *Config, d *Deps) { d.Validator = &fakeValidator{err: errors.New("loading")} })
	topic := n.topic("t", 1, "schema.validation.key", "id", "schema.validation.action", "observe")
	got := n.produce(topic, 0, plain(t, "a"))
	if !errors.Is(got.Err, ErrSchemasNotAvailable) || got.Message == "" {
		t.Errorf("%+v", got)
	}
	none := startNode(t, relaxed)
	topic = none.topic("t", 1, "schema.validation.key", "id")
	if got := none.produce(topic, 0, plain(t, "a")); !errors.Is(got.Err, ErrSchemasNotAvailable) {
		t.Errorf("without a validator: %+v", got)
	}
}
