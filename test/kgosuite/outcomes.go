package kgosuite

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// skips are the tests that are skipped, with the reasons.
type skips map[string]string

// parseSkips reads the list: lines with a reason begin with "# ", the lines after them name tests, and an empty line ends the reason.
func parseSkips(text string) (skips, error) {
	all, reason := skips{}, ""
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
		case all[line] != "":
			return nil, fmt.Errorf("%s is listed twice", line)
		default:
			all[line] = reason
		}
	}
	return all, nil
}

// outcome is what became of a test: PASS, FAIL or SKIP.
type outcome string

var outcomeLine = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP): (\S+) \(`)

// parseOutcomes reads what a test binary prints. finished is false where it ended before its last line.
func parseOutcomes(r io.Reader) (all map[string]outcome, finished bool, err error) {
	all = map[string]outcome{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		line := lines.Text()
		if m := outcomeLine.FindStringSubmatch(line); m != nil {
			all[m[2]] = outcome(m[1])
		}
		if line == "PASS" || line == "FAIL" {
			finished = true
		}
	}
	return all, finished, lines.Err()
}

// judge returns what is wrong with outcomes: a test that failed, one that was skipped and is not listed, and, if all were run, one
// that is listed and was not skipped.
func judge(all map[string]outcome, listed skips, whole bool) []string {
	var wrong []string
	for name, got := range all {
		switch {
		case got == "FAIL":
			wrong = append(wrong, name+" failed")
		case got == "SKIP" && listed[name] == "":
			wrong = append(wrong, name+" was skipped and is not listed")
		}
	}
	for name := range listed {
		if got := all[name]; whole && got != "SKIP" {
			wrong = append(wrong, fmt.Sprintf("%s is listed, and its outcome is %q: %s", name, got, listed[name]))
		}
	}
	return wrong
}
