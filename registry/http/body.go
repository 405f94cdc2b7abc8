package http

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf16"

	"moldau/registry"
	"moldau/registry/catalog"
	"moldau/registry/format"
)

// The sizes of requests.
const (
	bulkyBody = 64 << 10  // a body that is larger counts against the budget
	maxMemory = 256 << 20 // of bulky bodies together, unless a single one may take more
	copies    = 3         // of a bulky body that are in memory at once: as it came, the schema's text in it, and what is made of that
)

// readBody reads the body of a request. A bulky one waits until there is memory for it.
func (c *call) readBody(w http.ResponseWriter, limit int) (err error) {
	if !takesMedia(c.Header.Get("Content-Type")) {
		return plain(http.StatusUnsupportedMediaType)
	}
	in := http.MaxBytesReader(w, c.Body, int64(limit))
	if c.body, err = io.ReadAll(io.LimitReader(in, bulkyBody)); err == nil && len(c.body) == bulkyBody {
		err = c.readBulk(w, in, limit)
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return problem(http.StatusRequestEntityTooLarge, "The request body has more than %d bytes", large.Limit)
	case errors.Is(err, errNoMemory):
		return err
	case err != nil:
		return problem(http.StatusBadRequest, "The request body can't be read: %v", err)
	}
	c.body = inUTF8(c.body)
	return nil
}

// errNoMemory says that there were too many bulky bodies for as long as a request may take.
var errNoMemory = errors.New("too many large requests at once")

// readBulk reads the rest of a bulky body. The peer has as long as the request: it must not keep memory by dawdling.
func (c *call) readBulk(w http.ResponseWriter, in io.Reader, limit int) error {
	size := limit
	if c.ContentLength >= 0 {
		size = int(min(c.ContentLength, int64(limit)))
	}
	give, err := c.memory.Take(c.Context(), copies*size)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoMemory, err)
	}
	c.give = give
	if at, ok := c.Context().Deadline(); ok {
		_ = http.NewResponseController(w).SetReadDeadline(at) // a connection that has none is one of a test
	}
	whole := bytes.NewBuffer(c.body)
	_, err = whole.ReadFrom(in)
	c.body = whole.Bytes()
	return err
}

// inUTF8 is JSON in UTF-8 that may have come in UTF-16, with or without a mark of the order of its bytes. A JSON text
// begins with a character of ASCII, which shows the order; what is said about it in the header does not count.
func inUTF8(text []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(text, []byte{0xEF, 0xBB, 0xBF}):
		return text[3:]
	case len(text) < 2 || len(text)%2 != 0:
		return text
	case text[0] == 0xFE && text[1] == 0xFF, text[0] == 0 && text[1] != 0:
		order = binary.BigEndian
	case text[0] == 0xFF && text[1] == 0xFE, text[0] != 0 && text[1] == 0:
		order = binary.LittleEndian
	default:
		return text
	}
	units := make([]uint16, 0, len(text)/2)
	for ; len(text) > 0; text = text[2:] {
		units = append(units, order.Uint16(text))
	}
	if units[0] == 0xFEFF {
		units = units[1:]
	}
	return []byte(string(utf16.Decode(units)))
}

