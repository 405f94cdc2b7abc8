package configdef

import (
	"strings"
	"testing"
)

func TestValidation(t *testing.T) {
	for _, c := range []struct {
		name      string
		overrides map[string]string
		want      Validation
	}{
		{"nothing", nil, Validation{}},
		{"level", map[string]string{"schema.validation.value": "structure"}, Validation{Value: ValidatedPart{Level: ValidationStructure}}},
		{"alias", map[string]string{"confluent.key.schema.validation": "true"}, Validation{Key: ValidatedPart{Level: ValidationID}}},
		{
			"the stricter one holds",
			map[string]string{"redpanda.value.schema.id.validation": "true", "schema.validation.value": "rules"},
			Validation{Value: ValidatedPart{Level: ValidationRules}},
		},
		{
			"the alias is not switched off",
			map[string]string{"redpanda.value.schema.id.validation": "true", "schema.validation.value": "off"},
			Validation{Value: ValidatedPart{Level: ValidationID}},
		},
		{
			"strategy of a class",
			map[string]string{"confluent.value.subject.name.strategy": recordClass, "redpanda.value.subject.name.strategy": "topic"},
			Validation{Value: ValidatedPart{Strategy: RecordSubject}},
		},
		{
			"own strategy before the alias",
			map[string]string{"confluent.value.subject.name.strategy": recordClass, "schema.validation.value.subject.name.strategy": "topic-record"},
			Validation{Value: ValidatedPart{Strategy: TopicRecordSubject}},
		},
		{
			"the rest",
			map[string]string{"schema.validation.action": "observe", "schema.validation.envelope": "bare", "schema.validation.null": "reject", "schema.validation.latest.only": "true"},
			Validation{Action: ValidationObserve, Envelope: EnvelopeBare, RejectNull: true, LatestOnly: true},
		},
		{"envelope", map[string]string{"schema.validation.envelope": "coerce"}, Validation{Envelope: EnvelopeCoerce}},
		{
			"dead letters",
			map[string]string{"schema.validation.action": "dlq", "schema.validation.dlq.topic": "bad.ones"},
			Validation{Action: ValidationDeadLetter, DeadLetters: "bad.ones"},
		},
	} {
		topic, err := ParseTopic(c.overrides, nil)
		if err != nil || topic.Validation != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, topic.Validation, err, c.want)
		}
	}
}

func TestDeadLetterTopic(t *testing.T) {
	if got := (&Validation{}).DeadLetterTopic("orders"); got != "orders.dlq" {
		t.Errorf("unset: %s", got)
	}
	if got := (&Validation{DeadLetters: "bad"}).DeadLetterTopic("orders"); got != "bad" {
		t.Errorf("set: %s", got)
	}
	for _, name := range []string{"", ".", "..", "__consumer_offsets", "_schemas", "a b", strings.Repeat("a", 250)} {
		if err := ValidateTopic(map[string]string{"schema.validation.dlq.topic": name}, nil); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
}

func TestEnvelopes(t *testing.T) {
	for _, c := range []struct{ envelope, strategy, part string }{
		{"bare", "schema.validation.value.subject.name.strategy", "envelope=bare needs the subject name strategy topic"},
		{"coerce", "schema.validation.key.subject.name.strategy", "envelope=coerce needs the subject name strategy topic"},
		{"coerce", "confluent.value.subject.name.strategy", "envelope=coerce needs the subject name strategy topic"},
		{"Coerce", "", "String must be one of: required, coerce, bare"},
		{"", "", "String must be one of: required, coerce, bare"},
	} {
		overrides := map[string]string{"schema.validation.envelope": c.envelope}
		if c.strategy != "" {
			overrides[c.strategy] = "record"
		}
		if err := ValidateTopic(overrides, nil); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%v: %v", overrides, err)
		}
	}
	if _, err := ParseTopic(map[string]string{"schema.validation.action": "drop"}, nil); err == nil {
		t.Error("an unknown action was taken")
	}
}
