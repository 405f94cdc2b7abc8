package schemas

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moldau/test/input"
)

// language is one kind of schema: where its files are, and where it is written what becomes of them.
type language struct {
	kind, dir, table string
	// outcome is the column of the table that says what becomes of a file, reason the one that a refusal must name.
	outcome, reason int
}

var languages = []language{
	{"AVRO", "avro", "avro", 1, 2},
	{"PROTOBUF", "proto", "protobuf", 1, 2},
	{"JSON", "json", "jsonschema", 3, 4},
}

// expectation is what becomes of a file.
type expectation struct {
	file       string
	references []string // files, each after those it refers to itself
	refused    string   // what the refusal must name; empty for one that registers
}

// expectations reads the table of a language, which must have a row for each file.
func (l *language) expectations(t *testing.T, dir string) []expectation {
	t.Helper()
	var all []expectation
	for line := range strings.Lines(read(t, filepath.Join("..", "..", "registry", "format", l.table, "testdata", "files.tsv"))) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") || len(cells) <= l.outcome {
			continue
		}
		e := expectation{file: cells[0]}
		switch verdict, rest, _ := strings.Cut(cells[l.outcome], " "); verdict {
		case "registers":
		case "references":
			e.references = strings.Split(rest, ",")
		case "refused":
			e.refused = cells[l.reason]
		default:
			t.Fatalf("%s: what is %s?", e.file, verdict)
		}
		all = append(all, e)
	}
	known := map[string]bool{}
	for _, e := range all {
		known[e.file] = true
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if !known[name] {
			t.Errorf("%s is in no table", name)
		}
		delete(known, name)
		return err
	})
	if err != nil || len(known) > 0 {
		t.Errorf("there are no files for %v, %v", known, err)
	}
	return all
}

func (l *language) folder(t *testing.T) string {
	t.Helper()
	return input.Schemas(t, l.dir)
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
