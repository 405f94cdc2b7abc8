package http

import (
	"strings"
	"testing"

	"moldau/registry"
)

func TestConfig(t *testing.T) {
	e := newEnv(t)
	// Apicurio/apicurio-registry#1097: a subject need not exist to be configured; KafkaJS relies on it.
	e.want("PUT", "/config/s", `{"compatibility":"FORWARD"}`, 200, `{"compatibility":"FORWARD"}`)
	e.want("GET", "/config/s", "", 200, `{"compatibilityLevel":"FORWARD"}`)
	// Apicurio#700 and PR 7971, confluentinc PR 1920: names, codes.
	e.want("PUT", "/config", `{"compatibility":"nonsense"}`, 422, `{"error_code":42203,"message":"Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, forward_transitive, and full_transitive"}`)
	e.want("PUT", "/config/s", `{"compatibilityPolicy":"LOGICAL"}`, 422, `{"error_code":42203...`)
	e.want("GET", "/config/other", "", 404, `{"error_code":40408,"message":"Subject 'other' does not have subject-level compatibility configured"}`)
	e.want("GET", "/config/other?defaultToGlobal=true", "", 200, `{"compatibilityLevel":"BACKWARD"}`)
	e.want("PUT", "/config", `{"compatibility":"full_transitive","normalize":true}`, 200, `{"normalize":true,"compatibility":"FULL_TRANSITIVE"}`)
	e.want("GET", "/config/other?defaultToGlobal=true", "", 200, `{"normalize":true,"compatibilityLevel":"FULL_TRANSITIVE"}`)
	e.want("GET", "/config/s?defaultToGlobal=true", "", 200, `{"normalize":true,"compatibilityLevel":"FORWARD"}`)
	// A change leaves what it does not name; null unsets.
	e.want("PUT", "/config/s", `{"compatibilityGroup":"app"}`, 200, `{"compatibilityGroup":"app","compatibility":"FORWARD"}`)
	e.want("PUT", "/config/s", `{"compatibility":null}`, 200, `{"compatibilityGroup":"app"}`)
	e.want("GET", "/config/s", "", 200, `{"compatibilityLevel":"BACKWARD","compatibilityGroup":"app"}`)
	e.want("DELETE", "/config/s", "", 200, `{"compatibilityLevel":"BACKWARD","compatibilityGroup":"app"}`)
	e.want("DELETE", "/config/s", "", 404, `{"error_code":40408...`)
	e.want("DELETE", "/config", "", 200, `{"normalize":true,"compatibilityLevel":"FULL_TRANSITIVE"}`)
	e.want("GET", "/config", "", 200, `{"compatibilityLevel":"BACKWARD"}`)
	e.want("PUT", "/config/:.:", `{"compatibility":"NONE"}`, 200, `{"compatibility":"NONE"}`) // the default context is the global one
	e.want("GET", "/config", "", 200, `{"compatibilityLevel":"NONE"}`)
	e.want("PUT", "/config", `{"defaultRuleSet":{"domainRules":[{"name":"a"}]}}`, 422, `{"error_code":42210,"message":"Missing rule type"}`)
	e.want("PUT", "/config", `{"defaultRuleSet":{"domainRules":[{"name":"a","mode":"NO"}]}}`, 400, `{"error_code":400...`)
}

func TestMode(t *testing.T) {
	e := newEnv(t)
	e.want("GET", "/mode", "", 200, `{"mode":"READWRITE"}`)
	e.want("GET", "/mode/s", "", 404, `{"error_code":40409,"message":"Subject 's' does not have subject-level mode configured"}`)
	e.want("GET", "/mode/s?defaultToGlobal=true", "", 200, `{"mode":"READWRITE"}`)
	e.want("PUT", "/mode/s", `{"mode":"nonsense"}`, 422, `{"error_code":42204,"message":"Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD."}`)
	e.want("PUT", "/mode/s", `{"mode":"FORWARD"}`, 422, `{"error_code":42204,"message":"Forward mode only supported on global level"}`)
	e.want("PUT", "/mode/s", `{"mode":"readonly"}`, 200, `{"mode":"readonly"}`)
	e.want("GET", "/mode/s", "", 200, `{"mode":"READONLY"}`)
	e.want("POST", "/subjects/s/versions", schema(hit1), 422, `{"error_code":42205,"message":"Subject s in context  is in read-only mode"}`)
	e.want("PUT", "/config/s", `{"compatibility":"FULL"}`, 422, `{"error_code":42205...`)
	e.want("DELETE", "/mode/s", "", 200, `{"mode":"READONLY"}`)
	e.want("DELETE", "/mode/s", "", 404, `{"error_code":40401...`)
	e.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`)
	e.want("PUT", "/mode", `{"mode":"READONLY"}`, 200, `{"mode":"READONLY"}`)
	e.want("POST", "/subjects/s/versions", schema(hit2), 422, `{"error_code":42205...`)
	e.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`) // it is registered already
	e.want("DELETE", "/subjects/s", "", 422, `{"error_code":42205...`)
	e.want("DELETE", "/subjects/s/versions/1", "", 422, `{"error_code":42205...`)
	e.want("PUT", "/mode/s", `{"mode":"READWRITE"}`, 200, `{"mode":"READWRITE"}`)
	e.want("POST", "/subjects/s/versions", schema(hit2), 200, `{"id":2}`)
	e.want("DELETE", "/mode?recursive=true", "", 200, `{"mode":"READONLY"}`)
	e.want("GET", "/mode/s", "", 404, `{"error_code":40409...`)
	e.want("PUT", "/mode/s", `{}`, 422, `{"error_code":422...`)
}

