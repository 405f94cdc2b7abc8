package config

import (
	"slices"
	"strings"
	"testing"
)

func TestParseProperties(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []Pair
	}{
		{"empty", "", nil},
		{"comments and blanks", "# a\n! b\n\n  \t\n   # c\nk=v\n", []Pair{{"k", "v", 6}}},
		{"separators", "a=1\nb:2\nc 3\nd = 4\ne\t:\t5\nf  6 = 7", []Pair{
			{"a", "1", 1}, {"b", "2", 2}, {"c", "3", 3}, {"d", "4", 4}, {"e", "5", 5}, {"f", "6 = 7", 6},
		}},
		{"no value", "a\nb=\nc:", []Pair{{"a", "", 1}, {"b", "", 2}, {"c", "", 3}}},
		{"second separator belongs to the value", "a==b\nlisteners=PLAINTEXT://:9092", []Pair{{"a", "=b", 1}, {"listeners", "PLAINTEXT://:9092", 2}}},
		{"escaped separators in the key", `a\=b\:c\ d=v`, []Pair{{"a=b:c d", "v", 1}}},
		{"escapes", `k=\t\n\r\f\\\q\u00e9\uD83D\uDE00`, []Pair{{"k", "\t\n\r\f\\qé😀", 1}}},
		{"continued line", "a=one,\\\n   two,\\\n\tthree\nb=x", []Pair{{"a", "one,two,three", 1}, {"b", "x", 4}}},
		{"a comment mark inside a continued line is text", "a=b\\\n#c", []Pair{{"a", "b#c", 1}}},
		{"an even number of backslashes ends the line", "a=b\\\\\nc=d", []Pair{{"a", `b\`, 1}, {"c", "d", 2}}},
		{"the file ends inside a continued line", "a=b\\", []Pair{{"a", "b", 1}}},
		{"trailing blanks stay", "a=b  ", []Pair{{"a", "b  ", 1}}},
		{"the last of two wins", "a=1\nb=2\na=3", []Pair{{"a", "3", 3}, {"b", "2", 2}}},
		{"all line ends", "a=1\r\nb=2\rc=3", []Pair{{"a", "1", 1}, {"b", "2", 2}, {"c", "3", 3}}},
		{"latin 1", "a=\xe9", []Pair{{"a", "é", 1}}},
		{"lone surrogate", `a=\ud83dx`, []Pair{{"a", "\ufffdx", 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseProperties([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestParsePropertiesErrors(t *testing.T) {
	for _, text := range []string{"ok=1\na=\\u12", "ok=1\na=\\uZZZZ", "ok=1\n\\u=b"} {
		_, err := ParseProperties([]byte(text))
		if err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v, want an error that names line 2", text, err)
		}
	}
}

// FuzzParseProperties checks that no file makes the parser fail in another way
// than by an error, and that what it read can be written down and read again.
func FuzzParseProperties(f *testing.F) {
	for _, seed := range []string{"a=b", "a\\=b : c\\\n d", `x=\u00e9\ud83d\ude00`, "# c\n!d\n\xff=\xfe", "a", "=", "\\"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		first, err := ParseProperties(raw)
		if err != nil {
			return
		}
		var b strings.Builder
		for _, p := range first {
			b.WriteString(escapeProperty(p.Key) + "=" + escapeProperty(p.Value) + "\n")
		}
		again, err := ParseProperties([]byte(b.String()))
		if err != nil {
			t.Fatalf("%q: %v", b.String(), err)
		}
		if len(again) != len(first) {
			t.Fatalf("%d keys became %d", len(first), len(again))
		}
		for i := range first {
			if first[i].Key != again[i].Key || first[i].Value != again[i].Value {
				t.Fatalf("%+v became %+v", first[i], again[i])
			}
		}
	})
}

// escapeProperty writes every character that has a meaning as an escape.
func escapeProperty(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch r {
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '\f':
			b.WriteString(`\f`)
		case '\\', ' ', '=', ':', '#', '!', '\ufeff':
			if r == '\ufeff' {
				b.WriteString(`\ufeff`)
				continue
			}
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
