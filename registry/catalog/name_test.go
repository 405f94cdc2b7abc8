package catalog

import (
	"errors"
	"strings"
	"testing"
)

func TestParseName(t *testing.T) {
	for _, c := range []struct {
		in     string
		want   Name
		normal string
	}{
		{"s", Name{".", "s"}, "s"},
		{"", Name{".", ""}, ""},
		{":.:s", Name{".", "s"}, "s"},
		{":.ctx:s", Name{".ctx", "s"}, ":.ctx:s"},
		{":.ctx:", Name{".ctx", ""}, ":.ctx:"},
		{":.ctx", Name{".ctx", ""}, ":.ctx:"},
		{":.ctx:a:b", Name{".ctx", "a:b"}, ":.ctx:a:b"},
		{":.a.b:s", Name{".a.b", "s"}, ":.a.b:s"},
		{":*:", Name{"*", ""}, ":*:"},
		{":*:s", Name{"*", "s"}, ":*:s"},
		{":other:s", Name{".", ":other:s"}, ":other:s"},
		{"a/b", Name{".", "a/b"}, "a/b"},
		{":.__GLOBAL:", Name{".__GLOBAL", ""}, ":.__GLOBAL:"},
	} {
		if got := ParseName(c.in); got != c.want || got.String() != c.normal {
			t.Errorf("%q: %+v %q, want %+v %q", c.in, got, got, c.want, c.normal)
		}
		if got := Normal(c.normal); got != c.normal {
			t.Errorf("%q is not stable: %q", c.normal, got)
		}
	}
}

func TestContextPrefix(t *testing.T) {
	for in, want := range map[string]string{".": "", "ctx": ":.ctx:", ".ctx": ":.ctx:", ":.ctx:": ":.ctx:", ":.:": "", "": ""} {
		if got, err := ContextPrefix(in); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
	if _, err := ContextPrefix("a:b"); !errors.Is(err, ErrContextName) {
		t.Error("a colon is taken")
	}
}

func TestValidNames(t *testing.T) {
	for _, c := range []struct {
		name           string
		subject, scope bool
	}{
		{"s", true, true},
		{"", true, true},
		{":.ctx:s", true, true},
		{"a/b c", true, true},
		{"é", true, true},
		{"__GLOBAL", false, false},
		{":.c:__EMPTY", false, false},
		{":.__GLOBAL:", false, true},
		{":.__GLOBAL:s", false, true},
		{"a\nb", false, false},
		{"\x7f", false, false},
		{"\u0085", false, false},
		{strings.Repeat("x", 4096), true, true},
		{strings.Repeat("x", 4097), false, false},
	} {
		if got := ValidSubject(c.name); got != c.subject {
			t.Errorf("subject %.20q: %v", c.name, got)
		}
		if got := ValidScope(c.name); got != c.scope {
			t.Errorf("scope %.20q: %v", c.name, got)
		}
	}
}
