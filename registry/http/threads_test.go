package http

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Faults that users of other registries reported, each by the thread it was found in. Those about names, deletion, import
// and settings are beside what they are about.

const proto1 = ",\"schemaType\":\"PROTOBUF\""

// confluentinc/schema-registry#1512 (fixed by 1535): a change of an imported type was not noticed.
func TestThread1512ImportsAreCompared(t *testing.T) {
	e := newEnv(t)
	user := "syntax = \"proto3\";\npackage a;\nmessage User {\n  string name = 1;\n  int32 age = 2;\n}\n"
	changed := strings.Replace(user, "int32 age", "string age", 1)
	event := "syntax = \"proto3\";\npackage a;\nimport \"user.proto\";\nmessage Event {\n  User user = 1;\n}\n"
	refs := func(version string) string {
		return proto1 + `,"references":[{"name":"user.proto","subject":"user.proto","version":` + version + `}]`
	}
	e.want("POST", "/subjects/user.proto/versions", schema(user, proto1), 200, `{"id":1}`)
	e.want("PUT", "/config/user.proto", `{"compatibility":"NONE"}`, 200, `{"compatibility":"NONE"}`)
	e.want("POST", "/subjects/user.proto/versions", schema(changed, proto1), 200, `{"id":2}`)
	e.want("POST", "/subjects/event-value/versions", schema(event, refs("1")), 200, `{"id":3}`)
	e.want("POST", "/subjects/event-value/versions", schema(event, refs("2")), 409, `{"error_code":40901...`)
}

// confluentinc#1644: an unrelated message was registered over another one.
func TestThread1644MessageRemoved(t *testing.T) {
	e := newEnv(t)
	e.want("POST", "/subjects/s/versions", schema("syntax = \"proto3\";\nmessage A {\n  string a = 1;\n}\n", proto1), 200, `{"id":1}`)
	status, body := e.do("POST", "/subjects/s/versions", schema("syntax = \"proto3\";\nmessage B {\n  string a = 1;\n}\n", proto1))
	if status != 409 || !strings.Contains(body, "MESSAGE_REMOVED") || !strings.HasPrefix(body, `{"error_code":40901`) {
		t.Errorf("%d %s", status, body)
	}
}

// confluentinc#1627: a oneof of imported types was answered 500.
func TestThread1627OneofOfImportedTypes(t *testing.T) {
	e := newEnv(t)
	for i, name := range []string{"a", "b"} {
		text := "syntax = \"proto3\";\npackage " + name + ";\nmessage M {\n  string v = 1;\n}\n"
		e.want("POST", "/subjects/"+name+".proto/versions", schema(text, proto1), 200, `{"id":`+string(rune('1'+i))+`}`)
	}
	either := "syntax = \"proto3\";\npackage c;\nimport \"a.proto\";\nimport \"b.proto\";\nmessage Either {\n  oneof value {\n    a.M a = 1;\n    b.M b = 2;\n  }\n}\n"
	refs := proto1 + `,"references":[{"name":"a.proto","subject":"a.proto","version":1},{"name":"b.proto","subject":"b.proto","version":1}]`
	e.want("POST", "/subjects/either-value/versions", schema(either, refs), 200, `{"id":3}`)
	e.want("POST", "/compatibility/subjects/either-value/versions/latest", schema(either, refs), 200, `{"is_compatible":true}`)
}

// confluentinc#1851: a schema that was registered as text was not found when it came as a descriptor.
func TestThread1851TextAndDescriptorAreTheSame(t *testing.T) {
	e := newEnv(t)
	text := "syntax = \"proto3\";\npackage a;\nmessage Outer {\n  Inner in = 1;\n  message Inner {\n    Deep deep = 1;\n    message Deep {\n      string v = 1;\n    }\n  }\n}\n"
	e.want("POST", "/subjects/s/versions", schema(text, proto1), 200, `{"id":1}`)
	_, serialized := e.do("GET", "/schemas/ids/1/schema?format=serialized", "")
	e.want("POST", "/subjects/s/versions", schema(serialized, proto1), 200, `{"id":1}`)
	e.want("POST", "/subjects/s", schema(serialized, proto1), 200, `{"subject":"s","version":1,"id":1...`)
	e.want("GET", "/subjects/s/versions", "", 200, `[1]`)
}

// confluentinc PR 2970: a field that moved into a oneof which exists was accepted.
func TestThread2970FieldIntoExistingOneof(t *testing.T) {
	e := newEnv(t)
	before := "syntax = \"proto3\";\nmessage M {\n  string a = 1;\n  oneof x {\n    string b = 2;\n  }\n}\n"
	after := "syntax = \"proto3\";\nmessage M {\n  oneof x {\n    string b = 2;\n    string a = 1;\n  }\n}\n"
	e.want("POST", "/subjects/s/versions", schema(before, proto1), 200, `{"id":1}`)
	e.want("POST", "/subjects/s/versions", schema(after, proto1), 409, `{"error_code":40901...`)
}

