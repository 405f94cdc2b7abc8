package http

import (
	"strings"
	"testing"
)

func TestSubjectNames(t *testing.T) {
	e := newEnv(t)
	// redpanda-data/console#311 and redpanda-data/connect#2190: a slash in the name of a subject stays inside its segment.
	e.want("POST", "/subjects/a%2Fb/versions", schema(hit1), 200, `{"id":1}`)
	e.want("POST", "/subjects/..%2F..%2Fconfig/versions", schema(hit1), 200, `{"id":1}`)
	e.want("POST", "/subjects/a%20b%3F%25/versions", schema(hit1), 200, `{"id":1}`)
	e.want("GET", "/subjects", "", 200, `["../../config","a b?%","a/b"]`)
	e.want("GET", "/subjects/a%2Fb/versions", "", 200, `[1]`)
	e.want("GET", "/subjects/a%2fb/versions/1/schema", "", 200, hit1)
	e.want("GET", "/subjects/a/b/versions", "", 404, `{"error_code":404,"message":"HTTP 404 Not Found"}`)
	e.want("DELETE", "/subjects/a%2Fb", "", 200, `[1]`)
	e.want("POST", "/subjects/__GLOBAL/versions", schema(hit1), 422, `{"error_code":42208,"message":"The specified subject '__GLOBAL' is not a valid."}`)
	e.want("POST", "/subjects/a%0Ab/versions", schema(hit1), 422, `{"error_code":42208...`)
	e.want("POST", "/subjects/"+strings.Repeat("x", 5000)+"/versions", schema(hit1), 422, `{"error_code":42208...`)
}

func TestVersions(t *testing.T) {
	e := newEnv(t)
	e.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`)
	e.want("POST", "/subjects/s/versions", schema(hit2), 200, `{"id":2}`)
	full := `{"subject":"s","version":2,"id":2,"schema":` + quote(hit2) + `}`
	for _, v := range []string{"2", "latest", "LATEST", "-1"} { // Apicurio/apicurio-registry#2851: -1 means latest
		e.want("GET", "/subjects/s/versions/"+v, "", 200, full)
	}
	for _, v := range []string{"0", "-2", "x", "2147483648", "1.0", "%20"} {
		status, body := e.do("GET", "/subjects/s/versions/"+v, "")
		if status != 422 || !strings.HasPrefix(body, `{"error_code":42202,"message":"The specified version '`) ||
			!strings.HasSuffix(body, `' is not a valid version id. Allowed values are between [1, 2^31-1] and the string \"latest\""}`) {
			t.Errorf("version %q: %d %s", v, status, body)
		}
	}
	e.want("GET", "/subjects/s/versions/3", "", 404, `{"error_code":40402,"message":"Version 3 not found."}`)
	e.want("GET", "/subjects/none/versions/1", "", 404, `{"error_code":40401,"message":"Subject 'none' not found."}`) // Apicurio#3511
	e.want("GET", "/subjects/s/versions/1/schema", "", 200, hit1)
	e.want("GET", "/subjects/s/versions/1", "", 200,
		`{"subject":"s","version":1,"id":1,"guid":"...`, "Confluent-Accept-Unknown-Properties", "true")
}

func quote(text string) string {
	return strings.TrimSuffix(strings.TrimPrefix(schema(text), `{"schema":`), "}")
}

