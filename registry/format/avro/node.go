package avro

// kind is the type of a node, in the words of the language.
type kind string

const (
	kindNull    kind = "null"
	kindBoolean kind = "boolean"
	kindInt     kind = "int"
	kindLong    kind = "long"
	kindFloat   kind = "float"
	kindDouble  kind = "double"
	kindBytes   kind = "bytes"
	kindString  kind = "string"
	kindRecord  kind = "record"
	kindEnum    kind = "enum"
	kindFixed   kind = "fixed"
	kindArray   kind = "array"
	kindMap     kind = "map"
	kindUnion   kind = "union"
)

var primitives = map[string]kind{
	"null": kindNull, "boolean": kindBoolean, "int": kindInt, "long": kindLong,
	"float": kindFloat, "double": kindDouble, "bytes": kindBytes, "string": kindString,
}

// kindNames are the words that cannot stand for a type of the user's.
var kindNames = map[string]bool{
	"null": true, "boolean": true, "int": true, "long": true, "float": true, "double": true, "bytes": true, "string": true,
	"record": true, "enum": true, "fixed": true, "array": true, "map": true, "union": true,
}

func (k kind) named() bool { return k == kindRecord || k == kindEnum || k == kindFixed }

// node is one type of a schema. Which of the fields mean something depends on its kind.
type node struct {
	kind kind
	// name, doc and aliases are those of a named type.
	name    name
	doc     *string
	aliases []name
	props   []member
	// fields are a record's, isError says that it was declared as an error.
	fields  []*field
	byName  map[string]*field
	isError bool
	// symbols and symbolDefault are an enum's.
	symbols       []string
	symbolDefault *string
	// size is that of a fixed.
	size int
	// items is what an array or a map holds, branches what a union chooses from.
	items    *node
	branches []*node
	// awaits is the full name of the type that a placeholder stands for while a text is being parsed; it looks like a
	// record without fields until then.
	awaits string
}

type field struct {
	name    string
	typ     *node
	doc     *string
	def     *value
	order   order
	aliases []string
	props   []member
}

type order string

const (
	ascending  order = "ascending"
	descending order = "descending"
	ignore     order = "ignore"
)

// fullName is the name by which a union tells its branches apart: the full name of a named type, else the kind.
func (n *node) fullName() string {
	if n.kind.named() {
		return n.name.full()
	}
	return string(n.kind)
}

func prop(props []member, name string) *value {
	for i := range props {
		if props[i].name == name {
			return props[i].value
		}
	}
	return nil
}
