package conform

import (
	"context"
	"errors"
	"fmt"
	"time"

	"moldau/registry/catalog"
	"moldau/registry/format"
	"moldau/registry/format/avro"
	"moldau/registry/format/jsonschema"
	"moldau/registry/format/protobuf"
)

// Level is how closely a payload is looked at. Each level includes those before it.
type Level uint8

// The levels that need a schema. Not looking at all, and looking at the id alone, are the caller's.
const (
	// Structure asks whether a decoder of the schema could read the payload, and for JSON whether it conforms.
	Structure Level = iota + 1
	// Full asks for the logical types of Avro too.
	Full
	// Rules asks for the conditions that the schema carries too.
	Rules
)

// String is the name of the level in the config of a topic.
func (l Level) String() string {
	switch l {
	case Structure:
		return "structure"
	case Full:
		return "full"
	case Rules:
		return "rules"
	}
	return "unknown"
}

// Limits bounds what a Checker may cost.
type Limits struct {
	// Depth bounds how deeply an Avro value nests. Protobuf has the 100 levels of its decoders, JSON 1000.
	Depth int
	// EmptyItems bounds the items of an Avro value's arrays that take no bytes, as those of an array of null. Java's decoder
	// bounds them by its memory.
	EmptyItems int64
	// Cost bounds the work of the CEL conditions of one record, in the units of CEL.
	Cost uint64
	// Rules bounds the conditions of a schema, ExpressionBytes the text of each.
	Rules, ExpressionBytes int
	// Time bounds Compile.
	Time time.Duration
}

// DefaultLimits are the limits that hold unless the operator sets others.
func DefaultLimits() Limits {
	return Limits{Depth: 1000, EmptyItems: 1 << 27, Cost: 1_000_000, Rules: 100, ExpressionBytes: 8 << 10, Time: 2 * time.Second}
}

// Input is what a Checker is made of.
type Input struct {
	// Schema is one that package avro, protobuf or jsonschema has parsed.
	Schema format.Schema
	// RuleSet is that of the schema's version; nil where it has none. Only Rules looks at it.
	RuleSet *catalog.RuleSet
}

// Checker holds payloads against one schema. It is safe for concurrent use.
type Checker interface {
	// Check answers nil, or a *Violation. The payload has no prefix. Index is the path of the message in a Protobuf schema,
	// as the wire names it; it is not looked at for the other formats.
	Check(payload []byte, index []int32) error
}

// Reason is why a payload does not conform, in a word; metrics are labelled with it.
type Reason string

// The reasons.
const (
	// Malformed is a payload that no decoder could read.
	Malformed Reason = "malformed"
	// Trailing is a payload that goes on behind the end of its value.
	Trailing Reason = "trailing"
	// Encoding is text that is no valid UTF-8.
	Encoding Reason = "utf8"
	// TooDeep is a value that nests beyond the limit.
	TooDeep Reason = "depth"
	// UnknownMessage is an index that leads to no message of the Protobuf schema.
	UnknownMessage Reason = "message_index"
	// Missing is a required field that is not there.
	Missing Reason = "required"
	// Mismatch is a JSON value that does not conform to its schema.
	Mismatch Reason = "schema"
	// Logical is an Avro value outside its logical type.
	Logical Reason = "logical_type"
	// Condition is a value that a condition of the schema does not hold for.
	Condition Reason = "condition"
	// Undecided is a value that a condition could not be evaluated for, or not within its cost.
	Undecided Reason = "undecided"
)

// Reasons lists all of them, for metrics.
func Reasons() []Reason {
	return []Reason{Malformed, Trailing, Encoding, TooDeep, UnknownMessage, Missing, Mismatch, Logical, Condition, Undecided}
}

// Violation says why a payload does not conform.
type Violation struct {
	Reason Reason
	// Message says it in plain words, with the place.
	Message string
}

// Error is the message.
func (v *Violation) Error() string { return v.Message }

// ErrUncheckable says that a schema cannot be compiled into a Checker, though the registry holds it. The error that wraps
// it tells why.
var ErrUncheckable = errors.New("schema cannot be checked against")

// Compile makes the Checker of a schema at a level. Errors wrap ErrUncheckable, or are those of the context.
func Compile(ctx context.Context, in Input, level Level, l Limits) (Checker, error) {
	if level < Structure || level > Rules {
		return nil, fmt.Errorf("%w: there is no level %d", ErrUncheckable, level)
	}
	ctx, cancel := context.WithTimeout(ctx, l.Time)
	defer cancel()
	switch s := in.Schema.(type) {
	case *avro.Schema:
		return compileAvro(ctx, s, in.RuleSet, level, l)
	case *protobuf.Schema:
		return compileProtobuf(ctx, s, in.RuleSet, level, l)
	case *jsonschema.Schema:
		return compileJSON(ctx, s, in.RuleSet, level, l)
	}
	return nil, fmt.Errorf("%w: %T is of no known format", ErrUncheckable, in.Schema)
}
