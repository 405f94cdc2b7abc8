package http

import (
	"net/http"
	"strings"
	"testing"
)

func TestByID(t *testing.T) {
	e := newEnv(t)
	e.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`)
	e.want("POST", "/subjects/s/versions", schema(hit2), 200, `{"id":2}`)
	e.want("GET", "/schemas/ids/1", "", 200, `{"schema":`+quote(hit1)+`}`)
	e.want("GET", "/schemas/ids/1?subject=s", "", 200, `{"subject":"s","version":1,"schema":`+quote(hit1)+`}`)
	e.want("GET", "/schemas/ids/1?fetchMaxId=true", "", 200, `{"schema":`+quote(hit1)+`,"maxId":2}`)
	e.want("GET", "/schemas/ids/1/schema", "", 200, hit1)
	e.want("GET", "/schemas/ids/9", "", 404, `{"error_code":40403,"message":"Schema 9 not found"}`)
	e.want("GET", "/schemas/ids/9/schema", "", 404, `{"error_code":40403...`)
	e.want("GET", "/schemas/ids/9/subjects", "", 404, `{"error_code":40403,"message":"Schema not found"}`)
	e.want("GET", "/schemas/ids/9/versions", "", 404, `{"error_code":40403,"message":"Schema not found"}`)
	e.want("GET", "/schemas/ids/x", "", 404, `{"error_code":404,"message":"HTTP 404 Not Found"}`)
	e.want("GET", "/schemas/ids/1/versions", "", 200, `[{"subject":"s","version":1}]`)
	e.want("DELETE", "/subjects/s", "", 200, `[1,2]`)
	e.want("GET", "/schemas/ids/1/subjects", "", 200, `[]`)
	e.want("GET", "/schemas/ids/1/subjects?deleted=true", "", 200, `["s"]`)
}

func TestByGUID(t *testing.T) {
	e := newEnv(t)
	e.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`)
	e.want("POST", "/subjects/:.ctx:pad/versions", schema(hit2), 200, `{"id":1}`)
	e.want("POST", "/subjects/:.ctx:s/versions", schema(hit1), 200, `{"id":2}`)
	_, body := e.do("GET", "/schemas/ids/1", "", acceptUnknown, "true")
	_, rest, _ := strings.Cut(body, `"guid":"`)
	guid, _, _ := strings.Cut(rest, `"`)
	if len(guid) != 36 {
		t.Fatalf("no guid in %s", body)
	}
	e.want("GET", "/schemas/guids/"+guid, "", 200, `{"schema":`+quote(hit1)+`}`)
	e.want("GET", "/schemas/guids/"+guid+"/ids", "", 200, `[{"context":".","id":1},{"context":".ctx","id":2}]`)
	e.want("GET", "/schemas/guids/nonsense", "", 404, `{"error_code":40403,"message":"Schema nonsense not found"}`)
	e.want("GET", "/schemas/guids/nonsense/ids", "", 200, `[]`)
}

