package peers

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var write = flag.Bool("write", false, "write the document instead of comparing it")

func TestDifferencesDocument(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "kafka-differences.md")
	want := DifferencesDocument()
	if *write {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what differences.go says: run go generate ./test/peers", path)
	}
}
