package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	yaml "go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"moldau/cmd/moldau/internal/exit"
)

// imageWithOption is an image whose files define an option and use it.
func imageWithOption(t *testing.T) *descriptorpb.FileDescriptorSet {
	t.Helper()
	const definition = `
		file { name: "google/protobuf/descriptor.proto" package: "google.protobuf" message_type { name: "FieldOptions" extension_range { start: 1000 end: 536870912 } } }
		file { name: "opt.proto" package: "o" syntax: "proto3" dependency: "google/protobuf/descriptor.proto"
			extension { name: "note" number: 50001 extendee: ".google.protobuf.FieldOptions" label: LABEL_OPTIONAL type: TYPE_STRING } }
		file { name: "top.proto" package: "t" syntax: "proto3" dependency: "opt.proto"
			message_type { name: "Top" field { name: "id" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING options {} } } }`
	var set descriptorpb.FileDescriptorSet
	if err := prototext.Unmarshal([]byte(definition), &set); err != nil {
		t.Fatal(err)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		t.Fatal(err)
	}
	note, err := dynamicpb.NewTypes(files).FindExtensionByName("o.note")
	if err != nil {
		t.Fatal(err)
	}
	proto.SetExtension(set.File[2].MessageType[0].Field[0].Options, note, "kept")
	return &set
}

// imageForms is one image in all forms that buf writes.
func imageForms(t *testing.T, set *descriptorpb.FileDescriptorSet) map[string]string {
	t.Helper()
	forms := map[string]string{}
	add := func(name string, b []byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		forms[name] = string(b)
		var gz bytes.Buffer
		z := gzip.NewWriter(&gz)
		if _, err := z.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		forms[name+".gz"] = gz.String()
		e, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		forms[name+".zst"] = string(e.EncodeAll(b, nil))
	}
	b, err := proto.Marshal(set)
	add("image.binpb", b, err)
	add("image", b, err)
	b, err = prototext.Marshal(set)
	add("image.txtpb", b, err)
	b, err = protojson.Marshal(set)
	add("image.json", b, err)
	add("unnamed", b, err)
	var document any
	if err := json.Unmarshal(b, &document); err != nil {
		t.Fatal(err)
	}
	b, err = yaml.Marshal(document)
	add("image.yaml", b, err)
	return forms
}

// TestRegistryPushImageForms takes one image in all forms. The option that its own files define must come through each.
func TestRegistryPushImageForms(t *testing.T) {
	s := newRegistryShell(t)
	forms := imageForms(t, imageWithOption(t))
	dir := write(t, forms)
	for name := range forms {
		context := strings.NewReplacer(".", "-").Replace(name)
		rows := decode[[]pushedFile](t, s.ok("", "registry", "push", filepath.Join(dir, name), "-y", "-o", "json", "--context", context))
		if len(rows) != 2 || rows[1].Status != pushRegistered {
			t.Errorf("%s: %+v", name, rows)
		}
		if got := s.ok("", "registry", "schema", "get", ":."+context+":top.proto"); !strings.Contains(got, `(o.note) = "kept"`) {
			t.Errorf("%s: %s", name, got)
		}
	}
	s.ok(forms["image.json"], "registry", "push", "-", "-y", "--context", "stdin")
	s.ok(forms["image.binpb.zst"], "registry", "push", "-", "-y", "--context", "stdin2")
	bad := write(t, map[string]string{
		"cut.json": forms["image.json"][:100], "empty.json": "{}", "list.yaml": "- a\n", "cut.gz": forms["image.gz"][:20], "cut.zst": forms["image.zst"][:20],
		"text.txtpb": "file {", "dangling.json": `{"file":[{"name":"a.proto","dependency":["b.proto"]}]}`,
	})
	for _, name := range []string{"cut.json", "empty.json", "list.yaml", "cut.gz", "cut.zst", "text.txtpb", "dangling.json"} {
		s.fails(exit.Failed, name, "", "registry", "push", filepath.Join(bad, name), "-y")
	}
}

// TestImageThatExpands is refused before it fills the memory.
func TestImageThatExpands(t *testing.T) {
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	zeros := make([]byte, 1<<20)
	for range maxImageBytes>>20 + 1 {
		if _, err := z.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := parseImage("bomb.binpb.gz", gz.Bytes()); err == nil || !strings.Contains(err.Error(), "expands to more than") {
		t.Error(err)
	}
}
