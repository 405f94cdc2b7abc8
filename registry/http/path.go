package http

import (
	"net/http"
	"net/url"
	"strings"

	"moldau/registry/catalog"
)

// path is the path of a request in its segments. They are split before they are unescaped, so that a slash in the name of
// a subject stays inside its segment.
type path []string

func parsePath(escaped string) (path, error) {
	var out path
	for segment := range strings.SplitSeq(escaped, "/") {
		if segment == "" {
			continue
		}
		text, err := url.PathUnescape(segment)
		if err != nil {
			return nil, problem(http.StatusBadRequest, "The path can't be read: %v", err)
		}
		out = append(out, text)
	}
	return out, nil
}

// qualify takes a context in front of the path, /contexts/.ctx/…, and puts it to what it means: the subject, or the
// query's subject or prefix.
func (p *path) qualify(query url.Values) error {
	s := *p
	if len(s) < 2 || s[0] != "contexts" {
		return nil
	}
	prefix, err := catalog.ContextPrefix(s[1])
	if err != nil {
		return problem(http.StatusBadRequest, "%s", strings.TrimPrefix(err.Error(), catalog.ErrContextName.Error()+": "))
	}
	if len(s) == 2 { // the context itself
		s[1] = prefix
		return nil
	}
	s = s[2:]
	*p = s
	for i := 1; i < len(s); i++ {
		if named := s[i-1] == "subjects" || i == 1 && (s[0] == "config" || s[0] == "mode"); named {
			if !catalog.HasContext(s[i]) {
				s[i] = prefix + s[i]
			}
			break
		}
	}
	switch {
	case len(s) == 1 && (s[0] == "config" || s[0] == "mode"):
		if prefix != "" {
			*p = append(s, prefix)
		}
	case len(s) > 1 && s[0] == "schemas" && s[1] == "ids":
		qualifyQuery(query, "subject", prefix)
	case len(s) == 1 && (s[0] == "schemas" || s[0] == "subjects"):
		qualifyQuery(query, "subjectPrefix", prefix)
	}
	return nil
}

func qualifyQuery(query url.Values, name, prefix string) {
	if value := query.Get(name); !catalog.HasContext(value) {
		query.Set(name, prefix+value)
	}
}

// replaceAliases puts subjects in the place of the names that stand for them.
func (p path) replaceAliases(alias func(string) string, query url.Values) {
	for i := 1; i < len(p); i++ {
		if p[i-1] == "subjects" {
			p[i] = alias(p[i])
			break
		}
	}
	if subject := query.Get("subject"); subject != "" && len(p) > 1 && p[0] == "schemas" && p[1] == "ids" {
		query.Set("subject", alias(subject))
	}
}