func TestModesMayBeFixed(t *testing.T) {
	e := newEnv(t, func(c *registry.Config) { c.MutableMode = false })
	e.want("PUT", "/mode", `{"mode":"READONLY"}`, 422, `{"error_code":42205,"message":"Mode changes are not allowed"}`)
	e.want("DELETE", "/mode", "", 422, `{"error_code":42205...`)
}

func TestImport(t *testing.T) {
	e := newEnv(t)
	e.want("POST", "/subjects/s/versions", schema(hit1, `,"id":40,"version":5`), 422, `{"error_code":42205,"message":"Subject s in context  is not in import mode"}`)
	e.want("PUT", "/mode/s", `{"mode":"IMPORT"}`, 200, `{"mode":"IMPORT"}`)
	e.want("POST", "/subjects/s/versions", schema(hit1), 422, `{"error_code":42205,"message":"Subject s in context  is not in read-write mode"}`)
	e.want("POST", "/subjects/s/versions", schema(hit1, `,"id":40,"version":5`), 200, `{"id":40}`)
	e.want("POST", "/subjects/s/versions", schema(hit1, `,"id":"40","version":"5"`), 200, `{"id":40}`) // numbers in quotes
	e.want("POST", "/subjects/s/versions", schema(hit3, `,"id":40,"version":6`), 422, `{"error_code":42205,"message":"Overwrite new schema with id 40 in context  is not permitted."}`)
	e.want("POST", "/subjects/s/versions", schema(hit3, `,"id":39,"version":3`), 200, `{"id":39}`) // nothing is compared
	e.want("GET", "/subjects/s/versions", "", 200, `[3,5]`)
	e.want("DELETE", "/mode/s", "", 200, `{"mode":"IMPORT"}`)
	e.want("POST", "/subjects/s/versions", schema(hit2), 200, `{"id":41}`)
	e.want("GET", "/subjects/s/versions", "", 200, `[3,5,6]`)
	e.want("PUT", "/mode/s", `{"mode":"IMPORT"}`, 422, `{"error_code":42205,"message":"Cannot import since found existing subjects"}`)
	e.want("PUT", "/mode/s?force=true", `{"mode":"IMPORT"}`, 200, `{"mode":"IMPORT"}`)
}

// confluentinc/schema-registry#2430: what was deleted must not resolve any more when the subject is imported anew, else
// the import fails with 42205.
func TestImportAfterDeletion(t *testing.T) {
	e := newEnv(t)
	e.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`)
	e.want("DELETE", "/subjects/s", "", 200, `[1]`)
	e.want("PUT", "/mode", `{"mode":"IMPORT"}`, 200, `{"mode":"IMPORT"}`)
	e.want("GET", "/subjects?deleted=true", "", 200, `[]`)
	e.want("POST", "/subjects/s/versions", schema(hit1, `,"id":700,"version":1`), 200, `{"id":700}`)
	e.want("PUT", "/mode", `{"mode":"READWRITE"}`, 200, `{"mode":"READWRITE"}`)
	e.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":700}`)
	e.want("POST", "/subjects/t/versions", schema(hit2), 200, `{"id":701}`)
}

