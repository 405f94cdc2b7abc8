package schemas

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"moldau/registry/format"
)

// avroValues makes two values up: the shortest, and one in which unions have their last branch and lists an item.
func avroValues(t *testing.T, s *schema) []made {
	t.Helper()
	text, err := s.parsed.Formatted(format.FormResolved)
	if err != nil {
		t.Fatal(err)
	}
	var root any
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		t.Fatal(err)
	}
	var out []made
	for _, depth := range []int{0, 4} {
		g := avroMaker{named: map[string]map[string]any{}, full: depth}
		g.learn(root, "")
		value, err := json.Marshal(g.value(root, "", 0))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, made{json: string(value)})
	}
	return out
}

// avroMaker makes values up. Down to the depth full they hold as much as they can, below as little.
type avroMaker struct {
	named map[string]map[string]any
	full  int
}

// learn remembers the named types.
func (g *avroMaker) learn(typ any, space string) {
	switch typ := typ.(type) {
	case []any:
		for _, b := range typ {
			g.learn(b, space)
		}
	case map[string]any:
		space = g.define(typ, space)
		for _, key := range []string{"type", "items", "values"} {
			if _, leaf := typ[key].(string); !leaf {
				g.learn(typ[key], space)
			}
		}
		fields, _ := typ["fields"].([]any)
		for _, f := range fields {
			g.learn(f.(map[string]any)["type"], space)
		}
	}
}

// define remembers a type if it has a name, and answers the namespace inside it.
func (g *avroMaker) define(typ map[string]any, space string) string {
	name, ok := typ["name"].(string)
	if !ok {
		return space
	}
	if own, ok := typ["namespace"].(string); ok {
		space = own
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		space, name = name[:i], name[i+1:]
	}
	typ["name"], typ["namespace"] = name, space
	g.named[full(name, space)] = typ
	return space
}

func full(name, space string) string {
	if space == "" || strings.Contains(name, ".") {
		return name
	}
	return space + "." + name
}

// value makes a value of a type up.
func (g *avroMaker) value(typ any, space string, depth int) any {
	switch typ := typ.(type) {
	case []any:
		return g.union(typ, space, depth)
	case string:
		if named, ok := g.byName(typ, space); ok {
			return g.object(named, space, depth)
		}
		return avroPrimitive(typ, "", nil)
	case map[string]any:
		return g.object(typ, space, depth)
	}
	panic(fmt.Sprintf("what is %v?", typ))
}

func (g *avroMaker) byName(name, space string) (map[string]any, bool) {
	if named, ok := g.named[full(name, space)]; ok {
		return named, true
	}
	named, ok := g.named[name]
	return named, ok
}

func (g *avroMaker) object(typ map[string]any, space string, depth int) any {
	kind, ok := typ["type"].(string)
	if !ok {
		return g.value(typ["type"], space, depth)
	}
	if own, ok := typ["namespace"].(string); ok {
		space = own
	}
	switch kind {
	case "record", "error":
		out := map[string]any{}
		for _, f := range typ["fields"].([]any) {
			field := f.(map[string]any)
			out[field["name"].(string)] = g.value(field["type"], space, depth+1)
		}
		return out
	case "enum":
		symbols := typ["symbols"].([]any)
		return symbols[len(symbols)-1]
	case "array":
		if depth >= g.full {
			return []any{}
		}
		return []any{g.value(typ["items"], space, depth+1)}
	case "map":
		if depth >= g.full {
			return map[string]any{}
		}
		return map[string]any{"kéy": g.value(typ["values"], space, depth+1)}
	case "fixed":
		return strings.Repeat("\x01", int(typ["size"].(float64)))
	}
	if named, ok := g.byName(kind, space); ok {
		return g.object(named, space, depth)
	}
	logical, _ := typ["logicalType"].(string)
	return avroPrimitive(kind, logical, typ)
}

func (g *avroMaker) union(branches []any, space string, depth int) any {
	chosen := branches[len(branches)-1]
	if depth >= g.full {
		for _, b := range branches {
			if g.name(b, space) == "null" {
				return nil
			}
		}
		chosen = branches[0]
	}
	name := g.name(chosen, space)
	if name == "null" {
		return nil
	}
	return map[string]any{name: g.value(chosen, space, depth+1)}
}

// name is what a union calls a branch.
func (g *avroMaker) name(branch any, space string) string {
	switch b := branch.(type) {
	case string:
		if named, ok := g.byName(b, space); ok {
			return g.name(named, space)
		}
		return b
	case map[string]any:
		if name, ok := b["name"].(string); ok {
			own, _ := b["namespace"].(string)
			return full(name, own)
		}
		return g.name(b["type"], space)
	}
	panic(fmt.Sprintf("what is %v?", branch))
}

func avroPrimitive(kind, logical string, typ map[string]any) any {
	switch kind {
	case "null":
		return nil
	case "boolean":
		return true
	case "int":
		return 7
	case "long":
		return int64(math.MaxInt32) + 1
	case "float", "double":
		return 0.5
	case "bytes":
		if logical == "big-decimal" {
			return "\u0002\u0007\u0000" // one byte, 7, and a scale of 0
		}
		return "\u0007"
	case "string":
		if logical == "uuid" {
			return "123e4567-e89b-42d3-a456-426614174000"
		}
		return "grüße"
	}
	panic(fmt.Sprintf("what is %s in %v?", kind, typ))
}
