package http

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"

	"moldau/registry/catalog"
	"moldau/registry/format"
)

// text is an answer that is written as it is.
type text string

// nothing is an answer without a body.
type nothing struct{}

// answer writes what an endpoint returned.
func (h *Handler) answer(w http.ResponseWriter, c *call, e *endpoint, out any) int {
	if c.forwarded && e.method != http.MethodGet {
		h.relay.Mark(w.Header())
	}
	switch v := out.(type) {
	case nothing:
		w.WriteHeader(http.StatusNoContent)
		return http.StatusNoContent
	case text:
		return send(w, c.media, http.StatusOK, []byte(v))
	case schemaList:
		return v.send(w, c.media)
	}
	return sendJSON(w, c.media, http.StatusOK, out)
}

func send(w http.ResponseWriter, media string, status int, body []byte) int {
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the peer may be gone; there is nobody left to tell
	return status
}

// buffers are where answers are written before their length is known.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxKept is the size of buffers that are used again.
const maxKept = 64 << 10

func borrowBuffer() *bytes.Buffer {
	b := buffers.Get().(*bytes.Buffer)
	b.Reset()
	return b
}

func returnBuffer(b *bytes.Buffer) {
	if b.Cap() <= maxKept {
		buffers.Put(b)
	}
}

// sendJSON writes plain data as an answer.
func sendJSON(w http.ResponseWriter, media string, status int, v any) int {
	b := borrowBuffer()
	defer returnBuffer(b)
	appendJSON(b, v)
	return send(w, media, status, b.Bytes())
}

// appendJSON appends plain data to b.
func appendJSON(b *bytes.Buffer, v any) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("registry answer: " + err.Error()) // answers are plain data
	}
	b.Truncate(b.Len() - 1) // the line feed
}

// schemaList is an answer of many schemas, which together may be larger than one wants to hold in memory twice.
type schemaList []*schemaJSON

// send writes the list, in pieces where it is long.
func (l schemaList) send(w http.ResponseWriter, media string) int {
	b := borrowBuffer()
	defer returnBuffer(b)
	w.Header().Set("Content-Type", media)
	b.WriteByte('[')
	for i, s := range l {
		if i > 0 {
			b.WriteByte(',')
		}
		appendJSON(b, s)
		if b.Len() < maxKept {
			continue
		}
		if _, err := w.Write(b.Bytes()); err != nil {
			return http.StatusOK // the peer is gone
		}
		b.Reset()
	}
	b.WriteByte(']')
	_, _ = w.Write(b.Bytes())
	return http.StatusOK
}

// schemaJSON is a schema in an answer. Fields that clients did not always know are for those who ask for them.
type schemaJSON struct {
	Subject    string              `json:"subject,omitempty"`
	Version    int32               `json:"version,omitempty"`
	ID         *int32              `json:"id,omitempty"`
	GUID       string              `json:"guid,omitempty"`
	SchemaType string              `json:"schemaType,omitempty"`
	References []catalog.Reference `json:"references,omitempty"`
	Metadata   *catalog.Metadata   `json:"metadata,omitempty"`
	RuleSet    *catalog.RuleSet    `json:"ruleSet,omitempty"`
	Schema     string              `json:"schema,omitempty"`
	SchemaTags []tagsJSON          `json:"schemaTags,omitempty"`
	MaxID      *int32              `json:"maxId,omitempty"`
	Timestamp  int64               `json:"ts,omitempty"`
	Deleted    *bool               `json:"deleted,omitempty"`
	Aliases    []string            `json:"aliases,omitempty"`
}

// schema makes the answer for a schema, its text in the form that is asked for.
func (c *call) schema(s *catalog.Schema) (*schemaJSON, error) {
	text, err := c.registry.Formatted(c.Context(), s, c.query.Get("format"))
	if err != nil {
		return nil, err
	}
	out := &schemaJSON{
		Subject: s.Subject, Version: s.Version, ID: &s.ID, SchemaType: s.Type, References: c.references(s),
		Metadata: s.Metadata, RuleSet: s.RuleSet, Schema: text, GUID: s.GUID.String(),
	}
	if c.all {
		out.Timestamp, out.Deleted = s.Timestamp, &s.Deleted
	} else if s.Type == format.Avro {
		out.SchemaType = ""
	}
	return out, nil
}

// references are those of a schema, with the contexts of their subjects if that is asked for.
func (c *call) references(s *catalog.Schema) []catalog.Reference {
	name := s.Name()
	if c.query.Get("referenceFormat") != "qualified" || name.Context == catalog.DefaultContext {
		return s.References
	}
	out := make([]catalog.Reference, len(s.References))
	for i, ref := range s.References {
		ref.Subject = catalog.ParseName(ref.Subject).In(name).String()
		out[i] = ref
	}
	return out
}

// tagged adds the tags inside a schema that are asked for.
func (c *call) tagged(out *schemaJSON, s *catalog.Schema) error {
	wanted := c.query["findTags"]
	if len(wanted) == 0 {
		return nil
	}
	tags, err := c.registry.Tags(c.Context(), s, wanted)
	if err != nil {
		return err
	}
	out.SchemaTags = tagsOf(tags)
	return nil
}

// registered makes the answer to a registration. It has the schema only when the caller can't know it: clients keep what
// they are told beside the id, and those that ask for another form later would be given this one.
func (c *call) registered(s *catalog.Schema, known bool) (*schemaJSON, error) {
	if !c.all {
		return &schemaJSON{ID: &s.ID, Metadata: s.Metadata, RuleSet: s.RuleSet}, nil
	}
	out, err := c.schema(s)
	if err != nil {
		return nil, err
	}
	out.Subject = ""
	if known && c.query.Get("format") == "" {
		out.Schema, out.SchemaType, out.References = "", "", nil
	}
	return out, nil
}