func TestCompatibility(t *testing.T) {
	e := newEnv(t)
	e.want("POST", "/compatibility/subjects/s/versions", schema(hit1), 200, `{"is_compatible":true}`)
	e.want("POST", "/compatibility/subjects/s/versions/latest", schema(hit1), 200, `{"is_compatible":true}`)
	e.want("POST", "/compatibility/subjects/s/versions/1", schema(hit1), 404, `{"error_code":40402,"message":"Version 1 not found."}`)
	e.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`)
	e.want("POST", "/compatibility/subjects/s/versions/latest", schema(hit3), 200, `{"is_compatible":false}`)
	e.want("POST", "/compatibility/subjects/s/versions/1?verbose=true", schema(hit2), 200, `{"is_compatible":true,"messages":[]}`)
	_, body := e.do("POST", "/compatibility/subjects/s/versions?verbose=true", schema(hit3))
	const head = `{"is_compatible":false,"messages":["{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'`
	tail := `', additionalInfo:'ref'}","{oldSchemaVersion: 1}","{oldSchema: '` + unquoted(hit1) +
		`'}","{validateFields: 'false', compatibility: 'BACKWARD'}"]}`
	if !strings.HasPrefix(body, head) || !strings.HasSuffix(body, tail) {
		t.Errorf("got %s\nwant %s...%s", body, head, tail)
	}
	e.want("POST", "/compatibility/subjects/s/versions/1", schema(`{"type":"x"}`), 422, `{"error_code":42201...`)
	e.want("POST", "/compatibility/subjects/s/versions/1?verbose=true", schema(`{"type":"x"}`), 200, `{"is_compatible":false,"messages":["Invalid schema of type AVRO, details: ...`)
	e.want("PUT", "/config/s", `{"compatibility":"NONE"}`, 200, `{"compatibility":"NONE"}`)
	e.want("POST", "/compatibility/subjects/s/versions", schema(hit3), 200, `{"is_compatible":true}`)
}

func unquoted(text string) string {
	q := quote(text)
	return q[1 : len(q)-1]
}

func TestLevels(t *testing.T) {
	one := `{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}`
	two := `{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int","default":1}]}`
	noA := `{"type":"record","name":"R","fields":[{"name":"b","type":"int","default":1}]}`                // reads both, is not read by them
	addC := `{"type":"record","name":"R","fields":[{"name":"b","type":"int"}]}`                           // reads two but not one
	more := `{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"c","type":"int"}]}` // read by both, reads neither
	for _, c := range []struct {
		level string
		text  string
		want  bool
	}{
		{"BACKWARD", noA, true},
		{"BACKWARD", addC, true},
		{"BACKWARD", more, false},
		{"BACKWARD_TRANSITIVE", noA, true},
		{"BACKWARD_TRANSITIVE", addC, false},
		{"BACKWARD_TRANSITIVE", more, false},
		{"FORWARD", noA, false},
		{"FORWARD", more, true},
		{"FORWARD_TRANSITIVE", more, true},
		{"FULL", noA, false},
		{"FULL", more, false},
		{"FULL", one, true},
		{"FULL_TRANSITIVE", two, true},
		{"NONE", more, true},
	} {
		t.Run(c.level, func(t *testing.T) {
			e := newEnv(t)
			e.want("POST", "/subjects/s/versions", schema(one), 200, `{"id":1}`)
			e.want("POST", "/subjects/s/versions", schema(two), 200, `{"id":2}`)
			e.want("PUT", "/config", `{"compatibility":"`+c.level+`"}`, 200, `{"compatibility":"`+c.level+`"}`)
			want := `{"is_compatible":false}`
			if c.want {
				want = `{"is_compatible":true}`
			}
			e.want("POST", "/compatibility/subjects/s/versions", schema(c.text), 200, want)
		})
	}
}

func TestCompatibilityGroups(t *testing.T) {
	e := newEnv(t)
	major := func(n string) string { return `,"metadata":{"properties":{"major":"` + n + `"}}` }
	e.want("PUT", "/config/s", `{"compatibilityGroup":"major"}`, 200, `{"compatibilityGroup":"major"}`)
	e.want("POST", "/subjects/s/versions", schema(hit1, major("1")), 200, `{"id":1,"metadata":{"properties":{"major":"1"}}}`)
	e.want("POST", "/subjects/s/versions", schema(hit3, major("1")), 409, `{"error_code":40901...`)
	e.want("POST", "/subjects/s/versions", schema(hit3, major("2")), 200, `{"id":2...`)
	e.want("POST", "/subjects/s/versions", schema(hit2, major("1")), 200, `{"id":3...`)
	e.want("POST", "/subjects/s/versions", schema(hit2, major("2")), 200, `{"id":4...`)
}

func TestReservedFields(t *testing.T) {
	e := newEnv(t)
	reserved := func(list string) string { return `,"metadata":{"properties":{"confluent:reserved":"` + list + `"}}` }
	e.want("PUT", "/config/s", `{"validateFields":true}`, 200, `{"validateFields":true}`)
	e.want("POST", "/subjects/s/versions", schema(hit1, reserved("old, path")), 409, `{"error_code":40901,"message":"Schema being registered is incompatible with an earlier schema for subject \"s\", details: [The new schema has field that conflicts with the reserved field path., {validateFields: 'true', compatibility: 'BACKWARD'}]"}`)
	e.want("POST", "/subjects/s/versions", schema(hit1, reserved("old")), 200, `{"id":1...`)
	e.want("POST", "/subjects/s/versions", schema(hit2, reserved("other")), 409, `{"error_code":40901,"message":"Schema being registered is incompatible with an earlier schema for subject \"s\", details: [The new schema has reserved field old removed from its metadata which is present in the old schema's metadata....`)
}
