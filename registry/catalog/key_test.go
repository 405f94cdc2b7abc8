package catalog

import (
	"errors"
	"testing"
)

// Compaction compares bytes: these must never change, and are those that Confluent's registry writes.
func TestKeyBytes(t *testing.T) {
	for _, c := range []struct {
		key  Key
		want string
	}{
		{SchemaKey("hits-value", 3), `{"keytype":"SCHEMA","subject":"hits-value","version":3,"magic":1}`},
		{SchemaKey(":.ctx:a\"b\\<>&é", 1), `{"keytype":"SCHEMA","subject":":.ctx:a\"b\\<>&é","version":1,"magic":1}`},
		{SchemaKey("", 1), `{"keytype":"SCHEMA","subject":"","version":1,"magic":1}`},
		{ConfigKey("hits-value"), `{"keytype":"CONFIG","subject":"hits-value","magic":0}`},
		{ConfigKey(""), `{"keytype":"CONFIG","magic":0}`},
		{ModeKey(":.ctx:"), `{"keytype":"MODE","subject":":.ctx:","magic":0}`},
		{ModeKey(""), `{"keytype":"MODE","magic":0}`},
		{ContextKey(".ctx"), `{"keytype":"CONTEXT","tenant":"default","context":".ctx","magic":0}`},
		{Key{kind: deleteSubjectType, subject: "s"}, `{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}`},
		{Key{kind: clearSubjectType, subject: "s"}, `{"keytype":"CLEAR_SUBJECT","subject":"s","magic":0}`},
		{Key{kind: noopType}, `{"keytype":"NOOP","magic":0}`},
	} {
		if got := string(c.key.Append(nil)); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
		if got, err := ParseKey([]byte(c.want)); err != nil || got != c.key {
			t.Errorf("%s: %+v, %v", c.want, got, err)
		}
	}
}

func TestParseKey(t *testing.T) {
	for text, want := range map[string]Key{
		`{"magic":1,"version":2,"subject":"s","keytype":"SCHEMA"}`:          SchemaKey("s", 2),
		`{"subject":"s","version":2,"magic":0,"keytype":"SCHEMA"}`:          SchemaKey("s", 2),
		`{"keytype":"CONFIG","subject":null,"magic":0}`:                     ConfigKey(""),
		`{"keytype":"CONFIG","subject":":.:s","magic":0,"later":{"x":[1]}}`: ConfigKey("s"),
	} {
		if got, err := ParseKey([]byte(text)); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		``, `null`, `[]`, `{}`, `{"keytype":"ASSOC"}`, `{"keytype":"SCHEMA","subject":"s","version":1,"magic":2}`,
		`{"keytype":"SCHEMA","subject":"s","version":0,"magic":1}`, `{"keytype":"SCHEMA","subject":7,"version":1,"magic":1}`,
		`{"keytype":"SCHEMA","subject":"s","version":99999999999,"magic":1}`,
	} {
		if k, err := ParseKey([]byte(text)); !errors.Is(err, ErrRecord) {
			t.Errorf("%s is taken: %+v", text, k)
		}
	}
}

func FuzzKey(f *testing.F) {
	f.Add([]byte(`{"keytype":"SCHEMA","subject":"hits-value","version":3,"magic":1}`))
	f.Add([]byte(`{"keytype":"CONTEXT","tenant":"default","context":".ctx","magic":0}`))
	f.Add([]byte(`{"keytype":"CONFIG","subject":null,"magic":0}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		k, err := ParseKey(raw)
		if err != nil {
			return
		}
		again, err := ParseKey(k.Append(nil))
		if err != nil || again != k {
			t.Fatalf("%q is %+v, written as %s, which is %+v, %v", raw, k, k.Append(nil), again, err)
		}
	})
}
