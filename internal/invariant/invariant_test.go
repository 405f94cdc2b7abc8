package invariant

import "testing"

func TestCheck(t *testing.T) {
	fired := func(ok bool) (fired bool) {
		defer func() { fired = recover() != nil }()
		Check(ok, "end %d before start %d", 1, 2)
		return false
	}
	if fired(true) {
		t.Error("a condition that holds fired")
	}
	if got := fired(false); got != Enabled {
		t.Errorf("a broken condition fired = %v, want %v", got, Enabled)
	}
}
