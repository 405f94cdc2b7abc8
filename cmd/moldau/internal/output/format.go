package output

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Format is the form of the output. It is a flag value.
type Format string

// The formats.
const (
	Table  Format = "table"
	Wide   Format = "wide"
	JSON   Format = "json"
	NDJSON Format = "ndjson"
	YAML   Format = "yaml"
	Name   Format = "name"
)

// templatePrefix begins a format that is a template of Go: template={{.name}}.
const templatePrefix = "template="

// Formats are all formats, for help and completion.
var Formats = []string{string(Table), string(Wide), string(JSON), string(NDJSON), string(YAML), string(Name), templatePrefix}

// String returns the format's name.
func (f *Format) String() string { return string(*f) }

// Set takes the name of a format.
func (f *Format) Set(s string) error {
	if strings.HasPrefix(s, templatePrefix) && s != templatePrefix {
		if _, err := Format(s).parse(); err != nil {
			return err
		}
		*f = Format(s)
		return nil
	}
	if s == templatePrefix {
		return errors.New("a template looks like template={{.name}}, with the fields that -o json shows")
	}
	if !slices.Contains(Formats, s) {
		return fmt.Errorf("the formats are %s", strings.Join(Formats, ", "))
	}
	*f = Format(s)
	return nil
}

// Type is what help calls the value.
func (*Format) Type() string { return "format" }

// ForPeople reports whether a table will be printed.
func (f Format) ForPeople() bool { return f == Table || f == Wide }