// redpanda-data/redpanda PR 29451: ids are per context, and reads by id tell which one they mean by a subject.
func TestContexts(t *testing.T) {
	e := newEnv(t)
	e.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`)
	e.want("POST", "/contexts/.ctx/subjects/s/versions", schema(hit2), 200, `{"id":1}`)
	e.want("POST", "/subjects/:.ctx:t/versions", schema(hit1), 200, `{"id":2}`)
	e.want("GET", "/contexts", "", 200, `[".",".ctx"]`)
	e.want("GET", "/contexts?contextPrefix=.c", "", 200, `[".ctx"]`)
	e.want("GET", "/subjects", "", 200, `[":.ctx:s",":.ctx:t","s"]`)
	e.want("GET", "/contexts/.ctx/subjects", "", 200, `[":.ctx:s",":.ctx:t"]`)
	e.want("GET", "/contexts/:.ctx:/subjects/", "", 200, `[":.ctx:s",":.ctx:t"]`)
	e.want("GET", "/contexts/.ctx/subjects?subjectPrefix=t", "", 200, `[":.ctx:t"]`)
	e.want("GET", "/subjects?subjectPrefix=:*:t", "", 200, `[":.ctx:t"]`)
	e.want("GET", "/subjects?subjectPrefix=", "", 200, `["s"]`)
	e.want("GET", "/schemas/ids/1", "", 200, `{"schema":`+quote(hit1)+`}`)
	e.want("GET", "/contexts/.ctx/schemas/ids/1", "", 200, `{"subject":":.ctx:s","version":1,"schema":`+quote(hit2)+`}`)
	e.want("GET", "/schemas/ids/1?subject=:.ctx:", "", 200, `{"subject":":.ctx:s","version":1,"schema":`+quote(hit2)+`}`)
	e.want("GET", "/schemas/ids/2?subject=t", "", 200, `{"subject":":.ctx:t","version":1,"schema":`+quote(hit1)+`}`) // in whatever context
	e.want("GET", "/schemas/ids/2", "", 404, `{"error_code":40403...`)
	e.want("GET", "/subjects/t/versions/1", "", 200, `{"subject":":.ctx:t"...`)
	e.want("POST", "/subjects/t", schema(hit1), 200, `{"subject":":.ctx:t"...`)
	e.want("GET", "/contexts/.ctx/schemas", "", 200, `[{"subject":":.ctx:s","version":1,"id":1,...`)
	e.want("PUT", "/contexts/.ctx/config", `{"compatibility":"NONE"}`, 200, `{"compatibility":"NONE"}`)
	e.want("GET", "/config/:.ctx:", "", 200, `{"compatibilityLevel":"NONE"}`)
	e.want("POST", "/contexts/.ctx/subjects/s/versions", schema(hit3), 200, `{"id":3}`)
	e.want("POST", "/contexts/.ctx/compatibility/subjects/t/versions/1", schema(hit3), 200, `{"is_compatible":true}`)
	e.want("PUT", "/config/:.__GLOBAL:", `{"compatibility":"FULL"}`, 200, `{"compatibility":"FULL"}`)
	e.want("GET", "/config/:.other:s?defaultToGlobal=true", "", 200, `{"compatibilityLevel":"FULL"}`)
	e.want("PUT", "/mode/:.ctx:", `{"mode":"READONLY"}`, 200, `{"mode":"READONLY"}`)
	e.want("POST", "/subjects/:.ctx:s/versions", schema(`"int"`), 422, `{"error_code":42205,"message":"Subject :.ctx:s in context :.ctx: is in read-only mode"}`)
	e.want("DELETE", "/contexts/.ctx/mode", "", 200, `{"mode":"READONLY"}`)
	e.want("DELETE", "/contexts/.ctx", "", 422, `{"error_code":42211,"message":"The specified context ':.ctx:' is not empty."}`)
	for _, s := range []string{"s", "t"} {
		e.do("DELETE", "/contexts/.ctx/subjects/"+s, "")
		e.do("DELETE", "/contexts/.ctx/subjects/"+s+"?permanent=true", "")
	}
	e.want("DELETE", "/contexts/.ctx", "", 204, ``)
	e.want("GET", "/contexts", "", 200, `["."]`)
	e.want("GET", "/contexts/a:b/subjects", "", 400, `{"error_code":400,"message":"Context name 'a:b' cannot contain a colon"}`)
	e.want("POST", "/subjects/:.__GLOBAL:s/versions", schema(hit1), 422, `{"error_code":42208...`)
}

func TestReferencesInContexts(t *testing.T) {
	e := newEnv(t)
	inner := `{"type":"record","name":"Inner","namespace":"web","fields":[{"name":"x","type":"int"}]}`
	outer := `{"type":"record","name":"Outer","namespace":"web","fields":[{"name":"in","type":"web.Inner"}]}`
	refs := `,"references":[{"name":"web.Inner","subject":"inner","version":1}]`
	e.want("POST", "/subjects/:.ctx:inner/versions", schema(inner), 200, `{"id":1}`)
	e.want("POST", "/subjects/:.ctx:outer/versions", schema(outer, refs), 200, `{"id":2}`) // in its own context
	e.want("GET", "/subjects/:.ctx:outer/versions/1", "", 200, `{"subject":":.ctx:outer","version":1,"id":2,"references":[{"name":"web.Inner","subject":"inner","version":1}]...`)
	e.want("GET", "/subjects/:.ctx:outer/versions/1?referenceFormat=qualified", "", 200, `{"subject":":.ctx:outer","version":1,"id":2,"references":[{"name":"web.Inner","subject":":.ctx:inner","version":1}]...`)
	e.want("GET", "/subjects/:.ctx:inner/versions/1/referencedby", "", 200, `[2]`)
	e.want("POST", "/subjects/outer/versions", schema(outer, refs), 422, `{"error_code":42201...`)
	e.want("POST", "/subjects/outer/versions", schema(outer, strings.Replace(refs, `"inner"`, `":.ctx:inner"`, 1)), 200, `{"id":1}`)
}

func TestMetadataAndRules(t *testing.T) {
	e := newEnv(t)
	meta := `,"metadata":{"properties":{"owner":"web"},"tags":{"Hit.path":["PII","A","PII"]},"sensitive":["x"]}`
	rules := `,"ruleSet":{"domainRules":[{"name":"positive","kind":"CONDITION","type":"CEL","mode":"WRITE","expr":"message.status > 0"}]}`
	metaOut := `"metadata":{"tags":{"Hit.path":["A","PII"]},"properties":{"owner":"web"},"sensitive":["x"]}`
	rulesOut := `"ruleSet":{"domainRules":[{"name":"positive","kind":"CONDITION","mode":"WRITE","type":"CEL","expr":"message.status > 0","disabled":false}]}`
	e.want("POST", "/subjects/s/versions", schema(hit1, meta, rules), 200, `{"id":1,`+metaOut+`,`+rulesOut+`}`)
	e.want("GET", "/subjects/s/versions/1", "", 200, `{"subject":"s","version":1,"id":1,`+metaOut+`,`+rulesOut+`,"schema":`+quote(hit1)+`}`)
	// Without any it is found all the same, as registering would take them over.
	e.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1...`)
	e.want("POST", "/subjects/s", schema(hit1), 200, `{"subject":"s","version":1...`)
	e.want("POST", "/subjects/s/versions", schema(hit2), 200, `{"id":2,`+metaOut+`,`+rulesOut+`}`)
	// The same text with other metadata is another schema.
	e.want("POST", "/subjects/s/versions", schema(hit2, `,"metadata":{"properties":{"owner":"app"}}`), 200, `{"id":3,"metadata":{"properties":{"owner":"app"}},`+rulesOut+`}`)
	e.want("GET", "/subjects/s/metadata?key=owner&value=web", "", 200, `{"subject":"s","version":2...`)
	e.want("GET", "/subjects/s/metadata?key=owner&value=app", "", 200, `{"subject":"s","version":3...`)
	e.want("GET", "/subjects/s/metadata?key=owner&value=none", "", 404, `{"error_code":40403...`)
	e.want("GET", "/subjects/none/metadata?key=owner&value=app", "", 404, `{"error_code":40401...`)
	e.want("GET", "/schemas?ruleType=CEL&latestOnly=true", "", 200, `[{"subject":"s","version":3...`)
	e.want("GET", "/schemas?ruleType=JSONATA", "", 200, `[]`)
	e.want("POST", "/subjects/s/versions", schema(hit1, `,"ruleSet":{"domainRules":[{"name":"a","type":"CEL"},{"name":"a","type":"CEL"}]}`), 422, `{"error_code":42210,"message":"Found rule with duplicate name 'a'"}`)
	// Only metadata: the text is taken over.
	e.want("POST", "/subjects/s/versions", `{"metadata":{"properties":{"owner":"new"}}}`, 200, `{"id":4...`)
	e.want("GET", "/subjects/s/versions/4/schema", "", 200, hit2)
	e.want("POST", "/subjects/empty/versions", `{}`, 422, `{"error_code":42201,"message":"Empty schema"}`)
}

// TestEmptyRuleSet: an empty rule set takes rules away, and is otherwise as good as none. Empty metadata make another schema.
func TestEmptyRuleSet(t *testing.T) {
	e := newEnv(t)
	e.want("POST", "/subjects/a/versions", schema(hit1, `,"metadata":{}`), 200, `{"id":1...`)
	e.want("POST", "/subjects/b/versions", schema(hit1, `,"ruleSet":{}`), 200, `{"id":2}`)
	e.want("POST", "/subjects/c/versions", schema(hit1), 200, `{"id":2}`)
	e.want("POST", "/subjects/b", schema(hit1, `,"ruleSet":{"domainRules":[]}`), 200, `{"subject":"b","version":1,"id":2,"schema":`+quote(hit1)+`}`)
	rules := `,"ruleSet":{"domainRules":[{"name":"r","type":"CEL"}]}`
	e.want("POST", "/subjects/c/versions", schema(hit2, rules), 200, `{"id":3,"ruleSet":...`)
	e.want("POST", "/subjects/c/versions", schema(hit2, `,"ruleSet":{}`), 200, `{"id":4}`)
	e.want("GET", "/subjects/c/versions/latest", "", 200, `{"subject":"c","version":3,"id":4,"schema":`+quote(hit2)+`}`)
}

func TestDefaultsAndOverrides(t *testing.T) {
	e := newEnv(t)
	e.want("PUT", "/config/s", `{"defaultMetadata":{"properties":{"a":"1","b":"1"}},"overrideMetadata":{"properties":{"b":"3"}},"defaultRuleSet":{"domainRules":[{"name":"r","type":"CEL"}]}}`, 200, `{"defaultMetadata":...`)
	e.want("POST", "/subjects/s/versions", schema(hit1, `,"metadata":{"properties":{"a":"2","b":"2","c":"2"}}`), 200,
		`{"id":1,"metadata":{"properties":{"a":"2","b":"3","c":"2"}},"ruleSet":{"domainRules":[{"name":"r","kind":"TRANSFORM","mode":"WRITEREAD","type":"CEL","disabled":false}]}}`)
	e.want("POST", "/subjects/s/versions", schema(hit1, `,"metadata":{"properties":{"a":"2","b":"2","c":"2"}}`), 200, `{"id":1...`)
	e.want("GET", "/subjects/s/versions", "", 200, `[1]`)
}

func TestVersionInMetadata(t *testing.T) {
	e := newEnv(t)
	e.want("POST", "/subjects/s/versions", schema(hit1, `,"version":-1`), 200, `{"id":1,"metadata":{"properties":{"confluent:version":"1"}}}`)
	e.want("POST", "/subjects/s/versions", schema(hit2, `,"version":2`), 200, `{"id":2,"metadata":{"properties":{"confluent:version":"2"}}}`)
	e.want("POST", "/subjects/s/versions", schema(hit2), 200, `{"id":2...`) // found without it
	e.want("POST", "/subjects/s/versions", schema(hit1, `,"version":9`), 422, `{"error_code":42201,"message":"Version is not one more than previous version"}`)
}

func TestAliases(t *testing.T) {
	e := newEnv(t)
	e.want("POST", "/subjects/long-name/versions", schema(hit1), 200, `{"id":1}`)
	e.want("PUT", "/config/short", `{"alias":"long-name"}`, 200, `{"alias":"long-name"}`)
	e.want("GET", "/subjects/short/versions/1", "", 200, `{"subject":"long-name"...`)
	e.want("POST", "/subjects/short/versions", schema(hit2), 200, `{"id":2}`)
	e.want("GET", "/subjects/long-name/versions", "", 200, `[1,2]`)
	e.want("POST", "/compatibility/subjects/short/versions", schema(hit3), 200, `{"is_compatible":false}`)
	e.want("GET", "/schemas/ids/1?subject=short", "", 200, `{"subject":"long-name"...`)
	e.want("GET", "/config/short", "", 200, `{"alias":"long-name","compatibilityLevel":"BACKWARD"}`)
	e.want("GET", "/schemas?subjectPrefix=sh&aliases=true&latestOnly=true", "", 200, `[{"subject":"long-name","version":2,"id":2,"schema":`+quote(hit2)+`,"aliases":["short"]}]`)
	e.want("GET", "/schemas?subjectPrefix=sh", "", 200, `[]`)
}

func TestTags(t *testing.T) {
	e := newEnv(t)
	e.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`)
	tag := `{"schemaEntity":{"entityPath":"web.Hit.path","entityType":"sr_field"},"tags":["PII"]}`
	status, body := e.do("POST", "/subjects/s/versions/1/tags", `{"newVersion":2,"tagsToAdd":[`+tag+`]}`)
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	e.want("GET", "/subjects/s/versions", "", 200, `[1,2]`)
	_, body = e.do("GET", "/subjects/s/versions/2?findTags=*", "")
	if !strings.Contains(body, `"schemaTags":[`+tag+`]`) || !strings.Contains(body, `\"confluent:tags\":[\"PII\"]`) {
		t.Error(body)
	}
	_, body = e.do("GET", "/subjects/s/versions/2?findTags=other", "")
	if strings.Contains(body, `"schemaTags"`) {
		t.Error(body)
	}
	e.want("POST", "/subjects/s/versions/1/tags", `{"tagsToAdd":[{"schemaEntity":{"entityPath":"web.Hit.none","entityType":"sr_field"},"tags":["PII"]}]}`, 422, `{"error_code":42201...`)
	e.want("POST", "/subjects/s/versions/7/tags", `{"tagsToAdd":[`+tag+`]}`, 404, `{"error_code":40402...`)
	e.want("POST", "/subjects/none/versions/1/tags", `{"tagsToAdd":[`+tag+`]}`, 404, `{"error_code":40401...`)
	e.want("POST", "/subjects/s/versions/2/tags", `{"ruleSet":{},"rulesToRemove":["x"]}`, 422, `{"error_code":42210,"message":"ruleSet should be omitted if specifying rulesToMerge or rulesToRemove"}`)
	e.want("POST", "/subjects/s/versions/latest/tags", `{"rulesToMerge":{"domainRules":[{"name":"r","type":"CEL"}]}}`, 200, `{"id":3...`)
	e.want("POST", "/subjects/s/versions/latest/tags", `{"rulesToRemove":["r"],"metadata":{"properties":{"k":"v"}}}`, 200, `{"id":4...`)
}

func TestNormalize(t *testing.T) {
	e := newEnv(t)
	long := `{"type":"record","name":"Hit","namespace":"web","fields":[{"name":"path","type":{"type":"string"}}]}`
	e.want("POST", "/subjects/s/versions?normalize=true", schema(long), 200, `{"id":1}`)
	e.want("GET", "/subjects/s/versions/1/schema", "", 200, `{"type":"record","name":"Hit","namespace":"web","fields":[{"name":"path","type":"string"}]}`)
}
