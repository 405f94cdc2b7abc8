package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// Inputs are the places settings come from, weakest first: File, Environ,
// Sets. Nothing is read that is not named here.
type Inputs struct {
	// File is the path of a properties or YAML file (by its extension: .yaml,
	// .yml and .json are YAML), or "".
	File string
	// Environ holds NAME=value pairs, as os.Environ returns them.
	Environ []string
	// Sets holds key=value pairs, as --set takes them; the last one of a key
	// wins.
	Sets []string
}

// maxFileSize bounds a configuration file, so that a wrong path (a device, a
// log) is an error and not a full memory.
const maxFileSize = 4 << 20

// setting is one value and the place it was written.
type setting struct {
	value  string
	source Source
}

// Load merges the inputs over the defaults, writes the results into the bound
// fields, and reports every key. All mistakes are returned together, joined.
func (s *Schema) Load(in Inputs) (*Settings, error) {
	merged := map[string]setting{}
	var problems []error
	if in.File != "" {
		values, err := readFile(in.File)
		if err != nil {
			return nil, err
		}
		layer := map[string]setting{}
		for _, p := range values {
			layer[p.Key] = setting{p.Value, Source{File, fmt.Sprintf("%s:%d", in.File, p.Line)}}
		}
		s.lay(merged, layer)
	}
	s.lay(merged, fromEnviron(in.Environ))
	layer := map[string]setting{}
	for _, text := range in.Sets {
		name, value, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			problems = append(problems, fmt.Errorf("--set %s: want key=value", text))
			continue
		}
		layer[name] = setting{strings.TrimSpace(value), Source{Flag, "--set"}}
	}
	s.lay(merged, layer)
	out := &Settings{}
	problems = append(problems, s.apply(merged, out)...)
	return out, errors.Join(problems...)
}

// lay puts the values of one place over those of weaker places.
func (s *Schema) lay(merged, layer map[string]setting) {
	for old, name := range s.aliases {
		v, set := layer[old]
		if !set {
			continue
		}
		delete(layer, old)
		if _, both := layer[name]; !both {
			layer[name] = v
		}
	}
	for name, v := range layer {
		merged[name] = v
	}
}

// apply gives every merged value to its key and fills the report.
func (s *Schema) apply(merged map[string]setting, out *Settings) []error {
	var problems []error
	for _, name := range sortedKeys(merged) {
		v := merged[name]
		e := s.keys[name]
		if e == nil {
			if why := s.ignoredPrefix(name); why != "" {
				out.ignore(name, v, why)
			} else if err := s.unknown(name, v, out); err != nil {
				problems = append(problems, err)
			}
			continue
		}
		if err := e.take(v, out); err != nil {
			problems = append(problems, fmt.Errorf("%s (%s): %w", name, v.source, err))
		}
	}
	for name, e := range s.keys {
		if _, set := merged[name]; !set && e.ignored == "" && e.refuse == nil {
			out.values = append(out.values, Value{Key: name, Value: e.Default, Doc: e.Doc, Source: Source{Kind: Default}})
		}
	}
	sort.Slice(out.values, func(i, j int) bool { return out.values[i].Key < out.values[j].Key })
	return problems
}

// take stores one value under a known key.
func (e *entry) take(v setting, out *Settings) error {
	if e.ignored != "" {
		out.ignore(e.Name, v, e.ignored)
		return nil
	}
	if e.refuse != nil {
		if why := e.refuse(strings.TrimSpace(v.value)); why != "" {
			return fmt.Errorf("%q cannot be honoured: %s", v.value, why)
		}
		out.ignore(e.Name, v, "the value asks for nothing that differs here")
		return nil
	}
	if e.field.IsValid() {
		if err := assign(e.Name, e.field, v.value); err != nil {
			return err
		}
	}
	if e.Check != nil {
		if err := e.Check(v.value); err != nil {
			return err
		}
	}
	out.values = append(out.values, Value{Key: e.Name, Value: v.value, Doc: e.Doc, Source: v.source})
	return nil
}

// unknown reports a key nobody claims: an error where somebody typed it for
// this start, a warning in a file or an environment, which may hold settings
// of plugins or of other programs.
func (s *Schema) unknown(name string, v setting, out *Settings) error {
	hint := ""
	if near := nearest(name, s.names()); near != "" {
		hint = "; did you mean " + near + "?"
	}
	if v.source.Kind == Flag {
		return fmt.Errorf("%s (%s): unknown key%s", name, v.source, hint)
	}
	out.unknown = append(out.unknown, fmt.Sprintf("%s (%s): unknown key%s", name, v.source, hint))
	return nil
}

// Pair is one key of a file with the line it stands on.
type Pair struct {
	Key, Value string
	Line       int
}

func readFile(path string) ([]Pair, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	defer f.Close() //nolint:errcheck // opened for reading
	raw, err := readAll(f, maxFileSize)
	if err != nil {
		return nil, fmt.Errorf("configuration file %s: %w", path, err)
	}
	parse := ParseProperties
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml", ".json":
		parse = ParseYAML
	}
	pairs, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("configuration file %s: %w", path, err)
	}
	return pairs, nil
}
