package traps

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// root is the repository.
const root = "../.."

var (
	row  = regexp.MustCompile(`^\| (\d+) \|.*\| ([^|]+) \|$`)
	test = regexp.MustCompile("`([a-z0-9/]+) (Test[A-Za-z0-9]+)(?:/([^`]+))?`")
)

// elsewhere is what a row says instead of tests that need what is not built.
const elsewhere = "needs more than one broker"

func TestEveryTrapIsTested(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "traps.md"))
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for line := range strings.Lines(string(text)) {
		m := row.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		if last++; m[1] != strconv.Itoa(last) {
			t.Fatalf("row %s comes after row %d", m[1], last-1)
		}
		named := test.FindAllStringSubmatch(m[2], -1)
		if len(named) == 0 && m[2] != elsewhere || strings.Count(m[2], "`") != 2*len(named) {
			t.Errorf("row %d names no test: %s", last, m[2])
		}
		for _, n := range named {
			if !exists(t, filepath.Join(root, n[1]), n[2], n[3]) {
				t.Errorf("row %d: %s is not there", last, n[0])
			}
		}
	}
	if last != 40 {
		t.Errorf("%d rows", last)
	}
}

// exists tells whether a package has a test, and the test the case: a file of its testdata, or a name in its source.
func exists(t *testing.T, dir, name, sub string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	found, foundCase := false, sub == "" || inTestdata(t, dir, sub)
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found = found || strings.Contains(string(source), "func "+name+"(t *testing.T)")
		foundCase = foundCase || strings.Contains(string(source), strconv.Quote(sub))
	}
	return found && foundCase
}

func inTestdata(t *testing.T, dir, name string) bool {
	t.Helper()
	found := false
	err := filepath.WalkDir(filepath.Join(dir, "testdata"), func(path string, _ fs.DirEntry, err error) error {
		base := filepath.Base(path)
		found = found || strings.TrimSuffix(base, filepath.Ext(base)) == name
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return found
}

func TestExists(t *testing.T) {
	for _, c := range []struct {
		dir, name, sub string
		want           bool
	}{
		{"test/traps", "TestExists", "", true},
		{"test/traps", "TestExists", "a " + "case", false},
		{"test/traps", "TestNothing", "", false},
		{"nowhere", "TestExists", "", false},
		{"broker/coordinator/group", "TestScripts", "static_members", true},
		{"broker/coordinator/group", "TestScripts", "static", false},
	} {
		if got := exists(t, filepath.Join(root, c.dir), c.name, c.sub); got != c.want {
			t.Errorf("%v: %t", c, got)
		}
	}
}
