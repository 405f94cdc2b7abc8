package jsonschema

// shape is how a keyword holds schemas.
type shape int

const (
	// one is a schema, several a list of them, named an object of them.
	one shape = iota + 1
	several
	named
	// oneOrSeveral is items before draft 2020-12.
	oneOrSeveral
)

// subschemas is the keywords that hold schemas in any draft. A draft that does not know one of them ignores it; looking
// there too does no harm.
var subschemas = map[string]shape{
	"definitions": named, "$defs": named, "properties": named, "patternProperties": named,
	"dependentSchemas": named, "dependencies": named,
	"allOf": several, "anyOf": several, "oneOf": several, "prefixItems": several, "items": oneOrSeveral,
	"not": one, "if": one, "then": one, "else": one, "additionalProperties": one, "propertyNames": one,
	"unevaluatedProperties": one, "additionalItems": one, "unevaluatedItems": one, "contains": one, "contentSchema": one,
}

// eachSchema visits a schema and those inside it, until visit answers false.
func eachSchema(v *value, visit func(*value) bool) bool {
	if v.kind != object {
		return true
	}
	if !visit(v) {
		return false
	}
	for _, m := range v.members {
		for _, inner := range m.schemas() {
			if !eachSchema(inner, visit) {
				return false
			}
		}
	}
	return true
}

// schemas answers the values of a member of a schema that are schemas in turn.
func (m member) schemas() []*value {
	switch shape := subschemas[m.name]; {
	case shape == 0:
		return nil
	case shape == named:
		inner := make([]*value, 0, len(m.value.members))
		for _, n := range m.value.members {
			inner = append(inner, n.value)
		}
		return inner
	case m.value.kind == array && shape != one:
		return m.value.items
	default:
		return []*value{m.value}
	}
}
