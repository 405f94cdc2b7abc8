// Command protodeps writes the .proto declarations of google/api and google/rpc that ours import.
//
// The declarations aren't fetched as source: they are printed from the descriptors that the linked Go package carries,
// so that proto text and generated Go types always agree. Comments are lost on the way. Run it with the folder to write
// to:
//
//	go run . ../../third_party/googleapis
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/jhump/protoreflect/v2/protoprint"
	_ "google.golang.org/genproto/googleapis/api/annotations"
	_ "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// files are the declarations that files under proto/ import, and what those import in turn.
var files = []string{
	"google/api/annotations.proto",
	"google/api/field_behavior.proto",
	"google/api/http.proto",
	"google/rpc/status.proto",
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: protodeps DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "protodeps:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	printer := protoprint.Printer{SortElements: false}
	for _, name := range files {
		desc, err := protoregistry.GlobalFiles.FindFileByPath(name)
		if err != nil {
			return fmt.Errorf("find %s: %w", name, err)
		}
		text, err := printer.PrintProtoToString(desc)
		if err != nil {
			return fmt.Errorf("print %s: %w", name, err)
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
