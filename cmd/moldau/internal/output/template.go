package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/template"
)

// isTemplate reports whether the format is a template.
func (f Format) isTemplate() bool { return strings.HasPrefix(string(f), templatePrefix) }

// parse reads the template. A field that isn't there is an error and not an
// empty place.
func (f Format) parse() (*template.Template, error) {
	t, err := template.New("-o").Option("missingkey=error").Parse(strings.TrimPrefix(string(f), templatePrefix))
	if err != nil {
		return nil, fmt.Errorf("the template is wrong: %w", err)
	}
	return t, nil
}

// writeTemplate writes each item by the template, on a line of its own. Fields
// have the names that -o json shows; numbers keep all digits.
func writeTemplate(w io.Writer, f Format, items []json.RawMessage) error {
	t, err := f.parse()
	if err != nil {
		return err
	}
	for _, raw := range items {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		var item any
		if err := dec.Decode(&item); err != nil {
			return err
		}
		if err := t.Execute(w, item); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	return nil
}

// items takes a value apart: a list into what is in it, all else into itself.
func items(v any) ([]json.RawMessage, error) {
	var raw bytes.Buffer
	if err := encoder(&raw).Encode(v); err != nil {
		return nil, err
	}
	one := bytes.TrimSpace(raw.Bytes())
	if one[0] != '[' {
		return []json.RawMessage{one}, nil
	}
	var out []json.RawMessage
	err := json.Unmarshal(one, &out)
	return out, err
}

// names returns the names of all items; ok is false where one has none.
func names(items []json.RawMessage) (out []string, ok bool) {
	for _, raw := range items {
		var named struct {
			Name *string `json:"name"`
		}
		if json.Unmarshal(raw, &named) != nil || named.Name == nil {
			return nil, false
		}
		out = append(out, *named.Name)
	}
	return out, true
}
