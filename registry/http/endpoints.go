package http

import (
	"net/http"
	"strings"
)

// endpoint is one operation of the protocol.
type endpoint struct {
	method  string
	path    string
	handle  func(*call) (any, error)
	body    bool   // the request has one
	query   string // the parameters it looks at
	summary string

	segments []string // of path
}

// endpoints are all operations, in the order of the reference page.
var endpoints = prepared([]endpoint{
	{method: "GET", path: "/", handle: root, summary: "answers an empty object"},
	{method: "POST", path: "/", handle: root, summary: "answers an empty object"},

	{method: "GET", path: "/schemas", handle: searchSchemas, query: "subjectPrefix aliases deleted latestOnly ruleType offset limit", summary: "finds schemas by the names of their subjects"},
	{method: "GET", path: "/schemas/types", handle: listTypes, summary: "lists the schema languages"},
	{method: "GET", path: "/schemas/ids/{id}", handle: getByID, query: "subject format referenceFormat findTags fetchMaxId", summary: "the schema with an id"},
	{method: "GET", path: "/schemas/ids/{id}/schema", handle: getTextByID, query: "subject format", summary: "the text of the schema with an id, as it is"},
	{method: "GET", path: "/schemas/ids/{id}/subjects", handle: listSubjectsOfID, query: "subject deleted offset limit", summary: "the subjects that hold an id"},
	{method: "GET", path: "/schemas/ids/{id}/versions", handle: listVersionsOfID, query: "subject deleted offset limit", summary: "the subjects and versions that hold an id"},
	{method: "GET", path: "/schemas/guids/{guid}", handle: getByGUID, query: "format", summary: "the schema with a GUID"},
	{method: "GET", path: "/schemas/guids/{guid}/ids", handle: listIDsOfGUID, summary: "the ids of a GUID, one for each context"},

	{method: "GET", path: "/subjects", handle: listSubjects, query: "subjectPrefix deleted deletedOnly offset limit", summary: "lists subjects; without a prefix those of all contexts"},
	{method: "POST", path: "/subjects/{subject}", handle: lookUp, body: true, query: "normalize format deleted", summary: "finds a schema under a subject"},
	{method: "DELETE", path: "/subjects/{subject}", handle: deleteSubject, query: "permanent", summary: "deletes a subject; for good with permanent=true, and only what was deleted before"},
	{method: "GET", path: "/subjects/{subject}/versions", handle: listVersions, query: "deleted deletedOnly deletedAsNegative offset limit", summary: "lists the versions of a subject"},
	{method: "POST", path: "/subjects/{subject}/versions", handle: register, body: true, query: "normalize format force", summary: "registers a schema"},
	{method: "GET", path: "/subjects/{subject}/versions/{version}", handle: getVersion, query: "format referenceFormat deleted findTags", summary: "a version of a subject; `latest` and -1 mean the latest"},
	{method: "GET", path: "/subjects/{subject}/versions/{version}/schema", handle: getVersionText, query: "format deleted", summary: "the text of a version, as it is"},
	{method: "GET", path: "/subjects/{subject}/versions/{version}/referencedby", handle: listReferrers, query: "deleted offset limit", summary: "the ids of schemas that refer to a version"},
	{method: "DELETE", path: "/subjects/{subject}/versions/{version}", handle: deleteVersion, query: "permanent", summary: "deletes a version"},
	{method: "POST", path: "/subjects/{subject}/versions/{version}/tags", handle: modifyTags, body: true, summary: "registers a new version with other tags, metadata or rules"},
	{method: "GET", path: "/subjects/{subject}/metadata", handle: getWithMetadata, query: "key value format deleted", summary: "the latest version whose metadata has these properties"},

	{method: "POST", path: "/compatibility/subjects/{subject}/versions", handle: checkAll, body: true, query: "normalize verbose", summary: "tells whether a schema may be registered next"},
	{method: "POST", path: "/compatibility/subjects/{subject}/versions/{version}", handle: checkOne, body: true, query: "normalize verbose", summary: "tells whether a schema is compatible with a version"},

	{method: "GET", path: "/config", handle: getConfig, query: "defaultToGlobal", summary: "the global config"},
	{method: "PUT", path: "/config", handle: putConfig, body: true, summary: "changes the global config"},
	{method: "DELETE", path: "/config", handle: deleteConfig, summary: "removes the global config"},
	{method: "GET", path: "/config/{subject}", handle: getConfig, query: "defaultToGlobal", summary: "the config of a subject or context; with defaultToGlobal=true the one that holds for it"},
	{method: "PUT", path: "/config/{subject}", handle: putConfig, body: true, summary: "changes the config of a subject or context, which need not exist"},
	{method: "DELETE", path: "/config/{subject}", handle: deleteConfig, summary: "removes the config of a subject or context"},

	{method: "GET", path: "/mode", handle: getMode, query: "defaultToGlobal", summary: "the global mode"},
	{method: "PUT", path: "/mode", handle: putMode, body: true, query: "force", summary: "sets the global mode"},
	{method: "DELETE", path: "/mode", handle: deleteMode, query: "recursive", summary: "removes the global mode"},
	{method: "GET", path: "/mode/{subject}", handle: getMode, query: "defaultToGlobal", summary: "the mode of a subject or context"},
	{method: "PUT", path: "/mode/{subject}", handle: putMode, body: true, query: "force", summary: "sets the mode of a subject or context"},
	{method: "DELETE", path: "/mode/{subject}", handle: deleteMode, query: "recursive", summary: "removes the mode of a subject or context"},

	{method: "GET", path: "/contexts", handle: listContexts, query: "offset limit contextPrefix", summary: "lists contexts"},
	{method: "DELETE", path: "/contexts/{context}", handle: deleteContext, summary: "forgets an empty context"},

	{method: "GET", path: "/v1/metadata/id", handle: getClusterID, summary: "the ids of the Kafka cluster and of the group of replicas"},
	{method: "GET", path: "/v1/metadata/version", handle: getServerVersion, summary: "the version of this server"},
	{method: "GET", path: "/v1/metadata/deployment", handle: getDeployment, summary: "attributes of the deployment; there are none"},
})

func prepared(list []endpoint) []endpoint {
	for i := range list {
		list[i].segments = strings.FieldsFunc(list[i].path, func(r rune) bool { return r == '/' })
	}
	return list
}

// find returns the endpoint of a request.
func find(method string, p path) (*endpoint, error) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	known := false
	for i := range endpoints {
		e := &endpoints[i]
		if !e.matches(p) {
			continue
		}
		if e.method == method {
			return e, nil
		}
		known = true
	}
	if known {
		return nil, plain(http.StatusMethodNotAllowed)
	}
	return nil, plain(http.StatusNotFound)
}

// variable tells whether a segment of an endpoint's path stands for any text, and the name of that.
func variable(segment string) (name string, ok bool) {
	if segment[0] != '{' {
		return "", false
	}
	return segment[1 : len(segment)-1], true
}

func (e *endpoint) matches(p path) bool {
	if len(p) != len(e.segments) {
		return false
	}
	for i, want := range e.segments {
		if want != p[i] {
			if _, any := variable(want); !any {
				return false
			}
		}
	}
	return true
}

// param is the text of a variable segment of the request's path.
func (c *call) param(name string) string {
	for i, segment := range c.endpoint.segments {
		if v, ok := variable(segment); ok && v == name {
			return c.path[i]
		}
	}
	return ""
}
