package serde

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/sr"

	"moldau/registry/format"
)

// stored is a schema as the registry answers it.
type stored struct {
	Subject    string      `json:"subject"`
	Version    int         `json:"version"`
	ID         int         `json:"id"`
	GUID       string      `json:"guid"`
	Type       string      `json:"schemaType"`
	Text       string      `json:"schema"`
	References []Reference `json:"references"`
}

// Do asks the registry for anything that has nothing to do with payloads: body is sent as JSON, the answer is put into into;
// each may be nil. Parameters come in pairs; those with an empty value are left out. what says in an error what was
// attempted. Errors wrap ErrNotFound, ErrUnavailable or ErrRefused and the *sr.ResponseError, or are those of the context.
func (s *Serde) Do(ctx context.Context, what, method, path string, body, into any, params ...string) error {
	query := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		if params[i+1] != "" {
			query.Set(params[i], params[i+1])
		}
	}
	if len(query) > 0 {
		ctx = sr.WithParams(ctx, sr.RawParams(query))
	}
	return asked(what, s.client.Do(ctx, method, path, body, into))
}

func (s *Serde) get(ctx context.Context, what, path string, into any, params ...string) error {
	return s.Do(ctx, what, http.MethodGet, path, nil, into, params...)
}

func versionPath(subject string, version int) string {
	text := "latest"
	if version > 0 {
		text = strconv.Itoa(version)
	}
	return "/subjects/" + url.PathEscape(subject) + "/versions/" + text
}

// byID finds a schema by its id. context is the qualified name of the context in which it counts, empty for the default
// one.
func (s *Serde) byID(ctx context.Context, id int, context string) (*Schema, error) {
	var found stored
	what := fmt.Sprintf("look up the schema with the id %d", id)
	if err := s.get(ctx, what, "/schemas/ids/"+strconv.Itoa(id), &found, "subject", context); err != nil {
		return nil, err
	}
	found.ID = id
	return s.compile(ctx, &found, context)
}

// byGUID finds a schema by its GUID.
func (s *Serde) byGUID(ctx context.Context, g guid) (*Schema, error) {
	var found stored
	if err := s.get(ctx, "look up the schema "+g.String(), "/schemas/guids/"+g.String(), &found); err != nil {
		return nil, err
	}
	found.GUID = g.String()
	return s.compile(ctx, &found, contextOf(found.Subject))
}

// byVersion finds a version of a subject.
func (s *Serde) byVersion(ctx context.Context, subject string, version int) (*Schema, error) {
	var found stored
	what := fmt.Sprintf("look up version %d of subject %s", version, subject)
	if version == latest {
		what = "look up the latest version of subject " + subject
	}
	if err := s.get(ctx, what, versionPath(subject, version), &found); err != nil {
		return nil, err
	}
	return s.compile(ctx, &found, contextOf(subject))
}

// byText finds a schema by its text, and registers it if it is new and may be registered.
func (s *Serde) byText(ctx context.Context, r *Ref) (*Schema, error) {
	given := stored{Type: r.Type, Text: r.Text, References: r.References, Subject: r.Subject}
	schema, err := s.compile(ctx, &given, contextOf(r.Subject))
	if err != nil {
		return nil, err
	}
	subject := r.Subject
	if subject == "" {
		m, err := schema.codec.message(r.Message)
		if err != nil {
			return nil, err
		}
		name := schema.Name
		if m.name() != "" {
			name = m.name()
		}
		if subject, err = r.Strategy.Subject(r.Topic, r.IsKey, name); err != nil {
			return nil, err
		}
	}
	found, err := s.lookup(ctx, subject, r)
	if errors.Is(err, ErrNotFound) && r.Register {
		if err = s.register(ctx, subject, r); err == nil {
			found, err = s.lookup(ctx, subject, r)
		}
	}
	if err != nil {
		return nil, err
	}
	schema.ID, schema.Subject, schema.Version = found.ID, subject, found.Version
	schema.setGUID(found.GUID)
	if schema.GUID == "" && r.InHeader {
		if again, err := s.byID(ctx, found.ID, contextOf(subject)); err == nil {
			schema.GUID, schema.guid = again.GUID, again.guid
		}
	}
	return schema, nil
}

