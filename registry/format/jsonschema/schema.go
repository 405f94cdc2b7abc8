package jsonschema

import (
	"errors"
	"fmt"
	"strings"

	library "github.com/santhosh-tekuri/jsonschema/v6"

	"moldau/registry/format"
)

// reservedPrefix begins the names that validateFields keeps for the registry.
const reservedPrefix = "$$"

// Schema is a parsed JSON schema.
type Schema struct {
	documents *documents
	canonical string
	compiled  *compiled
	graph     *node
	// broken is why a stored schema does not compile; compiled and graph are nil then.
	broken error
}

var _ format.Schema = (*Schema)(nil)

// Format is format.JSON.
func (s *Schema) Format() string { return format.JSON }

// Name is the schema's title.
func (s *Schema) Name() string {
	title, _ := s.documents.root.value.get("title").characters()
	return title
}

// Canonical is the text without white space. Members keep their order and numbers their digits.
func (s *Schema) Canonical() string { return s.canonical }

// Normalized is the canonical text with the members of every object sorted by name.
func (s *Schema) Normalized() (string, error) {
	return printJSON(s.documents.root.value, true), nil
}

// Formatted is the canonical text: JSON Schema has no other form.
func (s *Schema) Formatted(string) (string, error) { return s.canonical, nil }

// Validate says why a schema that was stored elsewhere is none, and with strict refuses properties with a reserved name.
func (s *Schema) Validate(strict bool) error {
	if s.broken != nil {
		return s.broken
	}
	if !strict || s.graph.kind != objectKind {
		return nil
	}
	for _, name := range sortedKeys(s.graph.rules.Properties) {
		if strings.HasPrefix(name, reservedPrefix) {
			return format.Invalid("at #/properties/%s: the name of a property must not begin with %s", name, reservedPrefix)
		}
	}
	return nil
}

// HasTopLevelField says whether the schema lists the property itself; a property of a branch or of a referenced schema
// does not count.
func (s *Schema) HasTopLevelField(name string) bool {
	return s.documents.root.value.get("properties").get(name) != nil
}

// Equivalent says whether the other schema has the same canonical text.
func (s *Schema) Equivalent(other format.Schema) bool {
	return other.Format() == format.JSON && other.Canonical() == s.canonical
}

// Accept holds a JSON text against the schema. The error wraps ErrRejected where the value does not conform, ErrInvalid of
// package format where the text is no JSON or the schema does not compile.
func (s *Schema) Accept(text string) (err error) {
	if s.broken != nil {
		return s.broken
	}
	v, err := readJSON(text, maxValueDepth)
	if err != nil {
		return err
	}
	defer recoverMatch(&err)
	err = s.compiled.root.Validate(v.plain())
	var rejected *library.ValidationError
	if errors.As(err, &rejected) {
		return fmt.Errorf("%w: %s", ErrRejected, strings.Join(rejections(rejected), "; "))
	}
	return err
}

// maxValueDepth bounds how deeply a value that is held against a schema nests.
const maxValueDepth = 1000

// ErrRejected says that a value does not conform to a schema.
var ErrRejected = errors.New("the value does not conform to the schema")

// rejections is the deepest reasons why a value was not accepted.
func rejections(e *library.ValidationError) []string {
	var reasons []string
	for _, unit := range e.BasicOutput().Errors {
		if unit.Error == nil || len(reasons) == maxReasons {
			continue
		}
		where := unit.InstanceLocation
		if where == "" {
			where = "/"
		}
		reasons = append(reasons, fmt.Sprintf("at %s: %s", where, unit.Error))
	}
	if len(reasons) == 0 {
		return []string{"no reason is known"}
	}
	return reasons
}
