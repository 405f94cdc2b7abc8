package schemas

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"moldau/registry/format/jsonschema"
)

// jsonValues makes a value up that the schema accepts: the first that it does of those that hold what is required only, and
// those that choose another branch where there is a choice.
func jsonValues(t *testing.T, s *schema) []made {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(s.body.Schema)))
	var root any
	if err := d.Decode(&root); err != nil {
		t.Fatal(err)
	}
	for choice := range 8 {
		g := jsonMaker{root: root, choice: choice}
		value, err := json.Marshal(g.value(root, 0))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.parsed.(*jsonschema.Schema).Accept(string(value)); err == nil {
			return []made{{json: string(value)}}
		} else if choice == 7 {
			t.Logf("%s: %s: %v", s.file, value, err)
		}
	}
	return nil
}

// jsonMaker makes values up.
type jsonMaker struct {
	root   any
	choice int // which branch to take where there is a choice
}

// maxMade is how deeply values nest.
const maxMade = 8

func (g *jsonMaker) value(schema any, depth int) any {
	s, ok := schema.(map[string]any)
	if !ok || depth > maxMade {
		return map[string]any{}
	}
	if v, ok := s["const"]; ok {
		return v
	}
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		return list[0]
	}
	if ref, ok := s["$ref"].(string); ok {
		return g.value(g.resolve(ref), depth+1)
	}
	made := g.typed(s, depth)
	for _, word := range []string{"allOf", "oneOf", "anyOf"} {
		branches, _ := s[word].([]any)
		if len(branches) == 0 {
			continue
		}
		if word != "allOf" {
			branches = branches[g.choice%len(branches):][:1]
		}
		for _, b := range branches {
			made = merged(made, g.value(b, depth+1), s["type"] != nil)
		}
	}
	if made == nil {
		return map[string]any{}
	}
	return made
}

// merged is what two parts of a schema ask for together.
func merged(a, b any, typed bool) any {
	object, isObject := a.(map[string]any)
	more, also := b.(map[string]any)
	switch {
	case isObject && also:
		out := maps.Clone(object)
		maps.Copy(out, more)
		return out
	case a == nil || !typed && isObject && len(object) == 0:
		return b
	}
	return a
}

// typed makes a value of the schema's own type; nil where it names none.
func (g *jsonMaker) typed(s map[string]any, depth int) any {
	kind, _ := s["type"].(string)
	if list, ok := s["type"].([]any); ok && len(list) > 0 {
		kind, _ = list[g.choice%len(list)].(string)
	}
	if kind == "" && (s["properties"] != nil || s["required"] != nil) {
		kind = "object"
	}
	switch kind {
	case "object":
		return g.object(s, depth)
	case "array":
		least, _ := s["minItems"].(float64)
		items := []any{}
		for i := range int(least) {
			items = append(items, g.item(s, i, depth))
		}
		return items
	case "string":
		return text(s)
	case "integer", "number":
		least, _ := s["minimum"].(float64)
		if above, ok := s["exclusiveMinimum"].(float64); ok {
			least = above + 1
		}
		if most, ok := s["maximum"].(float64); ok {
			least = math.Min(most, least)
		}
		return least
	case "boolean":
		return true
	}
	return nil
}

func (g *jsonMaker) item(s map[string]any, i, depth int) any {
	for _, word := range []string{"prefixItems", "items"} {
		switch items := s[word].(type) {
		case []any:
			if i < len(items) {
				return g.value(items[i], depth+1)
			}
		case map[string]any:
			return g.value(items, depth+1)
		}
	}
	return i
}

func (g *jsonMaker) object(s map[string]any, depth int) any {
	properties, _ := s["properties"].(map[string]any)
	out := map[string]any{}
	required, _ := s["required"].([]any)
	for _, name := range required {
		if name, ok := name.(string); ok {
			out[name] = g.value(properties[name], depth+1)
		}
	}
	least, _ := s["minProperties"].(float64)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if len(out) >= int(least) {
			break
		}
		out[name] = g.value(properties[name], depth+1)
	}
	return out
}

// texts are strings of which each of the patterns matches one.
var texts = []string{
	"", "a", "1", "1.0", "1.0.0", "https://example.com/", "2026-01-02", "urn:a:b", "A.B", "en-US", "urn:pactspec:a:b", strings.Repeat("0", 64),
}

// text makes a string up that is as long as it must be, and of its format.
func text(s map[string]any) string {
	switch s["format"] {
	case "uri", "iri":
		return "https://example.com/"
	case "date-time":
		return "2026-01-02T03:04:05Z"
	case "date":
		return "2026-01-02"
	case "email":
		return "a@example.com"
	case "uuid":
		return "123e4567-e89b-42d3-a456-426614174000"
	}
	if examples, ok := s["examples"].([]any); ok && len(examples) > 0 {
		if example, ok := examples[0].(string); ok {
			return example
		}
	}
	if pattern, ok := s["pattern"].(string); ok {
		if p, err := regexp.Compile(pattern); err == nil {
			if i := slices.IndexFunc(texts, p.MatchString); i >= 0 {
				return texts[i]
			}
		}
	}
	least, _ := s["minLength"].(float64)
	return strings.Repeat("a", int(least))
}

// resolve follows a reference within the schema.
func (g *jsonMaker) resolve(ref string) any {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	at := g.root
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if step == "" {
			continue
		}
		step = strings.NewReplacer("~1", "/", "~0", "~", "%24", "$").Replace(step)
		switch here := at.(type) {
		case map[string]any:
			at = here[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(here) {
				return nil
			}
			at = here[i]
		default:
			return nil
		}
	}
	return at
}
