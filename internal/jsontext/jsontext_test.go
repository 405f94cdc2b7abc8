package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCompact(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{}`, `{}`},
		{` [ ] `, `[]`},
		{"{ \"a\" :\t[1, 2 ,{\"b\":null}] ,\r\n\"c\" : \"x y\\\" z\" }", `{"a":[1,2,{"b":null}],"c":"x y\" z"}`},
		{`-0.10e+5`, `-0.10e+5`},
		{`123456789012345678901234567890.00000000000000000001`, `123456789012345678901234567890.00000000000000000001`},
		{`"\ud83d\ude00\u0000"`, `"\ud83d\ude00\u0000"`},
		{`true`, `true`},
		{`[[[[]]],{"":{}}]`, `[[[[]]],{"":{}}]`},
		{"\"ü€😀\"", "\"ü€😀\""},
	} {
		got, err := Compact([]byte("x"), []byte(c.in))
		if err != nil || string(got) != "x"+c.want {
			t.Errorf("%s: %q, %v", c.in, got, err)
		}
	}
}

func TestCompactRefuses(t *testing.T) {
	for _, in := range []string{
		``, ` `, `{`, `}`, `[1,]`, `[,1]`, `[1 2]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{"a":1]`, `[1}`, `01`, `-`, `1.`, `.1`,
		`1e`, `1e+`, `+1`, `tru`, `nul`, `NaN`, `'a'`, `"a`, `"\x"`, `"\u12g4"`, `"\u123"`, "\"\n\"", "\"\x01\"", "\"\xff\"", "\"\xc3\"",
		`1 2`, `{} {}`, "\xef\xbb\xbf{}", "{}\x00", "\x00", `"a" "b"`, `{"a":1 "b":2}`, `[`, `"\`,
	} {
		if out, err := Compact([]byte("x"), []byte(in)); err == nil || string(out) != "x" {
			t.Errorf("%q is taken: %q", in, out)
		}
	}
}

func TestDepth(t *testing.T) {
	for _, c := range []struct {
		depth int
		ok    bool
	}{{maxDepth, true}, {maxDepth + 1, false}, {1_000_000, false}} {
		for _, in := range []string{
			strings.Repeat("[", c.depth) + strings.Repeat("]", c.depth),
			strings.Repeat(`{"a":`, c.depth) + "1" + strings.Repeat("}", c.depth),
			"[" + strings.Repeat(`{"a":`, c.depth-1) + "1" + strings.Repeat("}", c.depth-1) + "]",
		} {
			if _, err := Compact(nil, []byte(in)); (err == nil) != c.ok {
				t.Errorf("depth %d of %.4s: %v", c.depth, in, err)
			}
		}
	}
}

func TestUnescape(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`plain`, `plain`},
		{`\"\\\/\b\f\n\r\t`, "\"\\/\b\f\n\r\t"},
		{`\u0041\u00e9\u20ac`, "Aé€"},
		{`\ud83d\ude00`, "😀"},
		{`\ud83d`, "\ufffd"},
		{`\ude00x`, "\ufffdx"},
		{`\ud83d\u0041`, "\ufffdA"},
		{`\ud83d\ud83d\ude00`, "\ufffd😀"},
	} {
		if got := Unescape([]byte(c.in)); string(got) != c.want {
			t.Errorf("%s: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestAppendString(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", `""`},
		{"a\"b\\c", `"a\"b\\c"`},
		{"\n\r\t\x00\x1f", `"\n\r\t\u0000\u001f"`},
		{"ü€😀", `"ü€😀"`},
		{"a\xffb\xc3", `"a\ufffdb\ufffd"`},
		{"\ufffd", "\"\ufffd\""},
	} {
		if got := AppendString([]byte("x"), c.in); string(got) != "x"+c.want {
			t.Errorf("%q: %s, want %s", c.in, got, c.want)
		}
	}
}

// The standard library is the oracle: both take and refuse the same texts, apart from depth and bad UTF-8, and what is
// compacted is the same.
func FuzzCompact(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,"x\u00e9"],"b":null}`, ` [true , false]`, `"\ud83d"`, `-0`, `{"a":1,}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		before := bytes.Clone(in)
		got, err := Compact(nil, in)
		if !bytes.Equal(before, in) {
			t.Fatal("the input was changed")
		}
		if valid := json.Valid(in); valid != (err == nil) {
			if valid && (!utf8.Valid(in) || strings.Contains(err.Error(), "nested too deep")) {
				return
			}
			t.Fatalf("valid %v, but %v", valid, err)
		}
		if err != nil {
			return
		}
		var want bytes.Buffer
		if err := json.Compact(&want, in); err != nil || !bytes.Equal(want.Bytes(), got) {
			t.Fatalf("%q compacted to %q, want %q (%v)", in, got, want.Bytes(), err)
		}
		if in = bytes.TrimSpace(in); in[0] != '"' {
			return
		}
		var text string
		if err := json.Unmarshal(got, &text); err != nil {
			t.Fatal(err)
		}
		if plain := Unescape(bytes.Clone(got[1 : len(got)-1])); string(plain) != text {
			t.Fatalf("%s unescaped to %q, want %q", got, plain, text)
		}
		var back string
		if err := json.Unmarshal(AppendString(nil, text), &back); err != nil || back != text {
			t.Fatalf("%q written as %s (%v)", text, AppendString(nil, text), err)
		}
	})
}
