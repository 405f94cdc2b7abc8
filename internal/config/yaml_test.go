package config

import (
	"slices"
	"strings"
	"testing"
)

func TestParseYAML(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []Pair
	}{
		{"empty", "", nil},
		{"only a comment", "# nothing\n", nil},
		{"flat", "log.retention.ms: 1\nnode.id: 7\n", []Pair{{"log.retention.ms", "1", 1}, {"node.id", "7", 2}}},
		{"nested", "log:\n  retention:\n    ms: 1\n", []Pair{{"log.retention.ms", "1", 3}}},
		{"mixed", "log:\n  retention.ms: 1\nlog.dirs: /a\n", []Pair{{"log.retention.ms", "1", 2}, {"log.dirs", "/a", 3}}},
		{"list", "log.dirs: [/a, /b]\n", []Pair{{"log.dirs", "/a,/b", 1}}},
		{"scalars keep their text", "a: 0x10\nb: 1e3\nc: yes\nd: 1_000\n", []Pair{{"a", "0x10", 1}, {"b", "1e3", 2}, {"c", "yes", 3}, {"d", "1_000", 4}}},
		{"null is empty", "a:\nb: ~\n", []Pair{{"a", "", 1}, {"b", "", 2}}},
		{"alias", "a: &x {k: 1}\nb: *x\n", []Pair{{"a.k", "1", 1}, {"b.k", "1", 1}}},
		{"json", `{"http": {"listen": "127.0.0.1:0"}}`, []Pair{{"http.listen", "127.0.0.1:0", 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseYAML([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestParseYAMLErrors(t *testing.T) {
	// Nine aliases of nine aliases of ...: 9^8 nodes if nobody counted.
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 {}\n")
	for i := range 8 {
		prev := string(rune('0' + i))
		next := string(rune('1' + i))
		bomb.WriteString("a" + next + ": &a" + next + " {")
		for j := range 9 {
			bomb.WriteString(string(rune('a'+j)) + ": *a" + prev + ", ")
		}
		bomb.WriteString("}\n")
	}
	for name, text := range map[string]string{
		"twice, flat and nested": "log.retention.ms: 1\nlog: {retention: {ms: 2}}",
		"a scalar":               "just text",
		"a list":                 "[a, b]",
		"a list of mappings":     "log.dirs: [{a: b}]",
		"a mapping as a key":     "? {a: b}\n: c",
		"broken":                 "a: [",
		"alias bomb":             bomb.String(),
		"deep":                   strings.Repeat("{a: ", 200) + "1" + strings.Repeat("}", 200),
	} {
		if got, err := ParseYAML([]byte(text)); err == nil {
			t.Errorf("%s: no error, got %d keys", name, len(got))
		}
	}
}

// FuzzParseYAML checks that keys are unique and that no input escapes the bounds.
func FuzzParseYAML(f *testing.F) {
	for _, seed := range []string{"a: 1", "a: {b: [1, 2]}", "a: &x {b: *x}", "- a", "a: *b", "a.b: 1\na: {b: 2}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		pairs, err := ParseYAML(raw)
		if err != nil {
			return
		}
		if len(pairs) > maxYAMLNodes {
			t.Fatalf("%d keys", len(pairs))
		}
		seen := map[string]bool{}
		for _, p := range pairs {
			if p.Key == "" || seen[p.Key] {
				t.Fatalf("key %q is empty or stands twice", p.Key)
			}
			seen[p.Key] = true
		}
	})
}
