package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"moldau/cmd/moldau/internal/exit"
	"moldau/registry/registrytest"
)

// registryShell runs command lines against one registry.
type registryShell struct {
	*shell
	url string
}

func newRegistryShell(t *testing.T) *registryShell {
	t.Helper()
	r := &registryShell{&shell{t: t}, registrytest.Start(t).URL}
	t.Setenv("MOLDAU_REGISTRY", r.url)
	return r
}

// fails runs a command line that must fail with a code and say something.
func (s *registryShell) fails(code int, says, stdin string, args ...string) {
	s.t.Helper()
	if r := s.run(stdin, args...); r.code != code || !strings.Contains(r.err, says) {
		s.t.Errorf("moldau %s: exit code %d, %s%s; want %d and %q", strings.Join(args, " "), r.code, r.out, r.err, code, says)
	}
}

// write writes files below a new directory and answers it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	hitV1 = `{"type":"record","name":"Hit","fields":[{"name":"path","type":"string"}]}`
	hitV2 = `{"type":"record","name":"Hit","fields":[{"name":"path","type":"string"},{"name":"status","type":["null","int"],"default":null}]}`
	hitV3 = `{"type":"record","name":"Hit","fields":[{"name":"path","type":"int"}]}`
)

func TestRegistrySchemas(t *testing.T) {
	s := newRegistryShell(t)
	dir := write(t, map[string]string{"v1.avsc": hitV1, "v2.avsc": hitV2, "v3.avsc": hitV3, "text": hitV1})
	file := func(name string) string { return filepath.Join(dir, name) }
	const subject = "web/hits-value"
	s.fails(exit.NotFound, "moldau registry subject list", "", "registry", "schema", "get", subject)
	s.fails(exit.Usage, "does not tell the format", "", "registry", "schema", "create", subject, "--schema-file", file("text"))
	if r := s.run("", "registry", "schema", "create", subject, "--schema-file", file("v1.avsc"), "--dry-run"); r.code != exit.OK || !strings.Contains(r.err, "would be registered") {
		t.Errorf("%+v", r)
	}
	if got := s.ok(hitV1, "registry", "schema", "create", subject, "--schema-file", "-", "--type", "avro"); got != subject+"@1: id 1\n" {
		t.Error(got)
	}
	p := decode[place](t, s.ok("", "registry", "schema", "create", subject, "--schema-file", file("v2.avsc"), "-o", "json"))
	if p.Subject != subject || p.Version != 2 || p.ID != 2 {
		t.Errorf("%+v", p)
	}
	if r := s.run("", "registry", "schema", "create", subject, "--schema-file", file("v2.avsc"), "--dry-run"); !strings.Contains(r.err, "@2 has it already") {
		t.Errorf("%+v", r)
	}
	s.fails(exit.Failed, "TYPE_MISMATCH", "", "registry", "schema", "create", subject, "--schema-file", file("v3.avsc"), "--dry-run")
	s.fails(exit.Failed, "incompatible", "", "registry", "schema", "create", subject, "--schema-file", file("v3.avsc"))
	s.fails(exit.Failed, "TYPE_MISMATCH", "", "registry", "compat", "check", subject, "--schema-file", file("v3.avsc"))
	if got := s.ok("", "registry", "compat", "check", subject, "--schema-file", file("v1.avsc"), "--version", "1"); got != "compatible\n" {
		t.Error(got)
	}
	if got := s.ok("", "registry", "schema", "lookup", subject, "--schema-file", file("v1.avsc")); got != subject+"@1: id 1\n" {
		t.Error(got)
	}
	s.fails(exit.NotFound, "Schema not found", "", "registry", "schema", "lookup", subject, "--schema-file", file("v3.avsc"))
	for _, args := range [][]string{{subject + "@1"}, {"--id", "1"}} {
		if got := s.ok("", append([]string{"registry", "schema", "get"}, args...)...); got != hitV1+"\n" {
			t.Error(got)
		}
	}
	got := decode[registered](t, s.ok("", "registry", "schema", "get", subject, "-o", "json"))
	if got.Version != 2 || got.Schema != hitV2 || got.SchemaType != "AVRO" || got.GUID == "" {
		t.Errorf("%+v", got)
	}
	if byGUID := s.ok("", "registry", "schema", "get", "--guid", got.GUID); byGUID != hitV2+"\n" {
		t.Error(byGUID)
	}
	s.fails(exit.Usage, "want one of", "", "registry", "schema", "get", subject, "--id", "1")
	if got := s.ok("", "registry", "schema", "list", "-o", "name"); got != subject+"@1\n"+subject+"@2\n" {
		t.Error(got)
	}
	if rows := decode[[]schemaRow](t, s.ok("", "registry", "schema", "list", "web", "--latest", "-o", "json")); len(rows) != 1 || rows[0].Version != 2 || rows[0].Type != "AVRO" {
		t.Errorf("%+v", rows)
	}
	d := s.run("", "registry", "schema", "diff", subject+"@1", subject+"@2")
	if d.code != exit.Failed || !strings.Contains(d.out, "+      \"name\": \"status\"") || !strings.Contains(d.out, "--- "+subject+"@1\n+++ ") {
		t.Errorf("%+v", d)
	}
	if got := s.ok("", "registry", "schema", "diff", subject, "--schema-file", file("v2.avsc")); got != "" {
		t.Error(got)
	}
	if got := s.ok("", "registry", "subject", "get", subject); !strings.Contains(got, "versions       1 2\n") || !strings.Contains(got, "compatibility  BACKWARD\n") || !strings.Contains(got, "mode           READWRITE\n") {
		t.Error(got)
	}
	if got := s.ok("", "__complete", "registry", "schema", "get", "we"); !strings.HasPrefix(got, subject+"\n") {
		t.Error(got)
	}
	s.deletes(subject)
}

