//go:build karapace

package karapace

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"moldau/test/differences"
	"moldau/test/peers"
)

// files are the files of Karapace's tests/integration that speak the protocol of the registry over HTTP. The others test
// parts of Karapace from inside, its proxy, or several processes of it.
var files = []string{
	"test_client", "test_client_protobuf", "test_dependencies_compatibility_protobuf", "test_health_check", "test_jsonschema",
	"test_schema", "test_schema_avro_references", "test_schema_compatibility", "test_schema_protobuf", "test_schema_registry_mode",
}

// TestKarapace runs the files and compares the outcome of each test with the list.
func TestKarapace(t *testing.T) {
	checkout := os.Getenv("MOLDAU_KARAPACE")
	if checkout == "" {
		t.Fatal("MOLDAU_KARAPACE names no checkout of Karapace")
	}
	checkout, err := filepath.Abs(checkout)
	if err != nil {
		t.Fatal(err)
	}
	list, err := differences.Parse(differencesText)
	if err != nil {
		t.Fatal(err)
	}
	python, moldau := install(t), peers.BuildMoldau(t)
	passed, listed := 0, 0
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			for name, failure := range outcomes(t, python, moldau, checkout, file) {
				d := list.Find(name)
				switch {
				case d != nil && failure == "" && !d.Chance:
					t.Errorf("%s is listed, but passes: %s", name, d.Reason)
				case d != nil:
					d.Seen = true
					listed++
				case failure != "":
					t.Errorf("%s\n%s", name, failure)
				default:
					passed++
				}
			}
		})
	}
	if t.Failed() {
		return
	}
	for _, pattern := range list.Unseen() {
		t.Errorf("%s is listed, but was not run", pattern)
	}
	t.Logf("%d passed, %d differ for a reason that is listed", passed, listed)
}

// outcomes runs one file and returns why each test failed, empty for one that passed.
func outcomes(t *testing.T, python, moldau, checkout, file string) map[string]string {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report.xml")
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-m", "pytest", filepath.Join("tests", "integration", file+".py"),
		"--junit-xml", report,
		"-p", "karapace_door", "-p", "no:cacheprovider", "-p", "no:warnings", "-q", "--timeout", "60", "--tb", "short", "-n", "0")
	cmd.Dir = checkout
	cmd.Env = append(os.Environ(), "MOLDAU_BINARY="+moldau, "PYTHONDONTWRITEBYTECODE=1",
		"PYTHONPATH="+filepath.Join(checkout, "src")+string(filepath.ListSeparator)+here)
	out, err := cmd.CombinedOutput() // fails when a test does; the report tells which
	text, reportErr := os.ReadFile(report)
	if reportErr != nil {
		t.Fatalf("pytest made no report: %v\n%s", err, out)
	}
	all, err := parseReport(text, file)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(all) == 0 {
		t.Fatalf("pytest ran no test\n%s", out)
	}
	return all
}

// testCase is a test in a report in JUnit's form.
type testCase struct {
	Name    string    `xml:"name,attr"`
	Failure *fault    `xml:"failure"`
	Error   *fault    `xml:"error"`
	Skipped *struct{} `xml:"skipped"`
}

type fault struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func parseReport(text []byte, file string) (map[string]string, error) {
	var report struct {
		Cases []testCase `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("read pytest's report: %w", err)
	}
	all := map[string]string{}
	for _, c := range report.Cases {
		name := file + "::" + c.Name
		switch {
		case c.Failure != nil:
			all[name] = c.Failure.Message + "\n" + c.Failure.Text
		case c.Error != nil:
			all[name] = c.Error.Message + "\n" + c.Error.Text
		case c.Skipped != nil:
			all[name] = "pytest skipped it"
		default:
			if _, known := all[name]; !known {
				all[name] = ""
			}
		}
	}
	return all, nil
}

// install makes the environment of Python in which the tests run, once, and answers its interpreter.
func install(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(os.TempDir(), "moldau-karapace")
	python := filepath.Join(dir, "bin", "python")
	if _, err := os.Stat(python); err != nil {
		run(t, "python3", "-m", "venv", dir)
	}
	run(t, python, "-m", "pip", "install", "-q", "-r", "requirements.txt")
	return python
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
}
