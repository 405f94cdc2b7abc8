package format

import (
	"context"
	"errors"
	"fmt"
)

// The names of the formats, as they appear in the registry's requests and answers.
const (
	Avro     = "AVRO"
	Protobuf = "PROTOBUF"
	JSON     = "JSON"
)

// Forms of a text that Formatted answers. A form that a format does not know answers the stored text, as does the empty
// form, so that a client which asks for a newer form still gets a schema.
const (
	// FormResolved is Avro with every reference written out in its place.
	FormResolved = "resolved"
	// FormSerialized is Protobuf as the base64 of a FileDescriptorProto.
	FormSerialized = "serialized"
	// FormIgnoreExtensions is Protobuf text without the options that are extensions.
	FormIgnoreExtensions = "ignore_extensions"
)

var (
	// ErrInvalid says that a text is no valid schema: it does not parse, or breaks a rule of its language, or refers to
	// something that its source does not hold. The error that wraps it tells where and why.
	ErrInvalid = errors.New("invalid schema")
	// ErrTooLarge says that a schema is beyond a bound of Limits.
	ErrTooLarge = errors.New("schema too large")
	// ErrForeign says that a schema of another format was handed to Check.
	ErrForeign = errors.New("schema of another format")
)

// Reference is what a schema says it refers to: a name inside the text, and the subject and version that hold it.
type Reference struct {
	Name    string
	Subject string
	Version int32
}

// Resolved is one text that a source refers to, directly or through another one.
type Resolved struct {
	// Name is the reference name: an import path in Protobuf, a full name in Avro, a $ref URI in JSON Schema.
	Name string
	Text string
}

// Source is a schema text with all texts it refers to.
type Source struct {
	Text string
	// References holds every text reached through references, each name once, a text after those it refers to itself.
	References []Resolved
	// New says that the text is to be held against the rules for new schemas, not only against those under which older
	// registries accepted it. What is already stored is parsed without it.
	New bool
}

// Format knows one schema language.
type Format interface {
	// Name is Avro, Protobuf or JSON.
	Name() string
	// Parse turns a source into a schema. Errors wrap ErrInvalid or ErrTooLarge, or are those of the context.
	Parse(ctx context.Context, s Source) (Schema, error)
	// Check answers what keeps a reader from reading what was written with writer; nothing means compatible.
	// It looks in one direction only. Both schemas are of this format, else the error wraps ErrForeign.
	Check(ctx context.Context, reader, writer Schema, o CheckOptions) ([]Incompatibility, error)
}

// Schema is a parsed schema.
type Schema interface {
	// Format is the name of the schema's format.
	Format() string
	// Name is what the schema describes: the full name of an Avro record, of a Protobuf file's first message, the title
	// of a JSON schema. It is empty where there is none.
	Name() string
	// Canonical is the text as the registry stores it. Texts that differ in white space (and, in Protobuf, in comments)
	// only have the same one, and identity is computed over it.
	Canonical() string
	// Normalized is the canonical text with its attributes in a fixed order, for registration with normalize=true.
	Normalized() (string, error)
	// Formatted is the text in one of the forms named above.
	Formatted(form string) (string, error)
	// Validate checks what the registry asks of a new version beyond the language's own rules. Strict is the config
	// validateFields: names that begin with the reserved prefix are refused too. The error wraps ErrInvalid.
	Validate(strict bool) error
	// HasTopLevelField says whether the described value has a field or property of this name.
	HasTopLevelField(name string) bool
	// Equivalent says whether the other schema means the same although their texts and references may differ, as a text
	// with its references and the same text with all of them written out do.
	Equivalent(other Schema) bool
	// Tags answers the tags inside the text by the entity that carries them.
	Tags() []TaggedEntity
	// Retagged is the canonical text with tags added and then others removed. An entity that is not in the schema makes
	// an error that wraps ErrInvalid. The text is to be parsed again with the same references.
	Retagged(add, remove []TaggedEntity) (string, error)
}

// Invalid makes an error that wraps ErrInvalid.
func Invalid(reason string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrInvalid, fmt.Errorf(reason, args...))
}
