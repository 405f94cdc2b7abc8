// Package differences reads lists of the tests of others that must not pass against ours, each with its reason.
package differences

import (
	"fmt"
	"strings"
)

// Difference is an entry of a list: tests that must fail, and why.
type Difference struct {
	pattern string // the name of a test; a star stands for any text
	// Reason is why.
	Reason string
	// Chance says that the test may pass all the same: its reason begins with "By chance: ".
	Chance bool
	// Seen is for the caller: whether a test of this name was run.
	Seen bool
}

func (d *Difference) matches(name string) bool {
	head, tail, star := strings.Cut(d.pattern, "*")
	if !star {
		return name == d.pattern
	}
	return len(name) >= len(head)+len(tail) && strings.HasPrefix(name, head) && strings.HasSuffix(name, tail)
}

// byChance begins the reasons of tests that only sometimes fail.
const byChance = "By chance: "

// List is all entries of a list.
type List []*Difference

// Parse reads a list: lines with a reason begin with "# ", the lines after them name tests, and an empty line ends the reason.
func Parse(text string) (List, error) {
	var all List
	reason := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		head, isReason := strings.CutPrefix(line, "# ")
		switch {
		case line == "":
			reason = ""
		case isReason:
			reason = strings.TrimSpace(reason + " " + head)
		case reason == "":
			return nil, fmt.Errorf("%s is listed without a reason", line)
		case all.Find(line) != nil:
			return nil, fmt.Errorf("%s is listed twice", line)
		default:
			all = append(all, &Difference{pattern: line, Reason: reason, Chance: strings.HasPrefix(reason, byChance)})
		}
	}
	return all, nil
}

// Find is the entry for a test, or nil.
func (l List) Find(name string) *Difference {
	for _, d := range l {
		if d.matches(name) {
			return d
		}
	}
	return nil
}

// Unseen are the patterns whose tests were not run.
func (l List) Unseen() []string {
	var out []string
	for _, d := range l {
		if !d.Seen {
			out = append(out, d.pattern)
		}
	}
	return out
}
