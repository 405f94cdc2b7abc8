package jsonschema

import (
	"strings"

	library "github.com/santhosh-tekuri/jsonschema/v6"
)

// dialects is the drafts by the address of their metaschema without its scheme.
var dialects = map[string]*library.Draft{
	"json-schema.org/schema":               library.Draft4,
	"json-schema.org/draft-04/schema":      library.Draft4,
	"json-schema.org/draft-06/schema":      library.Draft6,
	"json-schema.org/draft-07/schema":      library.Draft7,
	"json-schema.org/draft/2019-09/schema": library.Draft2019,
	"json-schema.org/draft/2020-12/schema": library.Draft2020,
}

// defaultDraft is that of schemas which do not say.
func defaultDraft() *library.Draft { return library.Draft7 }

// draftOf answers the draft a schema says it is of, nil where it does not say or nobody knows it.
func draftOf(schema *value) *library.Draft {
	url, ok := schema.get("$schema").characters()
	if !ok {
		return nil
	}
	if rest, ok := strings.CutPrefix(url, "http://"); ok {
		url = rest
	} else if url, ok = strings.CutPrefix(url, "https://"); !ok {
		return nil
	}
	return dialects[strings.TrimSuffix(url, "#")]
}

// idKeyword is the name of the member that holds a schema's own address.
func idKeyword(d *library.Draft) string {
	if d == library.Draft4 {
		return "id"
	}
	return "$id"
}
