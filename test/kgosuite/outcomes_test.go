package kgosuite

import (
	_ "embed"
	"slices"
	"strings"
	"testing"
)

//go:embed skips.txt
var skipsText string

func TestSkips(t *testing.T) {
	if _, err := parseSkips(skipsText); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"TestA", "# why\nTestA\n\nTestB", "# why\nTestA\nTestA"} {
		if _, err := parseSkips(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestJudge(t *testing.T) {
	const output = "=== RUN   TestA\n--- PASS: TestA (0.01s)\n    --- FAIL: TestB/one (1.00s)\n--- FAIL: TestB (1.00s)\n--- SKIP: TestC (0.00s)\n" +
		"--- SKIP: TestD (0.00s)\n--- PASS: TestE (0.00s)\n"
	listed := skips{"TestC": "why", "TestE": "why", "TestF": "why"}
	all, finished, err := parseOutcomes(strings.NewReader(output))
	if err != nil || finished || len(all) != 6 {
		t.Fatalf("read %v, finished %t, error %v", all, finished, err)
	}
	if _, finished, _ = parseOutcomes(strings.NewReader(output + "FAIL\n")); !finished {
		t.Error("the last line was not seen")
	}
	for _, c := range []struct {
		whole bool
		want  []string
	}{
		{false, []string{"TestB failed", "TestB/one failed", "TestD was skipped and is not listed"}},
		{true, []string{
			"TestB failed", "TestB/one failed", "TestD was skipped and is not listed",
			`TestE is listed, and its outcome is "PASS": why`, `TestF is listed, and its outcome is "": why`,
		}},
	} {
		got := judge(all, listed, c.whole)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("whole %t: %q, want %q", c.whole, got, c.want)
		}
	}
}
