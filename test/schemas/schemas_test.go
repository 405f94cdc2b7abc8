package schemas

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/sr"

	"moldau/registry/conform"
	"moldau/registry/format"
	"moldau/registry/format/avro"
	"moldau/registry/format/jsonschema"
	"moldau/registry/format/protobuf"
	"moldau/registry/registrytest"
	"moldau/registry/serde"
)

// levels are those that a subject can have.
var levels = []string{"BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE", "NONE"}

// invalidSchema is the registry's code for a text that is no schema.
const invalidSchema = 42201

// schema is a file that is registered.
type schema struct {
	file, subject string
	body          body
	version, id   int
	parsed        format.Schema
}

// body is what is posted to register or compare a schema.
type body struct {
	Schema     string            `json:"schema"`
	Type       string            `json:"schemaType,omitempty"`
	References []serde.Reference `json:"references,omitempty"`
}

// bench is a registry, and what is in it of one language.
type bench struct {
	language
	dir     string
	serde   *serde.Serde
	format  format.Format
	schemas []*schema
	byFile  map[string]*schema
}

func TestSchemas(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector a large file takes longer than a registry allows; the formats' own tests have these files too")
	}
	s, err := serde.New(serde.Config{URLs: []string{registrytest.Start(t).URL}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	l := format.DefaultLimits()
	l.Time = time.Minute // the registry's own hold all the same
	formats := map[string]format.Format{"AVRO": avro.New(l), "PROTOBUF": protobuf.New(l), "JSON": jsonschema.New(l)}
	for _, language := range languages {
		t.Run(language.dir, func(t *testing.T) {
			b := &bench{language, language.folder(t), s, formats[language.kind], nil, map[string]*schema{}}
			for _, e := range b.expectations(t, b.dir) {
				b.register(t, e)
			}
			t.Run("reads back", b.readsBack)
			t.Run("is compatible with itself", b.compatible)
			t.Run("values", b.values)
		})
	}
}

func (b *bench) do(t *testing.T, method, path string, body, into any, params ...string) error {
	t.Helper()
	return b.serde.Do(t.Context(), method+" "+path, method, path, body, into, params...)
}

// register registers a file and before it those that it refers to, which are in the table too.
func (b *bench) register(t *testing.T, e expectation) *schema {
	t.Helper()
	if s, ok := b.byFile[e.file]; ok {
		return s
	}
	s := &schema{file: e.file, subject: b.dir[strings.LastIndexByte(b.dir, filepath.Separator)+1:] + "/" + e.file}
	s.body = body{Schema: read(t, filepath.Join(b.dir, e.file)), Type: b.kind}
	path := "/subjects/" + url.PathEscape(s.subject) + "/versions"
	if e.refused != "" {
		var answer *sr.ResponseError
		err := b.do(t, http.MethodPost, path, s.body, nil)
		if !errors.As(err, &answer) || answer.ErrorCode != invalidSchema || !strings.Contains(answer.Message, e.refused) {
			t.Errorf("%s: %v, want it refused with %d and %s", e.file, err, invalidSchema, e.refused)
		}
		return nil
	}
	source := format.Source{Text: s.body.Schema}
	for i, r := range e.references {
		to := b.register(t, expectation{file: r, references: e.references[:i:i]})
		if to == nil {
			t.Fatalf("%s refers to %s, which is refused", e.file, r)
		}
		s.body.References = append(s.body.References, serde.Reference{Name: r, Subject: to.subject, Version: to.version})
		source.References = append(source.References, format.Resolved{Name: r, Text: to.body.Schema})
	}
	if err := b.do(t, http.MethodPost, path, s.body, nil); err != nil {
		t.Errorf("%s does not register: %v", e.file, err)
		return nil
	}
	var at struct{ Version, ID int }
	if err := b.do(t, http.MethodPost, strings.TrimSuffix(path, "/versions"), s.body, &at); err != nil {
		t.Errorf("%s is not found: %v", e.file, err)
		return nil
	}
	s.version, s.id = at.Version, at.ID
	var err error
	if s.parsed, err = b.format.Parse(t.Context(), source); err != nil {
		t.Errorf("%s: %v", e.file, err)
		return nil
	}
	b.byFile[e.file], b.schemas = s, append(b.schemas, s)
	return s
}

// readsBack: the text that the registry answers is the one that it stores, and the same schema.
func (b *bench) readsBack(t *testing.T) {
	for _, s := range b.schemas {
		var byVersion, byID struct{ Schema string }
		version := fmt.Sprintf("/subjects/%s/versions/%d", url.PathEscape(s.subject), s.version)
		err := errors.Join(b.do(t, http.MethodGet, version, nil, &byVersion),
			b.do(t, http.MethodGet, fmt.Sprintf("/schemas/ids/%d", s.id), nil, &byID))
		if err != nil || byVersion.Schema != s.parsed.Canonical() || byID != byVersion {
			t.Errorf("%s reads back as another text, %v", s.file, err)
		}
		again := s.body
		again.Schema = byID.Schema
		var at struct{ ID int }
		if err := b.do(t, http.MethodPost, "/subjects/"+url.PathEscape(s.subject)+"/versions", again, &at); err != nil || at.ID != s.id {
			t.Errorf("%s: what is read back has the id %d, not %d, %v", s.file, at.ID, s.id, err)
		}
	}
}

func (b *bench) compatible(t *testing.T) {
	for _, level := range levels {
		if err := b.do(t, http.MethodPut, "/config", map[string]string{"compatibility": level}, nil); err != nil {
			t.Fatal(err)
		}
		for _, s := range b.schemas {
			var answer struct {
				Compatible bool `json:"is_compatible"`
				Messages   []string
			}
			path := "/compatibility/subjects/" + url.PathEscape(s.subject) + "/versions"
			if err := b.do(t, http.MethodPost, path, s.body, &answer, "verbose", "true"); err != nil || !answer.Compatible {
				t.Errorf("%s at %s: %v, %v", s.file, level, answer.Messages, err)
			}
		}
	}
}

// made is a value that was made up, in JSON; message is its name in Protobuf.
type made struct{ message, json string }

// makers make values up for each language.
var makers = map[string]func(*testing.T, *schema) []made{"AVRO": avroValues, "PROTOBUF": protobufValues, "JSON": jsonValues}

// values: a value that is made up is encoded, passes validation, and comes back.
func (b *bench) values(t *testing.T) {
	count := 0
	for _, s := range b.schemas {
		values := makers[b.kind](t, s)
		if reason := valueless[s.file]; len(values) == 0 != (reason != "") {
			t.Errorf("%s: %d values are made up, and it is listed as having none: %q", s.file, len(values), reason)
		}
		if len(values) == 0 {
			continue
		}
		checker, err := conform.Compile(t.Context(), conform.Input{Schema: s.parsed}, conform.Full, conform.DefaultLimits())
		if err != nil {
			t.Errorf("%s: %v", s.file, err)
			continue
		}
		for _, v := range values {
			b.roundTrip(t, s, checker, v)
			count++
		}
	}
	t.Logf("%d values of %d schemas", count, len(b.schemas))
}

func (b *bench) roundTrip(t *testing.T, s *schema, checker conform.Checker, v made) {
	t.Helper()
	name := s.file + " " + v.message
	e, err := b.serde.Encoder(t.Context(), serde.Ref{ID: s.id, Message: v.message})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	payload, err := e.Append(nil, []byte(v.json))
	if err != nil {
		t.Errorf("%s: %s: %v", name, v.json, err)
		return
	}
	id, rest, err := conform.ParsePrefix(payload)
	var into [conform.MaxIndexes]int32
	var index []int32
	if err == nil && b.kind == "PROTOBUF" {
		index, rest, err = conform.ParseIndexes(rest, &into)
	}
	if err != nil || int(id) != s.id {
		t.Errorf("%s: the prefix has id %d, %v", name, id, err)
		return
	}
	if err := checker.Check(rest, index); err != nil {
		t.Errorf("%s: %s does not pass: %v", name, v.json, err)
	}
	d, err := b.serde.Decode(t.Context(), "", payload, nil)
	if err != nil {
		t.Errorf("%s: %s does not come back: %v", name, v.json, err)
		return
	}
	if again, err := e.Append(nil, d.JSON); err != nil || !bytes.Equal(again, payload) {
		t.Errorf("%s: %s becomes other bytes than %s: %v", name, d.JSON, v.json, err)
	}
}
