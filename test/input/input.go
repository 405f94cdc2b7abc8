package input

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Dir answers the folder of the real input. The folder itself may be absent.
func Dir() string {
	if dir := os.Getenv("MOLDAU_DATA"); dir != "" {
		return dir
	}
	_, self, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(self), "..", "..", "..", "shared", "data")
}

// AccessLog answers the path of the access log: the real one where it exists,
// else a generated one in the test's temporary folder. Under CI=true a data
// folder that is missing altogether fails the test.
func AccessLog(tb testing.TB) string {
	tb.Helper()
	requireDir(tb)
	path := filepath.Join(Dir(), "access.log")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	tb.Logf("input: no access.log in the data folder, using the generated one")
	path = filepath.Join(tb.TempDir(), "access.log")
	if err := os.WriteFile(path, GenerateAccessLog(AccessLogLines, 1), 0o600); err != nil {
		tb.Fatalf("input: %v", err)
	}
	return path
}

// Status answers the path of the status documents, one JSON document a line.
// The test is skipped where they are absent, and fails under CI=true.
func Status(tb testing.TB) string {
	tb.Helper()
	requireDir(tb)
	path := filepath.Join(Dir(), "status.ndjson")
	if _, err := os.Stat(path); err != nil {
		missing(tb, err)
	}
	return path
}

// Schemas answers the folder of real schemas of one kind: "avro", "proto" or
// "json". The test is skipped where it is absent, and fails under CI=true.
func Schemas(tb testing.TB, kind string) string {
	tb.Helper()
	requireDir(tb)
	path := filepath.Join(Dir(), "schemas", kind)
	if _, err := os.Stat(path); err != nil {
		missing(tb, err)
	}
	return path
}

func requireDir(tb testing.TB) {
	tb.Helper()
	if _, err := os.Stat(Dir()); err != nil && os.Getenv("CI") == "true" {
		tb.Fatalf("input: no data folder: %v", err)
	}
}

func missing(tb testing.TB, err error) {
	tb.Helper()
	if os.Getenv("CI") == "true" {
		tb.Fatalf("input: %v", err)
	}
	tb.Skipf("input: %v", err)
}
