package catalog

import (
	"crypto/md5"
	"encoding/json"
	"testing"
)

// The GUID is an MD5 sum over the text, then each reference (name, subject, version as four bytes), then a 1 and the
// metadata, then a 1 and the rules, all maps in the order of their keys. The bytes below are written out by hand.
func TestGUID(t *testing.T) {
	text := `"string"`
	refs := []Reference{{"User", "user-value", 258}}
	var m Metadata
	if err := json.Unmarshal([]byte(`{"tags":{"b":["y","x","y"],"a":["z"]},"properties":{"q":"2","p":"1"},"sensitive":["s2","s1"]}`), &m); err != nil {
		t.Fatal(err)
	}
	var r RuleSet
	if err := json.Unmarshal([]byte(`{"domainRules":[{"name":"n","doc":"d","type":"CEL","tags":["t2","t1"],"params":{"k":"v"},"expr":"e","onSuccess":"NONE","onFailure":"ERROR","disabled":true}],"migrationRules":[{"name":"up","kind":"CONDITION","mode":"UPGRADE","type":"T"}],"enableAt":"CLIENT"}`), &r); err != nil {
		t.Fatal(err)
	}
	refBytes := "Useruser-value\x00\x00\x01\x02"
	metaBytes := "\x01" + "azbxy" + "p1q2" + "s1s2"
	ruleBytes := "\x01" + "upCONDITIONUPGRADET" + "ndTRANSFORMWRITEREADCEL" + "t1t2" + "kv" + "eNONEERROR" + "\x01" + "CLIENT"
	for _, c := range []struct {
		refs  []Reference
		m     *Metadata
		r     *RuleSet
		bytes string
	}{
		{nil, nil, nil, text},
		{refs, nil, nil, text + refBytes},
		{nil, &m, nil, text + metaBytes},
		{nil, nil, &r, text + ruleBytes},
		{refs, &m, &r, text + refBytes + metaBytes + ruleBytes},
		{nil, new(Metadata), new(RuleSet), text + "\x01\x01"},
	} {
		if got := Sum(text, c.refs, c.m, c.r); got != md5.Sum([]byte(c.bytes)) {
			t.Errorf("%q has another sum", c.bytes)
		}
	}
}

func TestGUIDText(t *testing.T) {
	const text = "d629bb05-ad85-3d20-fbcb-895de3c459f7"
	g, ok := ParseGUID(text)
	if !ok || g.String() != text {
		t.Fatalf("%v %v", g, ok)
	}
	if h, ok := ParseGUID("d629bb05ad853d20fbcb895de3c459f7"); !ok || h != g {
		t.Fatal("not taken without hyphens")
	}
	for _, bad := range []string{"", "x", "d629bb05-ad85-3d20-fbcb-895de3c459f", "g629bb05-ad85-3d20-fbcb-895de3c459f7", "d629bb05ad85-3d20-fbcb-895de3c459f7-"} {
		if _, ok := ParseGUID(bad); ok {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestRuleSetFaults(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"domainRules":[{"name":"a","type":"CEL","mode":"WRITE"}]}`, ""},
		{`{"domainRules":[{"type":"CEL"}]}`, "Missing rule name"},
		{`{"domainRules":[{"name":"a"}]}`, "Missing rule type"},
		{`{"domainRules":[{"name":"1a","type":"T"}]}`, "Illegal initial character in rule name: 1a"},
		{`{"domainRules":[{"name":"a b","type":"T"}]}`, "Illegal character in rule name: a b"},
		{`{"domainRules":[{"name":"a","type":"T","mode":"UPGRADE"}]}`, "Domain rules can only be WRITE, READ, WRITEREAD"},
		{`{"migrationRules":[{"name":"a","type":"T"}]}`, "Migration rules can only be UPGRADE, DOWNGRADE, UPDOWN"},
		{`{"domainRules":[{"name":"a","type":"T"}],"encodingRules":[{"name":"a","type":"T"}]}`, "Found rule with duplicate name 'a'"},
		{`{"domainRules":[{"name":"a","type":"T","mode":"READ","onFailure":"ERROR,NONE"}]}`, "Multiple actions only valid with WRITEREAD and UPDOWN"},
		{`{"domainRules":[{"name":"a","type":"T","onFailure":"ERROR,NONE"}]}`, ""},
	} {
		var s RuleSet
		if err := json.Unmarshal([]byte(c.in), &s); err != nil {
			t.Fatal(err)
		}
		err := s.Validate()
		if got := ""; err != nil {
			if got = err.Error(); got != ErrRuleSet.Error()+": "+c.want {
				t.Errorf("%s: %q, want %q", c.in, got, c.want)
			}
		} else if c.want != "" {
			t.Errorf("%s is valid, want %q", c.in, c.want)
		}
	}
	for _, bad := range []string{`{"domainRules":[{"kind":"X"}]}`, `{"domainRules":[{"mode":"X"}]}`, `{"enableAt":"X"}`} {
		if json.Unmarshal([]byte(bad), new(RuleSet)) == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