func (s *registryShell) deletes(subject string) {
	s.t.Helper()
	s.fails(exit.Usage, "SUBJECT@VERSION", "", "registry", "schema", "delete", subject, "-y")
	s.fails(exit.Usage, "nobody answered", "", "registry", "schema", "delete", subject+"@1")
	s.ok("", "registry", "schema", "delete", subject+"@1", "--permanent", "-y")
	s.fails(exit.NotFound, "Version 1 not found", "", "registry", "schema", "get", subject+"@1", "--deleted")
	s.ok("", "registry", "subject", "delete", subject, "-y")
	if got := s.ok("", "registry", "subject", "list", "-o", "name"); got != "" {
		s.t.Error(got)
	}
	if rows := decode[[]subjectRow](s.t, s.ok("", "registry", "subject", "list", "--deleted", "-o", "json")); len(rows) != 1 || !rows[0].Deleted {
		s.t.Errorf("%+v", rows)
	}
	s.ok("", "registry", "subject", "delete", subject, "--permanent", "-y")
	s.fails(exit.NotFound, "not found", "", "registry", "subject", "delete", subject, "-y")
}

func TestRegistrySettings(t *testing.T) {
	s := newRegistryShell(t)
	s.ok("", "registry", "compat", "set", "full", "s", "-y")
	if got := s.ok("", "registry", "compat", "get", "s") + s.ok("", "registry", "compat", "get"); got != "FULL\nBACKWARD\n" {
		t.Error(got)
	}
	if c := decode[map[string]any](t, s.ok("", "registry", "compat", "get", "s", "-o", "json")); c["compatibilityLevel"] != "FULL" {
		t.Error(c)
	}
	s.ok("", "registry", "compat", "set", "DEFAULT", "s", "-y")
	s.ok("", "registry", "compat", "set", "NONE", "-y")
	if got := s.ok("", "registry", "compat", "get", "s"); got != "NONE\n" {
		t.Error(got)
	}
	s.fails(exit.Usage, "none of the levels", "", "registry", "compat", "set", "SOME")
	s.ok("", "registry", "mode", "set", "readonly", "s", "-y")
	if got := s.ok("", "registry", "mode", "get", "s"); got != "READONLY\n" {
		t.Error(got)
	}
	s.fails(exit.Failed, "read-only", hitV1, "registry", "schema", "create", "s", "--schema-file", "-", "--type", "avro")
	s.ok("", "registry", "mode", "set", "DEFAULT", "s", "-y")
	s.fails(exit.Usage, "none of the modes", "", "registry", "mode", "set", "OFF")
	s.fails(exit.Unhealthy, "not available", "", "registry", "subject", "list", "--registry", "127.0.0.1:1")
	s.fails(exit.Usage, "want an address", "", "registry", "subject", "list", "--registry", "ftp://x")
	s.fails(exit.Usage, "both a token and a user", "", "registry", "subject", "list", "--registry-user", "u:p", "--registry-token", "t")
}