// request is the body that brings a schema to the registry.
type request struct {
	Text       string      `json:"schema"`
	Type       string      `json:"schemaType,omitempty"`
	References []Reference `json:"references,omitempty"`
}

func requestOf(r *Ref) request {
	body := request{Text: r.Text, Type: r.Type, References: r.References}
	if body.Type == typeAvro {
		body.Type = "" // registries that know nothing else do not know the field
	}
	return body
}

func (s *Serde) lookup(ctx context.Context, subject string, r *Ref) (stored, error) {
	var found stored
	err := s.Do(ctx, "look the schema up under "+subject, http.MethodPost, "/subjects/"+url.PathEscape(subject),
		requestOf(r), &found, "normalize", flag(r.Normalize))
	return found, err
}

func (s *Serde) register(ctx context.Context, subject string, r *Ref) error {
	return s.Do(ctx, "register the schema under "+subject, http.MethodPost, "/subjects/"+url.PathEscape(subject)+"/versions",
		requestOf(r), nil, "normalize", flag(r.Normalize))
}

func flag(b bool) string {
	if b {
		return "true"
	}
	return ""
}

// contextOf is the qualified name of the context that a subject is in, empty for the default one.
func contextOf(subject string) string {
	if rest, ok := strings.CutPrefix(subject, ":."); ok {
		if name, _, ok := strings.Cut(rest, ":"); ok && name != "" {
			return ":." + name + ":"
		}
	}
	return ""
}

// compile makes a schema of what the registry answered. References in it are looked for in its own context.
func (s *Serde) compile(ctx context.Context, from *stored, context string) (*Schema, error) {
	if from.Type == "" {
		from.Type = typeAvro
	}
	f, ok := s.formats[from.Type]
	if !ok {
		return nil, fmt.Errorf("%w: its type is %s", ErrSchema, from.Type)
	}
	g := gathering{serde: s, context: context, seen: map[string]bool{}}
	if err := g.follow(ctx, from.References); err != nil {
		return nil, err
	}
	select {
	case s.compiling <- struct{}{}:
		defer func() { <-s.compiling }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	parsed, err := f.Parse(ctx, format.Source{Text: from.Text, References: g.texts})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	out := &Schema{ID: from.ID, Subject: from.Subject, Version: from.Version, Type: from.Type, Name: parsed.Name(), size: len(from.Text)}
	for _, t := range g.texts {
		out.size += len(t.Text)
	}
	out.setGUID(from.GUID)
	if out.codec, err = newCodec(parsed); err != nil {
		return nil, err
	}
	return out, nil
}

func (s *Schema) setGUID(text string) {
	if g, err := parseGUID(text); err == nil {
		s.GUID, s.guid = g.String(), &g
	}
}

// gathering collects the texts that a schema refers to, each after those it refers to itself.
type gathering struct {
	serde   *Serde
	context string
	seen    map[string]bool
	texts   []format.Resolved
}

func (g *gathering) follow(ctx context.Context, refs []Reference) error {
	for _, ref := range refs {
		if g.seen[ref.Name] {
			continue
		}
		if len(g.seen) >= g.serde.cfg.Limits.References {
			return fmt.Errorf("%w: it refers to more than %d others", ErrSchema, g.serde.cfg.Limits.References)
		}
		g.seen[ref.Name] = true
		subject := ref.Subject
		if !strings.HasPrefix(subject, ":.") {
			subject = g.context + subject
		}
		var to stored
		what := fmt.Sprintf("look up %s, which the schema refers to: version %d of subject %s", ref.Name, ref.Version, subject)
		if err := g.serde.get(ctx, what, versionPath(subject, ref.Version), &to, "deleted", "true"); err != nil {
			return err
		}
		if err := g.follow(ctx, to.References); err != nil {
			return err
		}
		g.texts = append(g.texts, format.Resolved{Name: ref.Name, Text: to.Text})
	}
	return nil
}
