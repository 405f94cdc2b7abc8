package main

import (
	"io"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"

	"moldau/cmd/moldau/internal/output"
)

// configValue is one config of a topic or a broker.
type configValue struct {
	Name      string  `json:"name"`
	Value     *string `json:"value"`
	Source    string  `json:"source"`
	Sensitive bool    `json:"sensitive"`
}

// shown is the value for people.
func (c *configValue) shown() string {
	switch {
	case c.Sensitive:
		return "[hidden]"
	case c.Value == nil:
		return "(unset)"
	}
	return *c.Value
}

func configValues(configs []kadm.Config) []configValue {
	out := make([]configValue, 0, len(configs))
	for _, c := range configs {
		out = append(out, configValue{Name: c.Key, Value: c.Value, Source: c.Source.String(), Sensitive: c.Sensitive})
	}
	slices.SortFunc(out, func(a, b configValue) int { return strings.Compare(a.Name, b.Name) })
	return out
}

var configList = output.List[configValue]{
	Columns: []output.Column[configValue]{
		{Head: "NAME", Text: func(c configValue) string { return c.Name }},
		{Head: "VALUE", Text: func(c configValue) string { return c.shown() }},
		{Head: "SOURCE", Text: func(c configValue) string { return c.Source }},
	},
	Name: func(c configValue) string { return c.Name },
}

// printValue prints one value in the format of -o; text is for people.
func printValue(a *app, v any, text func(io.Writer) error) error {
	return output.Value(a.out, a.format, v, text)
}

// parseConfigs reads key=value pairs.
func parseConfigs(pairs []string) (map[string]*string, error) {
	out := map[string]*string{}
	for _, p := range pairs {
		key, value, ok := strings.Cut(p, "=")
		if !ok || key == "" {
			return nil, usagePair(p)
		}
		out[key] = &value
	}
	return out, nil
}
