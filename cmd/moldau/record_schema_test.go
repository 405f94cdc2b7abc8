package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"moldau/cmd/moldau/internal/exit"
	"moldau/registry/registrytest"
)

func TestProduceAndConsumeBySchema(t *testing.T) {
	s := newShell(t)
	t.Setenv("MOLDAU_REGISTRY", registrytest.Start(t).URL)
	dir := write(t, map[string]string{"hit.avsc": hitV2, "key.avsc": `"string"`})
	hit, key := filepath.Join(dir, "hit.avsc"), filepath.Join(dir, "key.avsc")
	if r := s.run("{}\n", "topic", "produce", "seeded", "--encode", "value"); r.code != exit.NotFound || !strings.Contains(r.err, "seeded-value") {
		t.Errorf("no schema: %+v", r)
	}
	s.ok(`"a" {"path":"/1","status":7}`+"\n"+`"b" {"path":"/2"}`+"\n", "topic", "produce", "seeded", "-p", "0", "-f", `%k %v\n`,
		"--schema-file", hit, "--key-schema-file", key, "--register")
	s.ok(`{"path":"/3"}`+"\n\n", "topic", "produce", "seeded", "-p", "0", "--encode", "value", "-Z", "--schema-header")
	s.ok("plain\n", "topic", "produce", "seeded", "-p", "0")
	if r := s.run(`{"path":"/4"}`+"\n"+`{"paths":1}`+"\n", "topic", "produce", "seeded", "-p", "1", "--schema", "seeded-value@1"); r.code != exit.Failed || !strings.Contains(r.err, "record 2 of the input: the value: the value does not fit the schema: the value: record Hit needs the field path") {
		t.Errorf("a wrong one: %+v", r)
	}
	r := s.run("", "topic", "consume", "seeded", "-p", "0", "--decode", "key,value", "-f", "json")
	if r.code != exit.Failed || !strings.Contains(r.err, "offset 4: the value: the bytes name no schema") || !strings.Contains(r.err, "1 keys or values could not be decoded") {
		t.Errorf("%+v", r)
	}
	type record struct {
		Key, Value  json.RawMessage
		ValueSchema *schemaName `json:"value_schema"`
		ValueError  string      `json:"value_decode_error"`
	}
	var got []record
	for line := range strings.Lines(r.out) {
		got = append(got, decode[record](t, line))
	}
	for i, want := range []string{`"a" {"path":"/1","status":{"int":7}}`, `"b" {"path":"/2","status":null}`, `null {"path":"/3","status":null}`, `null null`, `null "plain"`} {
		if have := string(got[i].Key) + " " + string(got[i].Value); have != want {
			t.Errorf("record %d: %s, want %s", i, have, want)
		}
	}
	if n := got[0].ValueSchema; n == nil || n.Type != "AVRO" || n.ID == 0 || got[2].ValueSchema.GUID == "" || got[4].ValueError == "" {
		t.Errorf("%+v", got)
	}
	if text := s.ok("", "topic", "consume", "seeded", "-p", "0", "-o", "0:3", "--decode", "value", "-f", `%v\n`); text != `{"path":"/1","status":{"int":7}}`+"\n"+`{"path":"/2","status":null}`+"\n"+`{"path":"/3","status":null}`+"\n" {
		t.Error(text)
	}
	for _, args := range [][]string{
		{"topic", "produce", "seeded", "--encode", "values"},
		{"topic", "consume", "seeded", "--decode", "both"},
		{"topic", "produce", "seeded", "--schema", "1", "--schema-file", hit},
		{"topic", "produce", "seeded", "--encode", "value", "--register"},
		{"topic", "produce", "seeded", "--encode", "value", "--subject-strategy", "file"},
	} {
		if r := s.run("", args...); r.code != exit.Usage {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// A file for one of key and value is registered while the other has the latest schema of its subject.
func TestProduceRegistersOneOfTwo(t *testing.T) {
	s := newShell(t)
	t.Setenv("MOLDAU_REGISTRY", registrytest.Start(t).URL)
	dir := write(t, map[string]string{"hit.avsc": hitV2, "key.avsc": `"string"`})
	hit, key := filepath.Join(dir, "hit.avsc"), filepath.Join(dir, "key.avsc")
	s.ok(`"a" {"path":"/1"}`+"\n", "topic", "produce", "seeded", "-f", `%k %v\n`, "--schema-file", hit, "--key-schema-file", key, "--register")
	s.ok(`"b" {"path":"/2"}`+"\n", "topic", "produce", "seeded", "-f", `%k %v\n`, "--schema-file", hit, "--encode", "key", "--register")
	if r := s.run("{}\n", "topic", "produce", "seeded", "--encode", "value", "--register"); r.code != exit.Usage || !strings.Contains(r.err, "--register needs --schema-file") {
		t.Errorf("nothing to register: %+v", r)
	}
}
