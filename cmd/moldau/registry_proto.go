package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile/ast"
	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"moldau/registry/format"
	"moldau/registry/format/protobuf"
)

// importsOf are the paths that a .proto text imports.
func importsOf(path string, text []byte) ([]string, error) {
	tree, err := parser.Parse(path, bytes.NewReader(text), reporter.NewHandler(nil))
	if err != nil {
		return nil, err // it names file, line and column
	}
	var out []string
	for _, d := range tree.Decls {
		if i, ok := d.(*ast.ImportNode); ok {
			out = append(out, i.Name.AsString())
		}
	}
	return out, nil
}

// bottomUp orders files so that each comes after those it imports, and leaves only these among its imports.
func bottomUp(byPath map[string]*pushedFile) ([]*pushedFile, error) {
	var out []*pushedFile
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(path string, trail []string) error
	visit = func(path string, trail []string) error {
		switch state[path] {
		case open:
			return fmt.Errorf("imports go in a circle: %s", strings.Join(append(trail, path), " -> "))
		case done:
			return nil
		}
		state[path] = open
		p := byPath[path]
		p.imports = slices.DeleteFunc(slices.Clone(p.imports), func(i string) bool { return byPath[i] == nil })
		for _, i := range p.imports {
			if err := visit(i, append(trail, path)); err != nil {
				return err
			}
		}
		state[path] = done
		out = append(out, p)
		return nil
	}
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		if err := visit(path, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// languageFiles is where the files of the language itself are, which every registry knows.
const languageFiles = "google/protobuf/"

// readImage reads the files of a buf image, which is a set of descriptors. They become text.
func readImage(ctx context.Context, path string, stdin io.Reader) ([]*pushedFile, error) {
	raw, err := readFileOr(path, stdin)
	if err != nil {
		return nil, err
	}
	set, err := parseImage(path, raw)
	if err != nil {
		return nil, err
	}
	byPath, descriptors := map[string]*pushedFile{}, map[string]*descriptorpb.FileDescriptorProto{}
	for _, fd := range set.GetFile() {
		if strings.HasPrefix(fd.GetName(), languageFiles) {
			continue
		}
		fd.SourceCodeInfo = nil
		fd.ProtoReflect().SetUnknown(nil) // what buf notes for itself; options stay as they are
		dropImplied(fd.GetMessageType())
		dropImpliedNames(fd.GetExtension())
		byPath[fd.GetName()] = &pushedFile{File: fd.GetName(), schema: &registered{SchemaType: "PROTOBUF"}, imports: fd.GetDependency()}
		descriptors[fd.GetName()] = fd
	}
	files, err := bottomUp(byPath)
	if err != nil {
		return nil, err
	}
	language := protobuf.New(format.DefaultLimits())
	var texts []format.Resolved
	for _, p := range files {
		b, err := proto.Marshal(descriptors[p.File])
		if err != nil {
			return nil, err
		}
		s, err := language.Parse(ctx, format.Source{Text: base64.StdEncoding.EncodeToString(b), References: texts, New: true})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.File, err)
		}
		p.schema.Schema = s.Canonical()
		texts = append(texts, format.Resolved{Name: p.File, Text: p.schema.Schema})
	}
	return files, nil
}

// dropImplied takes the names in JSON that follow from the fields' own out of messages: compilers write them into
// descriptors, people leave them out of texts.
func dropImplied(messages []*descriptorpb.DescriptorProto) {
	for _, m := range messages {
		dropImpliedNames(m.GetField())
		dropImpliedNames(m.GetExtension())
		dropImplied(m.GetNestedType())
	}
}

func dropImpliedNames(fields []*descriptorpb.FieldDescriptorProto) {
	for _, f := range fields {
		if f.GetJsonName() == impliedName(f.GetName()) {
			f.JsonName = nil
		}
	}
}

// impliedName is the name in JSON of a field: without underscores, each letter behind one being a capital.
func impliedName(name string) string {
	var b []byte
	capital := false
	for i := range len(name) {
		c := name[i]
		if c == '_' {
			capital = true
			continue
		}
		if capital && 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		b, capital = append(b, c), false
	}
	return string(b)
}
