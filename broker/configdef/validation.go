package configdef

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// ValidationLevel is how closely the keys or values of a topic are looked at. Each level includes those before it.
type ValidationLevel uint8

// The levels.
const (
	// ValidationOff looks at nothing.
	ValidationOff ValidationLevel = iota
	// ValidationID asks for a schema id that is registered under a subject of the topic.
	ValidationID
	// ValidationStructure asks whether a decoder of the schema could read the payload.
	ValidationStructure
	// ValidationFull asks for logical types too.
	ValidationFull
	// ValidationRules asks for the conditions that the schema carries too.
	ValidationRules
)

// String is the name of the level in the configs.
func (l ValidationLevel) String() string { return validationLevels[l] }

var validationLevels = [...]string{"off", "id", "structure", "full", "rules"}

// SubjectStrategy says under which subject the schema of a payload must be registered.
type SubjectStrategy uint8

// The strategies.
const (
	// TopicSubject is the name of the topic with -key or -value.
	TopicSubject SubjectStrategy = iota
	// RecordSubject is the full name of the record.
	RecordSubject
	// TopicRecordSubject is the name of the topic, a hyphen and the full name of the record.
	TopicRecordSubject
)

// The values of the strategy configs: short names, and those of the classes of Confluent's Java serializers.
const (
	topicName, topicClass             = "topic", "io.confluent.kafka.serializers.subject.TopicNameStrategy"
	recordName, recordClass           = "record", "io.confluent.kafka.serializers.subject.RecordNameStrategy"
	topicRecordName, topicRecordClass = "topic-record", "io.confluent.kafka.serializers.subject.TopicRecordNameStrategy"
)

func parseStrategy(text string) SubjectStrategy {
	switch text {
	case recordName, recordClass, "RecordNameStrategy":
		return RecordSubject
	case topicRecordName, topicRecordClass, "TopicRecordNameStrategy":
		return TopicRecordSubject
	}
	return TopicSubject
}

func strategies() oneOf {
	return oneOf{
		topicName, recordName, topicRecordName, "TopicNameStrategy", "RecordNameStrategy", "TopicRecordNameStrategy",
		topicClass, recordClass, topicRecordClass,
	}
}

// ValidationAction is what happens with records that do not conform.
type ValidationAction uint8

// The actions, in the order of validationActions.
const (
	// ValidationReject refuses the batch.
	ValidationReject ValidationAction = iota
	// ValidationDeadLetter leaves the records out and appends them to another topic; batches of transactions are refused.
	ValidationDeadLetter
	// ValidationMark lets the records in with a header that tells the reason.
	ValidationMark
	// ValidationObserve counts the records and lets them in.
	ValidationObserve
)

// String is the name of the action in the configs.
func (a ValidationAction) String() string { return validationActions[a] }

var validationActions = [...]string{"reject", "dlq", "mark", "observe"}

// ValidationEnvelope is what becomes of payloads that name no schema.
type ValidationEnvelope uint8

// The envelopes, in the order of validationEnvelopes.
const (
	// EnvelopeRequired takes none.
	EnvelopeRequired ValidationEnvelope = iota
	// EnvelopeCoerce holds them against the latest version of the topic's subject, and stores them behind its id.
	EnvelopeCoerce
	// EnvelopeBare holds them against the latest version of the topic's subject, and stores them as they are.
	EnvelopeBare
)

// String is the name of the envelope in the config.
func (e ValidationEnvelope) String() string { return validationEnvelopes[e] }

var validationEnvelopes = [...]string{"required", "coerce", "bare"}

// deadLetterSuffix makes the name of a topic that of its dead letters, where no config tells another.
const deadLetterSuffix = ".dlq"

// ValidatedPart is what is asked of the keys or the values of a topic.
type ValidatedPart struct {
	Level    ValidationLevel
	Strategy SubjectStrategy
}

// Validation is what a topic asks of the records that are produced to it.
type Validation struct {
	Key, Value ValidatedPart
	Action     ValidationAction
	// DeadLetters is the topic of the records that ValidationDeadLetter leaves out; empty where the topic's own name decides.
	DeadLetters string
	// Envelope is what becomes of payloads that name no schema.
	Envelope ValidationEnvelope
	// RejectNull refuses null where a schema is asked for.
	RejectNull bool
	// LatestOnly refuses schemas that are not the latest version of their subject.
	LatestOnly bool
}

// Active tells whether anything is asked.
func (v *Validation) Active() bool {
	return v.Key.Level != ValidationOff || v.Value.Level != ValidationOff
}

// DeadLetterTopic is where the dead letters of a topic go.
func (v *Validation) DeadLetterTopic(topic string) string {
	if v.DeadLetters != "" {
		return v.DeadLetters
	}
	return topic + deadLetterSuffix
}

