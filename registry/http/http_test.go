package http

import "testing"

const (
	hit1 = `{"type":"record","name":"Hit","namespace":"web","fields":[{"name":"path","type":"string"}]}`
	hit2 = `{"type":"record","name":"Hit","namespace":"web","fields":[{"name":"path","type":"string"},{"name":"status","type":"int","default":200}]}`
	hit3 = `{"type":"record","name":"Hit","namespace":"web","fields":[{"name":"path","type":"string"},{"name":"ref","type":["null","string"]}]}`
)

func TestLifeOfASubject(t *testing.T) {
	e := newEnv(t)
	e.want("GET", "/", "", 200, `{}`)
	e.want("GET", "/subjects", "", 200, `[]`)
	e.want("GET", "/config", "", 200, `{"compatibilityLevel":"BACKWARD"}`)
	e.want("GET", "/subjects/hits-value/versions", "", 404, `{"error_code":40401,"message":"Subject 'hits-value' not found."}`)
	e.want("POST", "/subjects/hits-value/versions", schema(hit1), 200, `{"id":1}`)
	e.want("POST", "/subjects/hits-value/versions", schema(hit1), 200, `{"id":1}`)
	e.want("POST", "/subjects/other/versions", schema(hit1), 200, `{"id":1}`)
	e.want("POST", "/subjects/hits-value/versions", schema(hit2), 200, `{"id":2}`)
	e.want("POST", "/subjects/hits-value/versions", schema(hit3), 409, `{"error_code":40901,"message":"Schema being registered is incompatible with an earlier schema for subject \"hits-value\", details: [{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE'...`)
	e.want("GET", "/subjects/hits-value/versions", "", 200, `[1,2]`)
	e.want("GET", "/subjects", "", 200, `["hits-value","other"]`)
	e.want("GET", "/schemas/ids/1/subjects", "", 200, `["hits-value","other"]`)
	e.want("DELETE", "/subjects/hits-value/versions/2", "", 200, `2`)
	e.want("GET", "/subjects/hits-value/versions", "", 200, `[1]`)
	e.want("GET", "/schemas/ids/2", "", 200, `{"schema":"{\"type\":\"record\"...`)
	e.want("DELETE", "/subjects/hits-value/versions/1?permanent=true", "", 404, `{"error_code":40407,"message":"Subject 'hits-value' Version 1 was not deleted first before being permanently deleted"}`)
	e.want("DELETE", "/subjects/hits-value", "", 200, `[1]`)
	e.want("DELETE", "/subjects/hits-value?permanent=true", "", 200, `[1,2]`)
	e.want("GET", "/schemas/ids/2", "", 404, `{"error_code":40403,"message":"Schema 2 not found"}`)
	e.want("PUT", "/config/unknown-yet", `{"compatibility":"full"}`, 200, `{"compatibility":"FULL"}`)
	e.want("GET", "/config/unknown-yet", "", 200, `{"compatibilityLevel":"FULL"}`)
}
