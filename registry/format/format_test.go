package format

import (
	"errors"
	"strings"
	"testing"
)

func TestIncompatibilityString(t *testing.T) {
	for _, c := range []struct {
		i    Incompatibility
		want string
	}{
		{Incompatibility{Type: "T", Description: "d"}, `{errorType:"T", description:"d"}`},
		{Incompatibility{Type: "T", Description: "d", Additional: "a", Quote: "'"}, `{errorType:'T', description:'d', additionalInfo:'a'}`},
		{Incompatibility{Type: "T", Description: "d", Quote: "'"}, `{errorType:'T', description:'d', additionalInfo:''}`},
	} {
		if got := c.i.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestLabels(t *testing.T) {
	if r, w := (CheckOptions{}).Labels(); r != "reader" || w != "writer" {
		t.Errorf("%s, %s", r, w)
	}
	if r, w := (CheckOptions{Reader: "new", Writer: "old"}).Labels(); r != "new" || w != "old" {
		t.Errorf("%s, %s", r, w)
	}
}

func TestAdmit(t *testing.T) {
	l := Limits{TextBytes: 10, TotalBytes: 15, References: 2}
	for name, c := range map[string]struct {
		s  Source
		ok bool
	}{
		"fits":           {Source{Text: strings.Repeat("x", 10), References: []Resolved{{Text: "xxxxx"}}}, true},
		"long":           {Source{Text: strings.Repeat("x", 11)}, false},
		"long together":  {Source{Text: strings.Repeat("x", 10), References: []Resolved{{Text: "xxxxxx"}}}, false},
		"many":           {Source{References: make([]Resolved, 3)}, false},
		"long reference": {Source{References: []Resolved{{Text: strings.Repeat("x", 16)}}}, false},
	} {
		if err := l.Admit(c.s); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInvalid(t *testing.T) {
	cause := errors.New("cause")
	err := Invalid("line %d: %w", 3, cause)
	if !errors.Is(err, ErrInvalid) || !errors.Is(err, cause) || err.Error() != "invalid schema: line 3: cause" {
		t.Errorf("got %v", err)
	}
}

func TestNormalEntity(t *testing.T) {
	if got := (Entity{Path: ".a.b", Type: FieldEntity}).Normal(); got.Path != "a.b" || got.Type != FieldEntity {
		t.Errorf("got %v", got)
	}
}
