package catalog

import (
	"errors"
	"testing"
)

func TestLedgerApply(t *testing.T) {
	l := new(Ledger)
	steps := []struct {
		name   string
		record Record
		bad    bool
		want   string // of the key a; empty for none
	}{
		{"without a generation", Record{Key: []byte("a"), Value: []byte("0"), Offset: 0}, true, ""},
		{"first", Record{Key: []byte("a"), Value: []byte("1"), Offset: 1, Generation: 2, Commit: 1}, false, "1"},
		{"superseded", Record{Key: []byte("a"), Value: []byte("2"), Offset: 2, Generation: 1, Commit: 9}, true, "1"},
		{"next", Record{Key: []byte("a"), Value: []byte("3"), Offset: 3, Generation: 3, Commit: 1}, false, "3"},
		{"removal", Record{Key: []byte("a"), Offset: 5, Generation: 3, Commit: 2}, false, ""},
	}
	for _, s := range steps {
		next, err := l.Apply(s.record)
		if s.bad != errors.Is(err, ErrRecord) {
			t.Errorf("%s: %v", s.name, err)
		}
		got, ok := next.Get("a")
		if string(got) != s.want || ok != (s.want != "") || next.Offset() != s.record.Offset+1 {
			t.Errorf("%s: a is %q, offset %d", s.name, got, next.Offset())
		}
		l = next
	}
	if l.Generation() != 3 || l.Commit() != 2 || l.At(9).Offset() != 9 || l.At(1).Offset() != 6 {
		t.Errorf("generation %d, commit %d, offset %d", l.Generation(), l.Commit(), l.Offset())
	}
}

func TestLedgerFind(t *testing.T) {
	before := new(Ledger).With([]Change{{[]byte("a/1"), []byte("x")}, {[]byte("b/1"), []byte("y")}, {[]byte("b/2"), []byte{}}})
	after := before.With([]Change{{[]byte("b/1"), nil}})
	keys := func(l *Ledger, prefix string) (out string) {
		for k := range l.Find(prefix) {
			out += k + " "
		}
		return out
	}
	if got := keys(before, "b/"); got != "b/1 b/2 " {
		t.Error(got)
	}
	if got := keys(after, ""); got != "a/1 b/2 " || after.Size() != 2 {
		t.Error(got)
	}
	// What it takes: three keys of three bytes, and two values of one; then one of each less, and one value exchanged.
	other := after.With([]Change{{[]byte("a/1"), []byte("longer")}, {[]byte("none"), nil}})
	if before.Bytes() != 11 || after.Bytes() != 7 || other.Bytes() != 12 || other.With([]Change{{[]byte("a/1"), nil}, {[]byte("b/2"), nil}}).Bytes() != 0 {
		t.Errorf("%d, %d, %d bytes", before.Bytes(), after.Bytes(), other.Bytes())
	}
}
