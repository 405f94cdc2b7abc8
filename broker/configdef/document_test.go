package configdef

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var write = flag.Bool("write", false, "write the document instead of comparing it")

const document = "../../docs/configs.md"

func TestDocument(t *testing.T) {
	var b bytes.Buffer
	if err := WriteDocument(&b); err != nil {
		t.Fatal(err)
	}
	if *write {
		if err := os.MkdirAll("../../docs", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(document, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, b.Bytes()) {
		t.Error("docs/configs.md is not what the tables say; run go generate ./broker/configdef")
	}
}
