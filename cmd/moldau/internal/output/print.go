package output

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"text/tabwriter"

	"go.yaml.in/yaml/v3"
)

// Column is one column of a table.
type Column[T any] struct {
	Head string
	Wide bool // only with -o wide
	Text func(T) string
}

// List is how the rows of one command are printed.
type List[T any] struct {
	Columns []Column[T]
	Name    func(T) string // for -o name
}

// Print writes rows in a format. JSON and YAML are one list, also when there
// are no rows; a table without rows has its heads only.
func (l List[T]) Print(w io.Writer, f Format, rows []T) error {
	if rows == nil {
		rows = []T{}
	}
	b := bufio.NewWriter(w)
	var err error
	switch f {
	case JSON:
		err = writeJSON(b, rows)
	case NDJSON:
		enc := encoder(b)
		for _, r := range rows {
			if err = enc.Encode(r); err != nil {
				return err
			}
		}
	case YAML:
		err = writeYAML(b, rows)
	case Name:
		for _, r := range rows {
			if _, err = b.WriteString(l.Name(r) + "\n"); err != nil {
				return err
			}
		}
	default:
		if f.isTemplate() {
			return Value(w, f, rows, nil)
		}
		err = l.table(b, f == Wide, rows)
	}
	if err != nil {
		return err
	}
	return b.Flush()
}

func (l List[T]) table(w io.Writer, wide bool, rows []T) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	var cells []string
	line := func(text func(Column[T]) string) error {
		cells = cells[:0]
		for _, c := range l.Columns {
			if !c.Wide || wide {
				cells = append(cells, clean(text(c)))
			}
		}
		_, err := io.WriteString(t, strings.Join(cells, "\t")+"\n")
		return err
	}
	if err := line(func(c Column[T]) string { return c.Head }); err != nil {
		return err
	}
	for _, r := range rows {
		if err := line(func(c Column[T]) string { return c.Text(r) }); err != nil {
			return err
		}
	}
	return t.Flush()
}

// clean keeps what would break a table, or move a terminal's cursor, out of a
// cell.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}

// Value writes one value, in JSON or YAML; text is called for the formats for
// people, and for names where the value has none. Of a list each item is a
// line in NDJSON, for names and for a template.
func Value(w io.Writer, f Format, v any, text func(io.Writer) error) error {
	b := bufio.NewWriter(w)
	var err error
	switch f {
	case JSON:
		err = writeJSON(b, v)
	case YAML:
		err = writeYAML(b, v)
	case Table, Wide:
		err = text(b)
	default:
		err = writeItems(b, f, v, text)
	}
	if err != nil {
		return err
	}
	return b.Flush()
}

func writeItems(w io.Writer, f Format, v any, text func(io.Writer) error) error {
	list, err := items(v)
	if err != nil {
		return err
	}
	if f.isTemplate() {
		return writeTemplate(w, f, list)
	}
	lines := make([]string, 0, len(list))
	for _, raw := range list {
		lines = append(lines, string(raw))
	}
	if f == Name {
		named, ok := names(list)
		if !ok {
			return text(w)
		}
		lines = named
	}
	for _, line := range lines {
		if _, err := io.WriteString(w, line+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func encoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

func writeJSON(w io.Writer, v any) error {
	enc := encoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// writeYAML goes by way of JSON, which is YAML, so that both have the same
// fields in the same order.
func writeYAML(w io.Writer, v any) error {
	var raw bytes.Buffer
	if err := encoder(&raw).Encode(v); err != nil {
		return err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw.Bytes(), &doc); err != nil {
		return err
	}
	block(&doc)
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return err
	}
	return enc.Close()
}

// block turns JSON's flow style into YAML's usual one, but leaves empty
// collections, and the quotes of keys and texts that would be read as something
// else without them.
func block(n *yaml.Node) {
	switch {
	case len(n.Content) > 0:
		n.Style = 0
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str" && !quoted(n.Value):
		n.Style = 0
	}
	for _, c := range n.Content {
		block(c)
	}
}

// quoted reports whether a text needs quotes to stay a text.
func quoted(s string) bool {
	raw, err := yaml.Marshal(s)
	return err != nil || len(raw) == 0 || raw[0] == '"' || raw[0] == '\'' || raw[0] == '|'
}
