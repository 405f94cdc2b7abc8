package karapace

import (
	"fmt"
	"strings"
)

// difference is an entry of the list: tests that must fail, and why.
type difference struct {
	pattern string // the name of a test; a star stands for any text
	reason  string
	seen    bool
}

func (d *difference) matches(name string) bool {
	head, tail, star := strings.Cut(d.pattern, "*")
	if !star {
		return name == d.pattern
	}
	return len(name) >= len(head)+len(tail) && strings.HasPrefix(name, head) && strings.HasSuffix(name, tail)
}

// differences are all entries.
type differences []*difference

// parseDifferences reads the list: lines with a reason begin with "# ", the lines after them name tests, and an empty line
// ends the reason.
func parseDifferences(text string) (differences, error) {
	var all differences
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
		case all.find(line) != nil:
			return nil, fmt.Errorf("%s is listed twice", line)
		default:
			all = append(all, &difference{pattern: line, reason: reason})
		}
	}
	return all, nil
}

// find is the entry for a test, or nil.
func (l differences) find(name string) *difference {
	for _, d := range l {
		if d.matches(name) {
			return d
		}
	}
	return nil
}

// unseen are the patterns that no test matched.
func (l differences) unseen() []string {
	var out []string
	for _, d := range l {
		if !d.seen {
			out = append(out, d.pattern)
		}
	}
	return out
}
