package differences

import "testing"

func TestParseErrors(t *testing.T) {
	for _, text := range []string{"a::b", "# why\na::b\n\nc::d", "# why\na::b\na::b", "# why\na::*\na::b"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
