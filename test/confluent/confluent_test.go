//go:build confluent

package confluent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"moldau/registry/catalog"
)

// checkout is the folder that the caller names.
func checkout(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MOLDAU_CONFLUENT")
	if dir == "" {
		t.Fatal("MOLDAU_CONFLUENT names no checkout of Confluent's schema registry")
	}
	return dir
}

func read(t *testing.T, into any, path ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{checkout(t)}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(tolerant(text), into); err != nil {
		t.Fatalf("%s: %v", filepath.Join(path...), err)
	}
}

// tolerant takes away the commas before a closing bracket that Java's reader puts up with.
func tolerant(text []byte) []byte {
	out, inString := make([]byte, 0, len(text)), false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			out = append(out, c)
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == '}' || c == ']'):
			out = withoutComma(out)
		}
		out = append(out, text[i])
	}
	return out
}

func withoutComma(b []byte) []byte {
	for i := len(b) - 1; i >= 0; i-- {
		switch b[i] {
		case ' ', '\n', '\r', '\t':
		case ',':
			return b[:i]
		default:
			return b
		}
	}
	return b
}

// TestJSONChanges and TestProtobufChanges ask a registry whether a schema may follow another one, and compare its word with the data's.
func TestJSONChanges(t *testing.T) {
	for _, name := range []string{
		"diff-schema-examples.json", "diff-schema-examples-2020-12.json",
		"diff-combined-schema-examples.json", "diff-combined-schema-examples-2020-12.json",
	} {
		var changes []*change
		read(t, &changes, "json-schema-provider", "src", "test", "resources", name)
		judge(t, name, "JSON", changes)
	}
}

func TestProtobufChanges(t *testing.T) {
	for _, name := range []string{"diff-schema-examples.json", "diff-schema-examples-with-meta.json"} {
		var changes []*change
		read(t, &changes, "protobuf-provider", "src", "test", "resources", name)
		judge(t, name, "PROTOBUF", changes)
	}
}

// TestGUIDs compares the sums of texts with references, metadata and rules.
func TestGUIDs(t *testing.T) {
	var golden struct {
		Schemas        map[string]string
		References     []catalog.Reference
		Metadata       *catalog.Metadata
		Rules          *catalog.RuleSet
		ExpectedHashes map[string]map[string]string
	}
	read(t, &golden, "core", "src", "test", "resources", "schema-md5-golden-data.json")
	kinds := map[string]string{"AVRO": "avro", "PROTOBUF": "protobuf", "JSON": "json"}
	compared := 0
	for kind, sums := range golden.ExpectedHashes {
		for parts, want := range sums {
			refs, metadata, rules := golden.References, golden.Metadata, golden.Rules
			if parts[0] == '0' {
				refs = nil
			}
			if parts[1] == '0' {
				metadata = nil
			}
			if parts[2] == '0' {
				rules = nil
			}
			if got := catalog.Sum(golden.Schemas[kinds[kind]], refs, metadata, rules); got.String() != want {
				t.Errorf("%s with references, metadata, rules %s: %s, want %s", kind, parts, got, want)
			}
			compared++
		}
	}
	if compared == 0 {
		t.Fatal("nothing was compared")
	}
	t.Logf("%d GUIDs compared", compared)
}
