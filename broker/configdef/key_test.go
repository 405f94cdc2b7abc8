package configdef

import (
	"strings"
	"testing"
)

// Passwords leave neither through descriptions nor through error texts.
func TestSensitiveKeysAreHidden(t *testing.T) {
	k := Key{Name: "some.password", Type: Password, Default: "default-secret", Valid: oneOf{"right"}}
	if !k.Sensitive() || !k.entry().Sensitive || k.show("secret") != nil || k.canonical("secret") != nil {
		t.Error("a secret is shown")
	}
	if _, err := k.Parse("wrong-secret"); err == nil || strings.Contains(err.Error(), "wrong-secret") {
		t.Errorf("%v", err)
	}
	if v, err := k.Parse("right"); err != nil || v.Text() != "right" {
		t.Errorf("%v, %v", v, err)
	}
}

func TestParseTypes(t *testing.T) {
	for _, c := range []struct {
		typ        Type
		text, want string
		bad        bool
	}{
		{Short, "32767", "32767", false},
		{Short, "32768", "", true},
		{Int, "2147483648", "", true},
		{Int, " +7\t", "7", false},
		{Long, "9223372036854775807", maxLong, false},
		{Double, "1e400", "", true},
		{Double, "0x1p3", "", true},
		{Double, ".25", "0.25", false},
		{List, " a , b,c ", "a,b,c", false},
		{List, " ", "", false},
		{Boolean, "False", "false", false},
		{Class, " x ", "x", false},
	} {
		k := Key{Name: "k", Type: c.typ}
		v, err := k.Parse(c.text)
		if (err != nil) != c.bad || err == nil && v.String() != c.want {
			t.Errorf("%v %q: %q, %v", c.typ, c.text, v, err)
		}
	}
}
