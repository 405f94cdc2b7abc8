package rest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"sync"

	"moldau/gen/openapi"
)

//go:embed records.openapi.json
var recordsOpenAPI []byte

// OpenAPI returns the OpenAPI 3.1 document of the whole HTTP API: the record endpoints, which are described by hand, and
// the administrative ones, whose description is made from the protos.
var OpenAPI = sync.OnceValues(func() ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(recordsOpenAPI, &doc); err != nil {
		return nil, fmt.Errorf("read the description of the record endpoints: %w", err)
	}
	var generated map[string]any
	if err := json.Unmarshal(openapi.Topic, &generated); err != nil {
		return nil, fmt.Errorf("read the generated description: %w", err)
	}
	maps.Copy(object(doc, "paths"), object(generated, "paths"))
	maps.Copy(object(object(doc, "components"), "schemas"), object(object(generated, "components"), "schemas"))
	addErrors(object(generated, "paths"))
	return json.MarshalIndent(doc, "", "  ")
})

// object returns the member of a JSON object that is an object itself, empty if there is none.
func object(doc map[string]any, name string) map[string]any {
	o, ok := doc[name].(map[string]any)
	if !ok {
		o = map[string]any{}
		doc[name] = o
	}
	return o
}

// addErrors gives every operation our error answer: the generator knows only that of the gRPC gateway.
func addErrors(paths map[string]any) {
	for _, item := range paths {
		methods, _ := item.(map[string]any)
		for _, op := range methods {
			if op, ok := op.(map[string]any); ok {
				object(op, "responses")["default"] = map[string]any{"$ref": "#/components/responses/Error"}
			}
		}
	}
}

// serveOpenAPI serves the document.
func serveOpenAPI(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		methodNotAllowed(w, r, "GET")
		return
	}
	doc, err := OpenAPI()
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Content-Length", strconv.Itoa(len(doc)))
	_, _ = w.Write(doc) // the peer is gone if that fails
}
