//go:build interop

package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// suiteVersion is the release of the Python package jsonschema whose source carries the JSON Schema Test Suite.
const suiteVersion = "4.26.0"

// TestJSONSchemaSuite runs all required tests of the JSON Schema Test Suite for the drafts that the registry knows: 4, 6, 7,
// 2019-09 and 2020-12. There is no difference to list. Drafts that it does not know, and the optional tests, are left out.
func TestJSONSchemaSuite(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "test", "-tags", "schemasuite", "-count=1", "-v", "-run", "^TestSuite$", "moldau/registry/format/jsonschema")
	cmd.Env = append(os.Environ(), "MOLDAU_JSON_SUITE="+jsonSuite(t))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	drafts := regexp.MustCompile(`(draft[0-9-]+): \d+ files, \d+ groups, (\d+) tests, (\d+) passed`).FindAllSubmatch(out, -1)
	for _, d := range drafts {
		if string(d[2]) != string(d[3]) || len(d[2]) < 3 {
			t.Errorf("%s", d[0])
		}
		t.Logf("%s", d[0])
	}
	if len(drafts) != 5 {
		t.Errorf("%d drafts were run\n%s", len(drafts), out)
	}
}

// jsonSuite downloads the package's source and answers the folder of the suite in it.
func jsonSuite(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(cache(t), "json-suite")
	name := "jsonschema-" + suiteVersion
	suite := filepath.Join(dir, name, "json")
	if _, err := os.Stat(filepath.Join(suite, "tests")); err != nil {
		run(t, "", "python3", "-m", "venv", dir)
		run(t, dir, filepath.Join(dir, "bin", "python"), "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "jsonschema", "jsonschema=="+suiteVersion)
		run(t, dir, "python3", "-m", "tarfile", "-e", name+".tar.gz", ".")
	}
	return suite
}
