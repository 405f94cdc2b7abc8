package differences

import "testing"

func TestParseErrors(t *testing.T) {
	for _, text := range []string{"a::b", "# why\na::b\n\nc::d", "# why\na::b\na::b", "# why\na::*\na::b"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestChance(t *testing.T) {
	list, err := Parse("# By chance: the order is random.\na::*\n\n# always\nb::c")
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	if d := list.Find("a::x"); d == nil || !d.Chance {
		t.Errorf("%+v", d)
	}
	if d := list.Find("b::c"); d == nil || d.Chance || d.Reason != "always" {
		t.Errorf("%+v", d)
	}
}