// decode reads the body as JSON. Fields that are not known are ignored.
func (c *call) decode(into any) error {
	if text := bytes.TrimSpace(c.body); len(text) == 0 || string(text) == "null" {
		return problem(http.StatusUnprocessableEntity, "The request body may not be empty")
	}
	if err := json.Unmarshal(c.body, into); err != nil {
		return problem(http.StatusBadRequest, "The request body can't be understood: %v", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// integer reads a number, also one that is quoted, as many clients send it.
type integer int32

// UnmarshalJSON implements json.Unmarshaler.
func (i *integer) UnmarshalJSON(b []byte) error {
	text := strings.Trim(string(b), `"`)
	if text == "null" {
		return nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < math.MinInt32 || n > math.MaxInt32 {
		return &json.UnmarshalTypeError{Value: "number " + text, Type: nil}
	}
	*i = integer(n)
	return nil
}

// tagsJSON is an entity of a schema with tags.
type tagsJSON struct {
	Entity struct {
		Path string `json:"entityPath,omitempty"`
		Type string `json:"entityType,omitempty"`
	} `json:"schemaEntity"`
	Tags []string `json:"tags,omitempty"`
}

func entities(list []tagsJSON) []format.TaggedEntity {
	var out []format.TaggedEntity
	for _, t := range list {
		out = append(out, format.TaggedEntity{Entity: format.Entity{Path: t.Entity.Path, Type: t.Entity.Type}, Tags: t.Tags})
	}
	return out
}

func tagsOf(list []format.TaggedEntity) []tagsJSON {
	out := make([]tagsJSON, len(list))
	for i, e := range list {
		out[i].Entity.Path, out[i].Entity.Type, out[i].Tags = e.Entity.Path, e.Entity.Type, e.Tags
	}
	return out
}

// schemaRequest is the body of requests that bring a schema.
type schemaRequest struct {
	Version            *integer           `json:"version"`
	ID                 *integer           `json:"id"`
	SchemaType         string             `json:"schemaType"`
	References         []referenceRequest `json:"references"`
	Metadata           *catalog.Metadata  `json:"metadata"`
	RuleSet            *catalog.RuleSet   `json:"ruleSet"`
	Schema             string             `json:"schema"`
	SchemaTagsToAdd    []tagsJSON         `json:"schemaTagsToAdd"`
	SchemaTagsToRemove []tagsJSON         `json:"schemaTagsToRemove"`
	PropagateTags      bool               `json:"propagateSchemaTags"`
}

type referenceRequest struct {
	Name    string  `json:"name"`
	Subject string  `json:"subject"`
	Version integer `json:"version"`
}

// registration reads the schema of a request.
func (c *call) registration() (registry.Registration, error) {
	var b schemaRequest
	if err := c.decode(&b); err != nil {
		return registry.Registration{}, err
	}
	q := registry.Registration{
		Subject: c.param("subject"), ID: -1, Type: b.SchemaType, Text: b.Schema,
		Metadata: b.Metadata, RuleSet: b.RuleSet,
		AddTags: entities(b.SchemaTagsToAdd), RemoveTags: entities(b.SchemaTagsToRemove), PropagateTags: b.PropagateTags,
		Normalize: c.flag("normalize"), Force: c.flag("force"),
	}
	for _, ref := range b.References {
		q.References = append(q.References, catalog.Reference{Name: ref.Name, Subject: ref.Subject, Version: int32(ref.Version)})
	}
	if b.Version != nil {
		q.Version = int32(*b.Version)
	}
	if b.ID != nil {
		q.ID = int32(*b.ID)
	}
	return q, nil
}

// flag reads a parameter that is true or not.
func (c *call) flag(name string) bool { return strings.EqualFold(c.query.Get(name), "true") }

// number reads a parameter that is a number. One that is none is not found, as a path would be.
func (c *call) number(name string, otherwise int) (int, error) {
	text := c.query.Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, plain(http.StatusNotFound)
	}
	return int(n), nil
}

// page is the part of a list that is asked for: skip elements, then take at most.
func (c *call) page(limit int) (skip, take int, err error) {
	if skip, err = c.number("offset", 0); err != nil {
		return 0, 0, err
	}
	if take, err = c.number("limit", -1); err != nil {
		return 0, 0, err
	}
	if take <= 0 || take > limit {
		take = limit
	}
	return max(skip, 0), take, nil
}

// paged is the part of a list that is asked for; never nil, so that it is written as an empty list.
func paged[T any](c *call, list []T, limit int) ([]T, error) {
	skip, take, err := c.page(limit)
	if err != nil {
		return nil, err
	}
	list = list[min(skip, len(list)):]
	return append([]T{}, list[:min(take, len(list))]...), nil
}

// unlimited is the limit of lists whose elements are small.
const unlimited = math.MaxInt32

// id reads the id in the path. One that is no number is not found.
func (c *call) id() (int32, error) {
	n, err := strconv.ParseInt(c.param("id"), 10, 32)
	if err != nil {
		return 0, plain(http.StatusNotFound)
	}
	return int32(n), nil
}

// version reads the version in the path.
func (c *call) version() (int32, error) {
	text := strings.TrimSpace(c.param("version"))
	if strings.EqualFold(text, "latest") {
		return -1, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n <= 0 && n != -1 {
		return 0, invalidVersion(c.param("version"))
	}
	return int32(n), nil
}
