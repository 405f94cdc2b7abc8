package exit

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code int
		text string
	}{
		{nil, OK, ""},
		{errors.New("x"), Failed, "error: x\nnext:  moldau topic --help\n"},
		{Usagef("want %d", 1), Usage, "error: want 1\nnext:  moldau topic --help\n"},
		{errors.New("unknown flag: --x"), Usage, "error: unknown flag: --x\nnext:  moldau topic --help\n"},
		{fmt.Errorf("a: %w", &Error{NotFound, errors.New("b"), "moldau topic list"}), NotFound, "error: a: b\nnext:  moldau topic list\n"},
	} {
		var b strings.Builder
		if code := Report(&b, "moldau topic", tt.err); code != tt.code || b.String() != tt.text {
			t.Errorf("%v: %d %q, want %d %q", tt.err, code, b.String(), tt.code, tt.text)
		}
	}
}