// What the flags say about the user arrives, and a refusal has its exit code.
func TestRegistryAuthentication(t *testing.T) {
	var got []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error_code":40101,"message":"who are you?"}`)
	}))
	defer srv.Close()
	s := &registryShell{&shell{t: t}, srv.URL}
	s.fails(exit.Denied, "who are you?", "", "registry", "subject", "list", "--registry", srv.URL, "--registry-user", "a:b:c")
	t.Setenv("MOLDAU_REGISTRY_TOKEN", "secret")
	s.fails(exit.Denied, "--registry-user", "", "registry", "subject", "list", "--registry", srv.URL)
	if len(got) != 2 || got[0] != "Basic YTpiOmM=" || got[1] != "Bearer secret" {
		t.Errorf("%q", got)
	}
}

func TestRegistryEncodeDecode(t *testing.T) {
	s := newRegistryShell(t)
	dir := write(t, map[string]string{"hit.avsc": hitV2, "order.proto": `syntax = "proto3"; package shop; message Head {} message Order { string id = 1; }`})
	hit := filepath.Join(dir, "hit.avsc")
	s.fails(exit.Usage, "want --schema", "", "registry", "encode")
	s.fails(exit.NotFound, "hits-value", "", "registry", "encode", "--schema", "hits-value")
	s.fails(exit.Usage, "--register needs", "", "registry", "encode", "--schema", "hits-value", "--register")
	if got := s.ok(`{"path":"/"} {"path":"","status":1}`, "registry", "encode", "--schema-file", hit, "--schema", "hits-value", "--register", "--form", "hex"); got != "0000000001022f00\n0000000001000202\n" {
		t.Error(got)
	}
	s.fails(exit.Failed, "value 2: the value does not fit the schema: /path: want string, not true", `{"path":"/"} {"path":true}`, "registry", "encode", "--schema", "1")
	payloads := s.ok(`{"path":"/a"}`, "registry", "encode", "--schema", "hits-value@1")
	if got := s.ok(payloads, "registry", "decode"); got != `{"path":"/a","status":null}`+"\n" {
		t.Error(got)
	}
	rows := decode[[]decodedRow](t, s.ok("0000000001022f0202\n", "registry", "decode", "--form", "hex", "-o", "json"))
	if len(rows) != 1 || rows[0].ID != 1 || rows[0].Type != "AVRO" || compact(t, rows[0].Value) != `{"path":"/","status":{"int":1}}` {
		t.Errorf("%+v", rows)
	}
	s.fails(exit.Failed, "payload 1", "zz\n", "registry", "decode", "--form", "hex")
	s.fails(exit.NotFound, "id 99", "0000000063\n", "registry", "decode", "--form", "hex")
	raw := s.ok(`{"id":"x"}`, "registry", "encode", "--schema-file", filepath.Join(dir, "order.proto"), "--subject-strategy", "record", "--register", "--message", "shop.Order", "--form", "raw")
	if raw != "\x00\x00\x00\x00\x02\x02\x02\x0a\x01x" {
		t.Errorf("%q", raw)
	}
	if got := s.ok(raw, "registry", "decode", "--form", "raw"); got != `{"id":"x"}`+"\n" {
		t.Error(got)
	}
	if got := s.ok("", "registry", "subject", "list", "-o", "name"); got != "hits-value\nshop.Order\n" {
		t.Error(got)
	}
}

func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var shop = map[string]string{
	"shop/v1/order.proto":    "syntax = \"proto3\";\npackage shop.v1;\n\nimport \"google/protobuf/timestamp.proto\";\nimport \"shop/v1/money.proto\";\n\nmessage Order {\n  Money price = 1;\n  google.protobuf.Timestamp at = 2;\n}\n",
	"shop/v1/money.proto":    "syntax = \"proto3\";\npackage shop.v1;\n\nimport \"shop/v1/currency.proto\";\n\nmessage Money {\n  Currency currency = 1;\n}\n",
	"shop/v1/currency.proto": "syntax = \"proto3\";\npackage shop.v1;\n\nenum Currency {\n  NONE = 0;\n}\n",
	"README.md":              "not a schema",
}

