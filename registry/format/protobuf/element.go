package protobuf

// The elements of a file, as its text has them: names as they are written, not what they resolve to.

type file struct {
	// syntax is proto2, proto3 or nothing, edition a year or nothing.
	syntax, edition string
	pkg             string
	imports         []string
	publicImports   []string
	weakImports     []string
	options         []option
	messages        []*message
	enums           []*enum
	extends         []*extend
	services        []*service
}

type message struct {
	name       string
	reserved   []reserved
	options    []option
	fields     []*field
	oneofs     []*oneof
	groups     []*group
	extensions []extensions
	extends    []*extend
	messages   []*message
	enums      []*enum
}

type field struct {
	// label is optional, required, repeated or nothing.
	label  string
	typ    string
	name   string
	number int32
	// options hold the default and the JSON name too, last.
	options []option
	// key and value are the types of a map, whose typ is empty.
	key, value string
}

// group is a field and its type in one.
type group struct {
	label   string
	number  int32
	options []option
	body    *message
}

type oneof struct {
	name    string
	options []option
	fields  []*field
	groups  []*group
}

type enum struct {
	name     string
	reserved []reserved
	options  []option
	values   []enumValue
}

type enumValue struct {
	name    string
	number  int32
	options []option
}

// reserved is one statement with ranges or names.
type reserved struct {
	ranges []numbers
	names  []string
}

// numbers is a range with both ends in it.
type numbers struct {
	first, last int32
	// spelled says that both ends are written although they are one number.
	spelled bool
}

// maxNumber is the largest number of a field; a range that ends there or further ends at max.
const maxNumber = 1<<29 - 1

type extensions struct {
	ranges  []numbers
	options []option
}

type extend struct {
	extendee string
	fields   []*field
	groups   []*group
}

type service struct {
	name    string
	options []option
	rpcs    []rpc
}

type rpc struct {
	name                  string
	request, response     string
	streamsIn, streamsOut bool
	options               []option
}

type option struct {
	name string
	// custom says that the name is that of an extension, in parentheses.
	custom bool
	value  value
}

type valueKind int

const (
	// wordValue is a name or a truth value, as it is written.
	wordValue valueKind = iota
	numberValue
	stringValue
	mapValue
	listValue
	// pathValue is the rest of an option's dotted name and its value.
	pathValue
)

type value struct {
	kind    valueKind
	text    string
	entries []entry
	items   []value
	rest    *option
}

// entry is a member of a map value. Its name is in brackets when it is that of an extension or a type.
type entry struct {
	name  string
	value value
}

func word(s string) value   { return value{kind: wordValue, text: s} }
func number(s string) value { return value{kind: numberValue, text: s} }
func quoted(s string) value { return value{kind: stringValue, text: s} }

// mapEntryOption is the option by which a descriptor marks the message that holds a map's entries.
const mapEntryOption = "map_entry"

// isMapEntry says whether a message is one that holds a map's entries, spelled out.
func (m *message) isMapEntry() bool {
	for _, o := range m.options {
		if !o.custom && o.name == mapEntryOption && o.value.text == "true" {
			return true
		}
	}
	return false
}
