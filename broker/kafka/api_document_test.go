package kafka

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// apiDocument is docs/protocol/apis.md.
func apiDocument() []byte {
	var b bytes.Buffer
	b.WriteString("<!-- Made by `go generate ./broker/kafka` from broker/kafka/apis.go. Do not edit. -->\n\n")
	b.WriteString("# Supported Kafka APIs\n\n")
	b.WriteString("What the broker advertises in ApiVersions, and all that it answers. \"Kafka 4.4\" is the newest version that the\n")
	b.WriteString("protocol of Apache Kafka 4.4 defines. Requests with another key or version close the connection, as in Kafka, with a\n")
	b.WriteString("line in the log; only ApiVersions answers unknown versions, in version 0 with error UNSUPPORTED_VERSION.\n\n")
	b.WriteString(apiMarkdown())
	return b.Bytes()
}

// apiMarkdown is the table of what we speak, for the document and for README.md.
func apiMarkdown() string {
	var b strings.Builder
	b.WriteString("| key | API | versions | Kafka 4.4 | note |\n|---|---|---|---|---|\n")
	for _, a := range apiTable() {
		var note []string
		if a.refuseBelow > 0 {
			note = append(note, fmt.Sprintf("versions below %d are advertised for the sake of librdkafka, and close the connection (KAFKA-18659)", a.refuseBelow))
		}
		fmt.Fprintf(&b, "| %d | %s | %d to %d | %d | %s |\n", a.key, a.name, a.min, a.max, a.key.Request().MaxVersion(), strings.Join(note, "; "))
	}
	return b.String()
}

// readmeMarks enclose the table in README.md.
var readmeMarks = [2]string{"<!-- apis: made by `go generate ./broker/kafka` -->\n\n", "\n<!-- /apis -->"}

// inReadme returns README.md with the current table.
func inReadme(t *testing.T, readme []byte) []byte {
	t.Helper()
	before, rest, ok := bytes.Cut(readme, []byte(readmeMarks[0]))
	_, after, closed := bytes.Cut(rest, []byte(readmeMarks[1]))
	if !ok || !closed {
		t.Fatal("README.md has no place for the table of APIs")
	}
	return slices.Concat(before, []byte(readmeMarks[0]), []byte(apiMarkdown()), []byte(readmeMarks[1]), after)
}

func TestReadmeTable(t *testing.T) {
	path := filepath.Join("..", "..", "README.md")
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := inReadme(t, got)
	if *write {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the table in %s is not current: run go generate ./broker/kafka", path)
	}
}

func TestAPIDocument(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "protocol", "apis.md")
	want := apiDocument()
	if *write {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not current (%v): run go generate ./broker/kafka", path, err)
	}
}

// kafkaNames are the APIs that kmsg calls otherwise than Kafka does.
var kafkaNames = map[kmsg.Key]string{
	kmsg.AlterPartitionAssignments: "AlterPartitionReassignments",
}

func TestAPITable(t *testing.T) {
	last := int16(-1)
	for _, a := range apiTable() {
		if a.key.Int16() <= last {
			t.Errorf("%s is out of order, or there twice", a.name)
		}
		last = a.key.Int16()
		if a.min < 0 || a.min > a.max || a.max > a.key.Request().MaxVersion() {
			t.Errorf("%s: versions %d to %d, kmsg knows %d", a.name, a.min, a.max, a.key.Request().MaxVersion())
		}
		if !strings.EqualFold(a.name, a.key.Name()) && a.name != kafkaNames[a.key] {
			t.Errorf("key %d is %s, not %s", a.key, a.key.Name(), a.name)
		}
		if a.handle == nil {
			t.Errorf("%s has no handler", a.name)
		}
	}
}
