package bufpush

import (
	"path"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{
		"ab": true, "acme": true, "a-b-1": true, "a": false, "": false, "Acme": false, "1a": false, "-a": false, "a-": false, "a_b": false,
		"a/b": false, strings.Repeat("a", 33): false,
	} {
		if validName(name, maxOwnerName) != want {
			t.Errorf("%q is %t as a name", name, !want)
		}
	}
	for name, want := range map[string]bool{
		"main": true, "feature/x": true, "v1.2.3": true, "größe": true, "": false, "a b": false, "a:b": false, "a\x00": false,
		strings.Repeat("0", 32): false, strings.Repeat("a", 251): false, "\xff": false,
	} {
		if validLabel(name) != want {
			t.Errorf("%q is %t as a label", name, !want)
		}
	}
	for p, want := range map[string]bool{
		"a.proto": true, "a/b.proto": true, "LICENSE": true, "..a/b": true, "": false, ".": false, "..": false, "../a": false, "/a": false,
		"a//b": false, "a/../b": false, "a/": false, "a\\b": false, "a\nb": false,
	} {
		if validPath(p) != want {
			t.Errorf("%q is %t as a path", p, !want)
		}
	}
	one, two := newID(), newID()
	if !isID(one) || one == two || fixedID("a", "b") == fixedID("ab") || fixedID("a") != "ca978112ca1b4dcabac231b39a23dc4d" {
		t.Errorf("ids are not as they should be: %s, %s, %s", one, two, fixedID("a"))
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"main", "../a", "a/b.proto", "acme", strings.Repeat("f", 32)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if validPath(s) && (path.IsAbs(s) || path.Join("root", s) != "root/"+s) {
			t.Errorf("%q leaves its module", s)
		}
		if validLabel(s) && (isID(s) || strings.ContainsAny(s, " :\n\x00")) {
			t.Errorf("%q is a label", s)
		}
		if validName(s, maxModule) && !validPath(s) {
			t.Errorf("%q is a name", s)
		}
	})
}

// FuzzImports reads anybody's text: it must end, and not panic.
func FuzzImports(f *testing.F) {
	f.Add("syntax = \"proto3\";\nimport \"a.proto\";\nimport public \"b.proto\";\n")
	f.Add("import \"a\" \"b\"; message M { option (x) = {a: <b: [1]>}; }")
	f.Add(strings.Repeat("message M {", 50))
	f.Fuzz(func(t *testing.T, text string) {
		found, err := importsOf([]source{{"a.proto", []byte(text)}})
		if err != nil {
			return
		}
		for _, i := range found {
			if i.line < 1 || i.line > strings.Count(text, "\n")+1 {
				t.Errorf("%q is in line %d", i.path, i.line)
			}
		}
	})
}