// confluentinc PR 4302 and Aiven-Open/karapace#626: a type that nothing declares was accepted.
func TestThread4302UnknownType(t *testing.T) {
	e := newEnv(t)
	e.want("POST", "/subjects/s/versions", schema("syntax = \"proto3\";\nmessage M {\n  Missing a = 1;\n}\n", proto1), 422, `{"error_code":42201...`)
	e.want("POST", "/subjects/s/versions", schema("syntax = \"proto3\";\nimport \"missing.proto\";\nmessage M {\n  string a = 1;\n}\n", proto1), 422, `{"error_code":42201...`)
}

// confluentinc#1438: the types that come with Protobuf need no reference.
func TestThread1438WellKnownTypes(t *testing.T) {
	e := newEnv(t)
	text := "syntax = \"proto3\";\nimport \"google/protobuf/any.proto\";\nimport \"google/protobuf/timestamp.proto\";\nmessage M {\n  google.protobuf.Any a = 1;\n  google.protobuf.Timestamp t = 2;\n}\n"
	e.want("POST", "/subjects/s/versions", schema(text, proto1), 200, `{"id":1}`)
}

// karapace#1060: format=serialized was ignored, on which Python's client depends. karapace#1319: a map that came as a
// descriptor lost its being one.
func TestThread1060SerializedForm(t *testing.T) {
	e := newEnv(t)
	text := "syntax = \"proto3\";\npackage a;\nmessage M {\n  map<string, int32> counts = 1;\n}\n"
	e.want("POST", "/subjects/s/versions", schema(text, proto1), 200, `{"id":1}`)
	var answer schemaJSON
	e.get("/schemas/ids/1?format=serialized", &answer)
	raw, err := base64.StdEncoding.DecodeString(answer.Schema)
	if err != nil || answer.SchemaType != "PROTOBUF" {
		t.Fatalf("%+v: %v", answer, err)
	}
	var fd descriptorpb.FileDescriptorProto
	if err := proto.Unmarshal(raw, &fd); err != nil {
		t.Fatal(err)
	}
	f, err := protodesc.NewFile(&fd, nil)
	if err != nil || !f.Messages().Get(0).Fields().Get(0).IsMap() {
		t.Fatalf("%v: %v", &fd, err)
	}
	e.want("POST", "/subjects/normal/versions?normalize=true", schema(answer.Schema, proto1), 200, `{"id":...`)
	if _, back := e.do("GET", "/subjects/normal/versions/1/schema", ""); !strings.Contains(back, "map<string, int32> counts = 1;") {
		t.Error(back)
	}
}

// redpanda-data/redpanda#30374: removing a map field was called incompatible.
func TestThread30374MapFieldRemoved(t *testing.T) {
	e := newEnv(t)
	e.want("POST", "/subjects/s/versions", schema("syntax = \"proto3\";\nmessage M {\n  string a = 1;\n  map<string, int32> m = 2;\n}\n", proto1), 200, `{"id":1}`)
	e.want("POST", "/subjects/s/versions", schema("syntax = \"proto3\";\nmessage M {\n  string a = 1;\n}\n", proto1), 200, `{"id":2}`)
}

// confluentinc#1458, #2121, #2927: what optional properties may do in JSON Schema surprises. The default is strict, as in
// Confluent's registry: an open object may not gain a property, a closed one may; the reason is told; LENIENT allows it.
func TestThread1458OptionalProperties(t *testing.T) {
	kind := `,"schemaType":"JSON"`
	open1 := `{"type":"object","properties":{"a":{"type":"string"}}}`
	open2 := `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`
	closed := func(s string) string {
		return strings.Replace(s, `{"type":"object"`, `{"type":"object","additionalProperties":false`, 1)
	}
	e := newEnv(t)
	e.want("POST", "/subjects/open/versions", schema(open1, kind), 200, `{"id":1}`)
	_, body := e.do("POST", "/compatibility/subjects/open/versions/latest?verbose=true", schema(open2, kind))
	var verdict struct {
		Compatible bool     `json:"is_compatible"`
		Messages   []string `json:"messages"`
	}
	if err := json.Unmarshal([]byte(body), &verdict); err != nil || verdict.Compatible || !strings.Contains(verdict.Messages[0], "PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL") {
		t.Errorf("%s: %v", body, err)
	}
	e.want("POST", "/subjects/closed/versions", schema(closed(open1), kind), 200, `{"id":2}`)
	e.want("POST", "/subjects/closed/versions", schema(closed(open2), kind), 200, `{"id":3}`)
	e.want("POST", "/subjects/closed/versions", schema(closed(open1), kind), 200, `{"id":2}`) // that is registered
	e.want("PUT", "/config/open", `{"compatibilityPolicy":"lenient"}`, 200, `{"compatibilityPolicy":"LENIENT"}`)
	e.want("POST", "/subjects/open/versions", schema(open2, kind), 200, `{"id":4}`)
	e.want("POST", "/subjects/other/versions", schema(open1, kind), 200, `{"id":1}`)
	e.want("POST", "/subjects/other/versions", schema(`"string"`), 409, `{"error_code":40901,"message":"Schema being registered is incompatible with an earlier schema for subject \"other\", details: [Incompatible because of different schema type, ...`)
}
