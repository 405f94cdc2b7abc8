//go:build interop

package interop

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"moldau/registry/registrytest"
	"moldau/registry/serde"
)

// payloadCase is a value that is written by one side and read by the other.
type payloadCase struct {
	name, kind, schema, message string
	ours                        string // the value as our JSON has it
	theirs                      any    // the value as theirs takes it
	read                        any    // the value as theirs reads it; nil for theirs
	back                        string // what we read of what they wrote; empty for ours
	theyOnlyRead                bool   // what they write is not the wire format
}

const avroAll = `{"type":"record","name":"All","namespace":"n","fields":[
 {"name":"b","type":"boolean"},{"name":"i","type":"int"},{"name":"l","type":"long"},{"name":"f","type":"float"},{"name":"d","type":"double"},
 {"name":"s","type":"string"},{"name":"y","type":"bytes"},{"name":"x","type":{"type":"fixed","name":"Two","size":2}},
 {"name":"e","type":{"type":"enum","name":"E","symbols":["P","Q"]}},{"name":"a","type":{"type":"array","items":"int"}},
 {"name":"m","type":{"type":"map","values":"long"}},{"name":"u","type":["null","string","long"]},
 {"name":"next","type":["null",{"type":"record","name":"Leaf","fields":[{"name":"n","type":"int","default":5}]}],"default":null}]}`

var payloadCases = []payloadCase{
	{
		name: "avro", kind: "AVRO", schema: avroAll,
		ours: `{"b":true,"i":-7,"l":9007199254740993,"f":1.5,"d":0.1,"s":"grüße","y":"\u00ff\u0000","x":"ab","e":"Q","a":[1,2,3],"m":{"k":1},"u":{"long":4},"next":{"n.Leaf":{"n":9}}}`,
		theirs: map[string]any{
			"b": true, "i": -7, "l": 9007199254740993, "f": 1.5, "d": 0.1, "s": "grüße", "y": map[string]any{"$bytes": "\u00ff\u0000"},
			"x": map[string]any{"$bytes": "ab"}, "e": "Q", "a": []any{1, 2, 3}, "m": map[string]any{"k": 1}, "u": 4, "next": map[string]any{"n": 9},
		},
		read: map[string]any{
			"b": true, "i": -7, "l": 9007199254740993, "f": 1.5, "d": 0.1, "s": "grüße", "y": "\u00ff\u0000", "x": "ab", "e": "Q",
			"a": []any{1, 2, 3}, "m": map[string]any{"k": 1}, "u": 4, "next": map[string]any{"n": 9},
		},
	},
	{
		name: "avro plain unions", kind: "AVRO", schema: avroAll,
		ours: `{"b":false,"i":0,"l":0,"f":0,"d":0,"s":"","y":"","x":"ab","e":"P","a":[],"m":{},"u":"text","next":{}}`,
		theirs: map[string]any{
			"b": false, "i": 0, "l": 0, "f": 0, "d": 0, "s": "", "y": map[string]any{"$bytes": ""}, "x": map[string]any{"$bytes": "ab"}, "e": "P",
			"a": []any{}, "m": map[string]any{}, "u": "text", "next": map[string]any{"n": 5},
		},
		read: map[string]any{
			"b": false, "i": 0, "l": 0, "f": 0, "d": 0, "s": "", "y": "", "x": "ab", "e": "P", "a": []any{}, "m": map[string]any{}, "u": "text",
			"next": map[string]any{"n": 5},
		},
		back: `{"b":false,"i":0,"l":0,"f":0,"d":0,"s":"","y":"","x":"ab","e":"P","a":[],"m":{},"u":{"string":"text"},"next":{"n.Leaf":{"n":5}}}`,
	},
	{
		name: "protobuf", kind: "PROTOBUF", message: "shop.Order",
		schema: `syntax = "proto3"; package shop; import "google/protobuf/timestamp.proto"; message Head {} message Order { string id = 1; int64 units = 2; google.protobuf.Timestamp at = 3; }`,
		ours:   `{"id":"ä","units":"9007199254740993","at":"2026-01-02T03:04:05.678Z"}`,
		theirs: map[string]any{"id": "ä", "units": "9007199254740993", "at": "2026-01-02T03:04:05.678Z"},
	},
	{
		name: "json", kind: "JSON",
		schema: `{"$schema":"http://json-schema.org/draft-07/schema#","title":"User","type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name"]}`,
		ours:   `{"name":"ü","age":7}`, theirs: map[string]any{"name": "ü", "age": 7},
	},
}

