package config

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds on a configuration file: nesting, and nodes visited, which aliases
// could otherwise multiply without end.
const (
	maxYAMLDepth = 32
	maxYAMLNodes = 20_000
)

// ParseYAML reads a YAML file whose keys are Kafka's dotted names, written
// flat ("log.retention.ms: 1") or nested ("log: {retention: {ms: 1}}") or
// mixed. A sequence of scalars is a comma-separated list. A scalar keeps the
// text it was written with. A key that appears twice is an error.
func ParseYAML(raw []byte) ([]Pair, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	if doc.Kind == 0 {
		return nil, nil // an empty file
	}
	f := flattener{seen: map[string]int{}}
	if err := f.node("", &doc, 0); err != nil {
		return nil, err
	}
	return f.out, nil
}

type flattener struct {
	out   []Pair
	seen  map[string]int
	nodes int
}

func (f *flattener) node(key string, n *yaml.Node, depth int) error {
	if depth > maxYAMLDepth {
		return fmt.Errorf("line %d: nested too deeply", n.Line)
	}
	if f.nodes++; f.nodes > maxYAMLNodes {
		return fmt.Errorf("more than %d values", maxYAMLNodes)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return f.node(key, n.Content[0], depth+1)
	case yaml.AliasNode:
		return f.node(key, n.Alias, depth+1)
	case yaml.MappingNode:
		return f.mapping(key, n, depth)
	case yaml.SequenceNode:
		return f.sequence(key, n)
	default:
		return f.scalar(key, n)
	}
}

func (f *flattener) mapping(key string, n *yaml.Node, depth int) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		if name.Kind != yaml.ScalarNode || name.Value == "" {
			return fmt.Errorf("line %d: a key must be a plain word", name.Line)
		}
		full := name.Value
		if key != "" {
			full = key + "." + full
		}
		if err := f.node(full, n.Content[i+1], depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (f *flattener) sequence(key string, n *yaml.Node) error {
	parts := make([]string, 0, len(n.Content))
	for _, c := range n.Content {
		if c.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: %s: a list holds plain values only", c.Line, key)
		}
		parts = append(parts, c.Value)
	}
	return f.add(key, strings.Join(parts, ","), n.Line)
}

func (f *flattener) scalar(key string, n *yaml.Node) error {
	if key == "" {
		if n.Tag == "!!null" {
			return nil
		}
		return errors.New("want a mapping of keys to values")
	}
	if n.Tag == "!!null" {
		return f.add(key, "", n.Line)
	}
	return f.add(key, n.Value, n.Line)
}

func (f *flattener) add(key, value string, line int) error {
	if key == "" {
		return errors.New("want a mapping of keys to values")
	}
	if first, twice := f.seen[key]; twice {
		return fmt.Errorf("line %d: %s is already set on line %d", line, key, first)
	}
	f.seen[key] = line
	f.out = append(f.out, Pair{Key: key, Value: value, Line: line})
	return nil
}
