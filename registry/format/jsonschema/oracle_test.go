//go:build schemasuite

package jsonschema

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moldau/registry/format"
)

// TestOtherRegistry compares with what another registry expects of itself: MOLDAU_JSON_DIFF names files that the caller
// has fetched, of cases with original_schema, update_schema, changes, compatible and, where it differs,
// compatible_lenient.
func TestOtherRegistry(t *testing.T) {
	pattern := os.Getenv("MOLDAU_JSON_DIFF")
	if pattern == "" {
		t.Skip("MOLDAU_JSON_DIFF names no files")
	}
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := readJSON(tidy(string(text)), 1000)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		agreed, listed := 0, 0
		for _, c := range cases.items {
			ok, sameList := agrees(t, filepath.Base(file), c)
			if ok {
				agreed++
			}
			if sameList {
				listed++
			}
		}
		t.Logf("%s: %d cases, %d with the same judgement, %d with the same differences", filepath.Base(file), len(cases.items), agreed, listed)
	}
}

// tidy takes commas away that the other registry's reader tolerates.
func tidy(text string) string {
	for _, end := range []string{"}", "]"} {
		parts := strings.Split(text, end)
		for i := range parts[:len(parts)-1] {
			parts[i] = strings.TrimSuffix(strings.TrimRight(parts[i], " \n\r\t"), ",")
		}
		text = strings.Join(parts, end)
	}
	return text
}

func agrees(t *testing.T, file string, c *value) (judgement, differences bool) {
	t.Helper()
	name, _ := c.get("description").characters()
	f := New(patient())
	parse := func(v *value) *Schema {
		s, err := f.Parse(t.Context(), format.Source{Text: printJSON(v, false), New: true})
		if err != nil {
			t.Errorf("%s: %s: %v", file, name, err)
			return nil
		}
		return s.(*Schema)
	}
	writer, reader := parse(c.get("original_schema")), parse(c.get("update_schema"))
	if writer == nil || reader == nil {
		return false, false
	}
	found, err := f.compare(t.Context(), writer, reader, format.Strict, true)
	if err != nil {
		t.Errorf("%s: %s: %v", file, name, err)
		return false, false
	}
	got := make(map[string]int)
	for _, d := range found {
		got[string(d.change)+" "+d.path]++
	}
	for _, change := range c.get("changes").items {
		got[change.text]--
	}
	differences = true
	for change, n := range got {
		if n != 0 {
			differences = false
			t.Logf("%s: %s: %+d %s", file, name, n, change)
		}
	}
	judgement = true
	lenient := c.get("compatible_lenient")
	if lenient == nil {
		lenient = c.get("compatible")
	}
	for policy, want := range map[format.Policy]*value{format.Strict: c.get("compatible"), format.Lenient: lenient} {
		found, err := f.compare(t.Context(), writer, reader, policy, false)
		if compatible := len(found) == 0; err != nil || compatible != (want.text == "true") {
			judgement = false
			t.Errorf("%s: %s: policy %d: compatible %v, want %s: %v %v", file, name, policy, compatible, want.text, found, err)
		}
	}
	return judgement, differences
}