// TestSerializers writes with confluent-kafka's serializers and reads with our package serde, and the other way round, with
// the schema in front of the payload and in a header.
func TestSerializers(t *testing.T) {
	url := registrytest.Start(t).URL
	s, err := serde.New(serde.Config{URLs: []string{url}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ask := startSerializers(t, pythonSerializers(t), url)
	for _, c := range payloadCases {
		for form, inHeader := range map[string]bool{"prefix": false, "header": true} {
			t.Run(c.name+" "+form, func(t *testing.T) { c.run(t, s, ask, inHeader) })
		}
		if c.kind == "AVRO" {
			t.Run(c.name+" encoding", func(t *testing.T) { c.encoding(t, s, ask) })
		}
	}
}

// nodeCases are values that JavaScript can hold.
var nodeCases = []payloadCase{
	{
		name: "avro", kind: "AVRO",
		schema: `{"type":"record","name":"Hit","namespace":"web","fields":[{"name":"path","type":"string"},{"name":"status","type":["null","int"],"default":null},{"name":"tags","type":{"type":"array","items":"string"}},{"name":"d","type":"double"}]}`,
		ours:   `{"path":"/ü","status":{"int":404},"tags":["a","b"],"d":0.1}`,
		theirs: map[string]any{"path": "/ü", "status": 404, "tags": []any{"a", "b"}, "d": 0.1},
	},
	{
		name: "protobuf", kind: "PROTOBUF", message: "shop.Order",
		schema: `syntax = "proto3"; package shop; message Order { string id = 1; int32 units = 2; repeated string tags = 3; }`,
		ours:   `{"id":"ä","units":7,"tags":["x"]}`, theirs: map[string]any{"id": "ä", "units": 7, "tags": []any{"x"}},
		theyOnlyRead: true, // they leave out the path of the message, which no other deserializer takes
	},
	{
		name: "json", kind: "JSON",
		schema: `{"$schema":"http://json-schema.org/draft-07/schema#","title":"User","type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name"]}`,
		ours:   `{"name":"ü","age":7}`, theirs: map[string]any{"name": "ü", "age": 7},
	},
}

// TestNodeSerializers does so with those of @kafkajs/confluent-schema-registry.
func TestNodeSerializers(t *testing.T) {
	url := registrytest.Start(t).URL
	s, err := serde.New(serde.Config{URLs: []string{url}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ask := startSerializers(t, nodeSerializers(t), url)
	for _, c := range nodeCases {
		t.Run(c.name, func(t *testing.T) { c.run(t, s, ask, false) })
	}
}

func (c *payloadCase) run(t *testing.T, s *serde.Serde, ask func(q, into any), inHeader bool) {
	topic := "t-" + c.kind
	encoder, err := s.Encoder(t.Context(), serde.Ref{
		Topic: topic, Text: c.schema, Type: c.kind, Register: true, Message: c.message, InHeader: inHeader,
	})
	if err != nil {
		t.Fatal(err)
	}
	payload, err := encoder.Append(nil, []byte(c.ours))
	if err != nil {
		t.Fatal(err)
	}
	request := map[string]any{
		"op": "deserialize", "type": c.kind, "topic": topic, "schema": c.schema,
		"payload": hex.EncodeToString(payload), "header": hex.EncodeToString(encoder.Header()),
	}
	var read struct{ Value json.RawMessage }
	ask(request, &read)
	want := c.read
	if want == nil {
		want = c.theirs
	}
	if !reflect.DeepEqual(exact(t, read.Value), exact(t, marshal(t, want))) {
		t.Errorf("they read %s, want %s", read.Value, marshal(t, want))
	}

	if c.theyOnlyRead {
		return
	}
	var written struct{ Payload, Header string }
	ask(map[string]any{"op": "serialize", "type": c.kind, "topic": topic, "schema": c.schema, "value": c.theirs, "header": inHeader}, &written)
	raw, header := unhex(t, written.Payload), unhex(t, written.Header)
	if inHeader == (len(header) == 0) {
		t.Errorf("their header is %x", header)
	}
	decoded, err := s.Decode(t.Context(), "", raw, header)
	if err != nil {
		t.Fatalf("%x, %x: %v", raw, header, err)
	}
	back := c.back
	if back == "" {
		back = c.ours
	}
	if !reflect.DeepEqual(exact(t, decoded.JSON), exact(t, []byte(back))) {
		t.Errorf("we read %s, want %s", decoded.JSON, back)
	}
	if c.kind == "AVRO" && !bytes.Equal(payload, raw) {
		t.Errorf("we wrote %x, they %x", payload, raw)
	}
}

// encoding compares our JSON with Avro's JSON encoding as fastavro has it.
func (c *payloadCase) encoding(t *testing.T, s *serde.Serde, ask func(q, into any)) {
	encoder, err := s.Encoder(t.Context(), serde.Ref{Topic: "t-" + c.kind, Text: c.schema})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := encoder.Append(nil, []byte(c.ours))
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := s.Decode(t.Context(), "", raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	var encoded struct{ JSON string }
	ask(map[string]any{"op": "json", "schema": c.schema, "value": c.theirs}, &encoded)
	if !reflect.DeepEqual(exact(t, []byte(encoded.JSON)), exact(t, decoded.JSON)) {
		t.Errorf("we have the JSON %s, they %s", decoded.JSON, encoded.JSON)
	}
	if again, err := encoder.Append(nil, []byte(encoded.JSON)); err != nil || !bytes.Equal(again, raw) {
		t.Errorf("of their JSON we made %x, %v, want %x", again, err, raw)
	}
}

// pythonSerializers installs confluent-kafka with what its serializers need and answers the command that runs them.
func pythonSerializers(t *testing.T) []string {
	t.Helper()
	venv := filepath.Join(cache(t), "python-serde")
	bin := filepath.Join(venv, "bin", "python")
	if _, err := os.Stat(bin); err != nil {
		run(t, "", "python3", "-m", "venv", venv)
	}
	run(t, "", bin, "-m", "pip", "install", "-q", "-r", source(t, "python", "serde-requirements.txt"))
	return []string{bin, source(t, "python", "serde.py")}
}

func nodeSerializers(t *testing.T) []string {
	t.Helper()
	dir := filepath.Join(cache(t), "node-serde")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "serde.mjs"} {
		copyFile(t, source(t, "node-serde", name), filepath.Join(dir, name))
	}
	run(t, dir, "npm", "install", "--no-audit", "--no-fund", "--silent")
	return []string{"node", filepath.Join(dir, "serde.mjs")}
}

// startSerializers starts the other side and returns what asks it.
func startSerializers(t *testing.T, command []string, url string) func(q, into any) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], url)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // what went wrong is told by the request that met it
	})
	answers := json.NewDecoder(out)
	return func(q, into any) {
		if _, err := in.Write(append(marshal(t, q), '\n')); err != nil {
			t.Fatalf("%v\n%s", err, errs.Bytes())
		}
		if err := answers.Decode(into); err != nil {
			_ = cmd.Wait()
			t.Fatalf("%v\n%s", err, errs.Bytes())
		}
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// exact reads JSON with every digit. Numbers are compared by value, so that 0 is 0.0.
func exact(t *testing.T, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return numbers(v)
}

func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64()
		if f == float64(int64(f)) {
			return int64(f)
		}
		return f
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	}
	return v
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	if text == "" {
		return nil
	}
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