func TestRegistryPush(t *testing.T) {
	s := newRegistryShell(t)
	dir := write(t, shop)
	order := []string{"registry", "push", dir, "--subject", "shop/v1/order.proto=orders-value"}
	if r := s.run("", append(order, "--dry-run")...); r.code != exit.OK || strings.Count(r.err, "register shop/v1/") != 3 {
		t.Errorf("%+v", r)
	}
	rows := decode[[]pushedFile](t, s.ok("", append(order, "-y", "-o", "json")...))
	if len(rows) != 3 || rows[0].Subject != "shop/v1/currency.proto" || rows[2].Subject != "orders-value" || rows[2].ID != 3 || rows[2].Status != pushRegistered {
		t.Errorf("%+v", rows)
	}
	got := decode[registered](t, s.ok("", "registry", "schema", "get", "orders-value", "-o", "json"))
	if len(got.References) != 1 || got.References[0].Subject != "shop/v1/money.proto" || got.References[0].Version != 1 {
		t.Errorf("%+v", got)
	}
	for _, row := range decode[[]pushedFile](t, s.ok("", append(order, "-o", "json")...)) {
		if row.Status != pushUnchanged || row.Version != 1 {
			t.Errorf("again: %+v", row)
		}
	}
	broken := strings.Replace(shop["shop/v1/money.proto"], "Currency currency", "string currency", 1)
	if err := os.WriteFile(filepath.Join(dir, "shop/v1/money.proto"), []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	s.fails(exit.Failed, "nothing was registered", "", append(order, "-y")...)
	s.fails(exit.Usage, "there is no such file", "", "registry", "push", dir, "--subject", "x.proto=x")
	s.fails(exit.Usage, "no .proto files", "", "registry", "push", t.TempDir())
	circle := write(t, map[string]string{"a.proto": `syntax="proto3"; import "b.proto";`, "b.proto": `syntax="proto3"; import "a.proto";`})
	s.fails(exit.Failed, "a.proto -> b.proto -> a.proto", "", "registry", "push", circle)
}

// An image holds descriptors, which become the same schemas as the texts.
func TestRegistryPushImage(t *testing.T) {
	s := newRegistryShell(t)
	message := &descriptorpb.DescriptorProto{Name: proto.String("Event"), Field: []*descriptorpb.FieldDescriptorProto{{
		Name: proto.String("sent_at"), Number: proto.Int32(1), JsonName: proto.String("sentAt"), TypeName: proto.String(".google.protobuf.Timestamp"),
		Type: descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
	}}}
	set := &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{
		protodesc.ToFileDescriptorProto(timestamppb.File_google_protobuf_timestamp_proto),
		{Name: proto.String("base.proto"), Syntax: proto.String("proto3"), Dependency: []string{"google/protobuf/timestamp.proto"}, MessageType: []*descriptorpb.DescriptorProto{message}},
		{Name: proto.String("top.proto"), Syntax: proto.String("proto3"), Dependency: []string{"base.proto"}, PublicDependency: []int32{0}},
	}}
	set.File[1].ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 8042, protowire.BytesType), nil)) // as buf does
	binary, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	dir := write(t, map[string]string{"image.binpb": string(binary), "damaged": "\xff"})
	rows := decode[[]pushedFile](t, s.ok("", "registry", "push", filepath.Join(dir, "image.binpb"), "-y", "-o", "json", "--context", "ci"))
	if len(rows) != 2 || rows[0].Subject != ":.ci:base.proto" || rows[1].Status != pushRegistered {
		t.Errorf("%+v", rows)
	}
	if got := s.ok("", "registry", "schema", "get", ":.ci:base.proto"); !strings.Contains(got, "message Event {") || !strings.Contains(got, ".google.protobuf.Timestamp sent_at = 1;") {
		t.Error(got)
	}
	for _, row := range decode[[]pushedFile](t, s.ok("", "registry", "push", filepath.Join(dir, "image.binpb"), "-o", "json", "--context", "ci")) {
		if row.Status != pushUnchanged {
			t.Errorf("%+v", row)
		}
	}
	s.fails(exit.Failed, "is no image", "", "registry", "push", filepath.Join(dir, "damaged"))
}

func TestDiffLines(t *testing.T) {
	for _, tt := range []struct{ a, b, want string }{
		{"a b c", "a b c", " a  b  c"},
		{"a b c", "a x c", " a -b +x  c"},
		{"", "a", "-  +a"},
		{"a b c d", "b d e", "-a  b -c  d +e"},
		{"a a b", "a b b", " a -a  b +b"},
	} {
		var got []string
		for _, l := range diffLines(strings.Split(tt.a, " "), strings.Split(tt.b, " ")) {
			got = append(got, l.Mark+l.Text)
		}
		old, new := "", ""
		for _, l := range got {
			if l[0] != '+' {
				old += " " + l[1:]
			}
			if l[0] != '-' {
				new += " " + l[1:]
			}
		}
		if strings.TrimPrefix(old, " ") != tt.a || strings.TrimPrefix(new, " ") != tt.b {
			t.Errorf("%q and %q: %q", tt.a, tt.b, got)
		}
	}
}