func TestLookup(t *testing.T) {
	e := newEnv(t)
	e.want("POST", "/subjects/s", schema(hit1), 404, `{"error_code":40401,"message":"Subject 's' not found."}`)
	e.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`)
	e.want("POST", "/subjects/s", schema(hit1), 200, `{"subject":"s","version":1,"id":1,"schema":`+quote(hit1)+`}`)
	// Apicurio#2226: another schema is not found, though the subject is.
	e.want("POST", "/subjects/s", schema(hit2), 404, `{"error_code":40403,"message":"Schema not found"}`)
	e.want("POST", "/subjects/s", schema(`{"type":"nope"}`), 422, `{"error_code":42201...`)
	e.want("DELETE", "/subjects/s", "", 200, `[1]`)
	e.want("POST", "/subjects/s", schema(hit1), 404, `{"error_code":40401...`)
	e.want("POST", "/subjects/s?deleted=true", schema(hit1), 200, `{"subject":"s","version":1,"id":1,"schema":`+quote(hit1)+`}`)
	e.want("POST", "/subjects/s?deleted=true", schema(hit2), 404, `{"error_code":40403...`)
}

// Aiven-Open/karapace#442: white space makes no new schema.
func TestWhiteSpaceMakesNoNewSchema(t *testing.T) {
	e := newEnv(t)
	e.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`)
	spaced := strings.ReplaceAll(strings.ReplaceAll(hit1, ",", " ,\n  "), ":", " : ")
	e.want("POST", "/subjects/s/versions", schema(spaced), 200, `{"id":1}`)
	e.want("GET", "/subjects/s/versions", "", 200, `[1]`)
}

func TestDelete(t *testing.T) {
	e := newEnv(t)
	e.want("DELETE", "/subjects/s", "", 404, `{"error_code":40401,"message":"Subject 's' not found."}`)
	e.want("DELETE", "/subjects/s/versions/1", "", 404, `{"error_code":40401,"message":"Subject 's' not found."}`)
	e.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`)
	e.want("POST", "/subjects/s/versions", schema(hit2), 200, `{"id":2}`)
	e.want("PUT", "/config/s", `{"compatibility":"NONE"}`, 200, `{"compatibility":"NONE"}`)
	e.want("PUT", "/mode/s", `{"mode":"READWRITE"}`, 200, `{"mode":"READWRITE"}`)
	e.want("DELETE", "/subjects/s/versions/9", "", 404, `{"error_code":40402,"message":"Version 9 not found."}`)
	e.want("DELETE", "/subjects/s?permanent=true", "", 404, `{"error_code":40405,"message":"Subject 's' was not deleted first before being permanently deleted"}`)
	e.want("DELETE", "/subjects/s/versions/latest", "", 200, `2`)
	e.want("DELETE", "/subjects/s/versions/2", "", 404, `{"error_code":40406,"message":"Subject 's' Version 2 was soft deleted.Set permanent=true to delete permanently"}`)
	e.want("GET", "/subjects/s/versions?deleted=true", "", 200, `[1,2]`)
	e.want("GET", "/subjects/s/versions?deletedOnly=true", "", 200, `[2]`)
	e.want("GET", "/subjects/s/versions?deletedAsNegative=true", "", 200, `[1,-2]`)
	e.want("GET", "/subjects/s/versions/2", "", 404, `{"error_code":40402,"message":"Version 2 not found."}`)
	e.want("GET", "/subjects/s/versions/2?deleted=true", "", 200, `{"subject":"s","version":2,"id":2...`)
	// Registering it again makes a new version with the old id, and the version that had it is gone.
	e.want("POST", "/subjects/s/versions", schema(hit2), 200, `{"id":2}`)
	e.want("GET", "/subjects/s/versions?deleted=true", "", 200, `[1,3]`)
	e.want("DELETE", "/subjects/s", "", 200, `[1,3]`)
	e.want("DELETE", "/subjects/s", "", 404, `{"error_code":40404,"message":"Subject 's' was soft deleted.Set permanent=true to delete permanently"}`)
	e.want("GET", "/subjects", "", 200, `[]`)
	e.want("GET", "/subjects?deleted=true", "", 200, `["s"]`)
	e.want("GET", "/subjects?deletedOnly=true", "", 200, `["s"]`)
	e.want("GET", "/config/s", "", 200, `{"compatibilityLevel":"NONE"}`)
	e.want("DELETE", "/subjects/s/versions/1?permanent=true", "", 200, `1`)
	e.want("DELETE", "/subjects/s?permanent=true", "", 200, `[3]`)
	e.want("GET", "/config/s", "", 404, `{"error_code":40408,"message":"Subject 's' does not have subject-level compatibility configured"}`)
	e.want("GET", "/mode/s", "", 404, `{"error_code":40409,"message":"Subject 's' does not have subject-level mode configured"}`)
	// Ids are not given again.
	e.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":3}`)
	e.want("GET", "/subjects/s/versions", "", 200, `[1]`)
}

func TestPaging(t *testing.T) {
	e := newEnv(t)
	for _, s := range []string{"a", "b", "c", "d"} {
		e.want("POST", "/subjects/"+s+"/versions", schema(hit1), 200, `{"id":1}`)
	}
	e.want("GET", "/subjects?offset=1&limit=2", "", 200, `["b","c"]`)
	e.want("GET", "/subjects?offset=3", "", 200, `["d"]`)
	e.want("GET", "/subjects?offset=9", "", 200, `[]`)
	e.want("GET", "/subjects?limit=0", "", 200, `["a","b","c","d"]`)
	e.want("GET", "/subjects?limit=x", "", 404, `{"error_code":404...`)
	e.want("GET", "/subjects?subjectPrefix=c", "", 200, `["c"]`)
	e.want("GET", "/schemas/ids/1/subjects?offset=1&limit=1", "", 200, `["b"]`)
	e.want("GET", "/schemas/ids/1/versions?limit=1", "", 200, `[{"subject":"a","version":1}]`)
	e.want("GET", "/schemas?offset=2&limit=1", "", 200, `[{"subject":"c","version":1,"id":1,"schema":`+quote(hit1)+`}]`)
	var found []schemaJSON
	e.get("/schemas?subjectPrefix=", &found)
	if len(found) != 4 {
		t.Errorf("%d schemas", len(found))
	}
}

func TestReferences(t *testing.T) {
	e := newEnv(t)
	inner := `{"type":"record","name":"Inner","namespace":"web","fields":[{"name":"x","type":"int"}]}`
	outer := `{"type":"record","name":"Outer","namespace":"web","fields":[{"name":"in","type":"web.Inner"}]}`
	top := `{"type":"record","name":"Top","namespace":"web","fields":[{"name":"out","type":"web.Outer"}]}`
	refs := `,"references":[{"name":"web.Inner","subject":"inner","version":1}]`
	e.want("POST", "/subjects/outer/versions", schema(outer), 422, `{"error_code":42201...`)
	e.want("POST", "/subjects/outer/versions", schema(outer, refs), 422,
		`{"error_code":42201,"message":"Invalid schema of type AVRO, details: No schema reference found for subject \"inner\" and version 1"}`)
	e.want("POST", "/subjects/inner/versions", schema(inner), 200, `{"id":1}`)
	e.want("POST", "/subjects/outer/versions", schema(outer, refs), 200, `{"id":2}`)
	// redpanda-data/redpanda#29611: references of references are resolved too. -1 is the latest at registration.
	topRefs := `,"references":[{"name":"web.Outer","subject":"outer","version":-1}]`
	e.want("POST", "/subjects/top/versions", schema(top, topRefs), 200, `{"id":3}`)
	// redpanda-data/redpanda#11194: an answer by id carries them.
	e.want("GET", "/schemas/ids/3", "", 200, `{"references":[{"name":"web.Outer","subject":"outer","version":1}],"schema":`+quote(strings.Replace(top, "web.Outer", "Outer", 1))+`}`)
	e.want("GET", "/subjects/inner/versions/1/referencedby", "", 200, `[2]`)
	e.want("GET", "/subjects/top/versions/1/referencedby", "", 200, `[]`)
	e.want("GET", "/subjects/top/versions/1?format=resolved", "", 200, `{"subject":"top","version":1,"id":3,"references":...`)
	// The same with everything written out is the same schema.
	written := strings.Replace(top, `"web.Outer"`, strings.Replace(outer, `"web.Inner"`, inner, 1), 1)
	e.want("POST", "/subjects/top/versions", schema(written), 200, `{"id":3}`)
	e.want("DELETE", "/subjects/inner/versions/1", "", 422,
		`{"error_code":42206,"message":"One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=inner,version=1}."}`)
	e.want("DELETE", "/subjects/inner", "", 422, `{"error_code":42206...`)
	e.want("DELETE", "/subjects/top", "", 200, `[1]`)
	e.want("DELETE", "/subjects/outer", "", 200, `[1]`) // what refers to it is deleted itself
	e.want("GET", "/subjects/outer/versions/1/referencedby?deleted=true", "", 200, `[3]`)
	e.want("DELETE", "/subjects/outer?permanent=true", "", 422, `{"error_code":42206...`) // but may come back
	e.want("DELETE", "/subjects/top?permanent=true", "", 200, `[1]`)
	e.want("DELETE", "/subjects/outer?permanent=true", "", 200, `[1]`)
}

// confluentinc/schema-registry#4277: registering again with the same id must not remove a deleted version that others
// refer to, since references are by version.
func TestReferencedVersionOutlivesRegistrationWithItsID(t *testing.T) {
	e := newEnv(t)
	inner := `{"type":"record","name":"Inner","namespace":"web","fields":[{"name":"x","type":"int"}]}`
	outer := `{"type":"record","name":"Outer","namespace":"web","fields":[{"name":"in","type":"web.Inner"}]}`
	e.want("POST", "/subjects/inner/versions", schema(inner), 200, `{"id":1}`)
	e.want("POST", "/subjects/outer/versions", schema(outer, `,"references":[{"name":"web.Inner","subject":"inner","version":1}]`), 200, `{"id":2}`)
	e.want("DELETE", "/subjects/outer", "", 200, `[1]`)
	e.want("DELETE", "/subjects/inner", "", 200, `[1]`)
	e.want("POST", "/subjects/inner/versions", schema(inner), 200, `{"id":1}`)
	e.want("GET", "/subjects/inner/versions?deleted=true", "", 200, `[1,2]`)
	e.want("GET", "/schemas/ids/2?format=resolved", "", 200, `{"references":...`) // still has a meaning
}