// newValidation merges the configs with their aliases: the stricter level holds, and the first strategy that is set.
func newValidation(values map[string]Value) Validation {
	return Validation{
		Key: newValidatedPart(values, "key"), Value: newValidatedPart(values, "value"),
		Action:      ValidationAction(indexOf(validationActions[:], values["schema.validation.action"].Text())),
		DeadLetters: values["schema.validation.dlq.topic"].Text(),
		Envelope:    ValidationEnvelope(indexOf(validationEnvelopes[:], values["schema.validation.envelope"].Text())),
		RejectNull:  values["schema.validation.null"].Text() == "reject",
		LatestOnly:  values["schema.validation.latest.only"].Bool(),
	}
}

// indexOf is where a value stands among those that its config permits.
func indexOf(names []string, text string) uint8 {
	return uint8(max(slices.Index(names, text), 0)) //nolint:gosec // there are a few
}

func newValidatedPart(values map[string]Value, part string) ValidatedPart {
	p := ValidatedPart{Level: ValidationLevel(indexOf(validationLevels[:], values["schema.validation."+part].Text()))}
	if values["confluent."+part+".schema.validation"].Bool() || values["redpanda."+part+".schema.id.validation"].Bool() {
		p.Level = max(p.Level, ValidationID)
	}
	for _, name := range []string{
		"schema.validation." + part + ".subject.name.strategy", "confluent." + part + ".subject.name.strategy", "redpanda." + part + ".subject.name.strategy",
	} {
		if v, ok := values[name]; ok {
			p.Strategy = parseStrategy(v.Text())
			break
		}
	}
	return p
}

// validationKeys are the configs of validation and their aliases, which are not Kafka's.
func validationKeys() []Key {
	keys := []Key{
		{
			Name: "schema.validation.action", Type: String, Default: "reject", Valid: oneOf(validationActions[:]),
			Doc: "What happens when records do not conform: reject refuses their batch and names them to the producer, dlq moves them to a topic of dead letters and lets the others in (batches of transactions are refused), mark lets them in with headers that tell the reason, observe counts and logs them and lets them in.",
		},
		{
			Name: "schema.validation.dlq.topic", Type: String, NoDefault: true, Valid: deadLetterName{},
			Doc: "The topic of dead letters under the action dlq. It is made when the first one comes. Unset: the name of the topic with " + deadLetterSuffix + ".",
		},
		{
			Name: "schema.validation.latest.only", Type: Boolean, Default: "false",
			Doc: "Whether a payload must name the schema of the latest version of its subject, instead of that of any version.",
		},
		{
			Name: "schema.validation.envelope", Type: String, Default: "required", Valid: oneOf(validationEnvelopes[:]),
			Doc: "Whether a payload must name its schema, by the id in front of it or by a header. coerce and bare hold those that do not against the latest version of the topic's subject; coerce puts the id of that version in front of those that conform, so that deserializers read them, bare leaves them as they are. Both need the strategy topic.",
		},
		{
			Name: "schema.validation.null", Type: String, Default: "pass", Valid: oneOf{"pass", "reject"},
			Doc: "Whether a null key or value passes where a schema is asked for. Null values delete keys on compacted topics.",
		},
	}
	for _, part := range []string{"key", "value"} {
		keys = append(keys,
			Key{
				Name: "schema.validation." + part, Type: String, Default: "off", Valid: oneOf(validationLevels[:]),
				Doc: "What the " + part + " of a produced record is held against: id asks for the id of a schema under the topic's subject, structure for a payload that a decoder could read, full for logical types too, rules for the conditions of the schema too.",
			},
			Key{
				Name: "schema.validation." + part + ".subject.name.strategy", Type: String, NoDefault: true, Valid: strategies(),
				Doc: "Under which subject the schema of a " + part + " must be registered: topic (the name of the topic with -" + part + "), record (the full name of the record) or topic-record. Unset: as its aliases say, else topic.",
			},
			Key{
				Name: "confluent." + part + ".schema.validation", Type: Boolean, Default: "false",
				Doc: "true is schema.validation." + part + "=id under Confluent's name. Where both are set the stricter one holds.",
			},
			Key{
				Name: "confluent." + part + ".subject.name.strategy", Type: String, NoDefault: true, Valid: strategies(),
				Doc: "schema.validation." + part + ".subject.name.strategy under Confluent's name, for where that is unset.",
			},
			Key{
				Name: "redpanda." + part + ".schema.id.validation", Type: Boolean, Default: "false",
				Doc: "true is schema.validation." + part + "=id under Redpanda's name. Where both are set the stricter one holds.",
			},
			Key{
				Name: "redpanda." + part + ".subject.name.strategy", Type: String, NoDefault: true, Valid: strategies(),
				Doc: "schema.validation." + part + ".subject.name.strategy under Redpanda's name, for where that and Confluent's are unset.",
			},
		)
	}
	for i := range keys {
		keys[i].Own = true
	}
	return keys
}

// deadLetterName permits names of topics that are no state of the broker or of what stands beside it.
type deadLetterName struct{}

var legalTopicName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`) })

func (deadLetterName) String() string {
	return "the name of a topic that does not begin with an underscore"
}

func (d deadLetterName) check(_ string, v Value) *complaint {
	if v.text == "." || v.text == ".." || strings.HasPrefix(v.text, "_") || !legalTopicName().MatchString(v.text) {
		return &complaint{v.text, "String must be " + d.String()}
	}
	return nil
}
