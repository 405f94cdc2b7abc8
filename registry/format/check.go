package format

import (
	"fmt"
	"strings"
)

// Policy is how strictly compatibility is judged, a config of the subject.
type Policy int

// The policies.
const (
	// Strict judges by the rules of each language.
	Strict Policy = iota
	// Lenient lets JSON schemas add and remove optional properties whatever their content model is.
	Lenient
)

// CheckOptions is how Check judges and how it words its findings.
type CheckOptions struct {
	Policy Policy
	// Reader and Writer are what the descriptions call the two schemas: "new" and "old" for a backward check, "old" and
	// "new" for a forward one. Empty ones mean "reader" and "writer".
	Reader, Writer string
}

// Labels answers what to call the reader and the writer.
func (o CheckOptions) Labels() (reader, writer string) {
	reader, writer = o.Reader, o.Writer
	if reader == "" {
		reader = "reader"
	}
	if writer == "" {
		writer = "writer"
	}
	return reader, writer
}

// Incompatibility is one reason why a reader cannot read what a writer wrote.
type Incompatibility struct {
	// Type is the kind of difference by the name under which clients know it, as READER_FIELD_MISSING_DEFAULT_VALUE.
	Type string
	// Path is where in the schema it is: a JSON pointer in Avro, a path that begins with # in the others.
	Path string
	// Description says it in a sentence.
	Description string
	// Additional is what else is known: in Avro the symbols, names or types concerned. Empty in the other formats.
	Additional string
	// Quote is the mark around the values in String: a single one in Avro's answers, a double one in the others.
	Quote string
}

// String is the form in which the registry's verbose answers carry it.
func (i Incompatibility) String() string {
	quote := i.Quote
	if quote == "" {
		quote = `"`
	}
	var b strings.Builder
	fmt.Fprintf(&b, "{errorType:%[1]s%[2]s%[1]s, description:%[1]s%[3]s%[1]s", quote, i.Type, i.Description)
	if quote == "'" {
		fmt.Fprintf(&b, ", additionalInfo:'%s'", i.Additional)
	}
	b.WriteByte('}')
	return b.String()
}
