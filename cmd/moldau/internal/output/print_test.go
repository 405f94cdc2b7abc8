package output

import (
	"io"
	"strings"
	"testing"
)

type row struct {
	Name  string   `json:"name"`
	Count int64    `json:"count"`
	Tags  []string `json:"tags"`
}

var list = List[row]{
	Columns: []Column[row]{
		{Head: "NAME", Text: func(r row) string { return r.Name }},
		{Head: "TAGS", Wide: true, Text: func(r row) string { return strings.Join(r.Tags, ",") }},
		{Head: "COUNT", Text: func(r row) string { return "n" }},
	},
	Name: func(r row) string { return r.Name },
}

func TestPrint(t *testing.T) {
	rows := []row{{"a<b", 9007199254740993, []string{"x", "y"}}, {"true\x1b[2J\ttab", 0, []string{}}}
	for f, want := range map[Format]string{
		Table:  "NAME          COUNT\na<b           n\ntrue [2J tab  n\n",
		Wide:   "NAME          TAGS  COUNT\na<b           x,y   n\ntrue [2J tab        n\n",
		Name:   "a<b\ntrue\x1b[2J\ttab\n",
		NDJSON: `{"name":"a<b","count":9007199254740993,"tags":["x","y"]}` + "\n" + `{"name":"true\u001b[2J\ttab","count":0,"tags":[]}` + "\n",
		YAML:   "- name: a<b\n  count: 9007199254740993\n  tags:\n    - x\n    - \"y\"\n- name: \"true\\e[2J\\ttab\"\n  count: 0\n  tags: []\n",
	} {
		var b strings.Builder
		if err := list.Print(&b, f, rows); err != nil || b.String() != want {
			t.Errorf("%s: %v\ngot  %q\nwant %q", f, err, b.String(), want)
		}
	}
}

func TestPrintNothing(t *testing.T) {
	for f, want := range map[Format]string{Table: "NAME  COUNT\n", JSON: "[]\n", NDJSON: "", YAML: "[]\n", Name: ""} {
		var b strings.Builder
		if err := list.Print(&b, f, nil); err != nil || b.String() != want {
			t.Errorf("%s: %v, got %q, want %q", f, err, b.String(), want)
		}
	}
}

func TestValue(t *testing.T) {
	var b strings.Builder
	text := func(w io.Writer) error { _, err := io.WriteString(w, "text\n"); return err }
	for _, f := range []Format{Table, JSON, YAML} {
		if err := Value(&b, f, map[string]any{"id": "007"}, text); err != nil {
			t.Fatal(err)
		}
	}
	if want := "text\n{\n  \"id\": \"007\"\n}\nid: \"007\"\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// TestValueItems: a value that is a list is printed item by item in the forms that have a line for each.
func TestValueItems(t *testing.T) {
	text := func(w io.Writer) error { _, err := io.WriteString(w, "text\n"); return err }
	rows := []row{{"a<b", 9007199254740993, []string{"x"}}, {"c", 1, nil}}
	for f, want := range map[Format]string{
		NDJSON: `{"name":"a<b","count":9007199254740993,"tags":["x"]}` + "\n" + `{"name":"c","count":1,"tags":null}` + "\n",
		Name:   "a<b\nc\n",
		"template={{.name}} {{.count}}{{range .tags}} {{.}}{{end}}": "a<b 9007199254740993 x\nc 1\n",
	} {
		var b strings.Builder
		if err := Value(&b, f, rows, text); err != nil || b.String() != want {
			t.Errorf("%s: %v\ngot  %q\nwant %q", f, err, b.String(), want)
		}
		if b.Reset(); f == Name {
			continue
		}
		if err := list.Print(&b, f, rows); err != nil || b.String() != want {
			t.Errorf("list, %s: %v\ngot  %q\nwant %q", f, err, b.String(), want)
		}
	}
	var b strings.Builder
	if err := Value(&b, Name, map[string]any{"id": 1}, text); err != nil || b.String() != "text\n" {
		t.Errorf("a value without a name: %v %q", err, b.String())
	}
	if err := Value(&b, "template={{.nome}}", rows, text); err == nil {
		t.Error("a field that isn't there is no error")
	}
}

func TestFormatFlag(t *testing.T) {
	var f Format
	if err := f.Set("wide"); err != nil || f != Wide {
		t.Errorf("wide: %v %v", f, err)
	}
	if err := f.Set("template={{.name}}"); err != nil || !f.isTemplate() || f.ForPeople() {
		t.Errorf("template: %v %v", f, err)
	}
	for _, bad := range []string{"template=", "template={{.name"} {
		if err := f.Set(bad); err == nil || !strings.Contains(err.Error(), "template") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if err := f.Set("xml"); err == nil || !strings.Contains(err.Error(), "ndjson") {
		t.Errorf("xml: %v", err)
	}
}
