package config

import (
	"fmt"
	"io"
	"strings"
)

// Kind is the sort of place a value came from.
type Kind int8

// The places, weakest first.
const (
	Default Kind = iota
	File
	Environment
	Flag
)

// String returns the word that reports use.
func (k Kind) String() string {
	switch k {
	case File:
		return "file"
	case Environment:
		return "environment"
	case Flag:
		return "flag"
	default:
		return "default"
	}
}

// Source is where a value was written.
type Source struct {
	Kind  Kind
	Where string // path:line, the variable's name, the flag; empty for a default
}

// String returns for instance "file server.properties:12".
func (s Source) String() string {
	if s.Where == "" {
		return s.Kind.String()
	}
	return s.Kind.String() + " " + s.Where
}

// Value is the outcome for one key.
type Value struct {
	Key, Value string
	Source     Source
	Doc        string
	// Ignored says why the key has no effect; it is empty for one that has.
	Ignored string
}

// Settings is the report of a Load.
type Settings struct {
	values  []Value
	unknown []string
}

// Values returns every key that has a value, sorted by name, defaults
// included. Values of keys that hold secrets are hidden.
func (s *Settings) Values() []Value {
	out := make([]Value, len(s.values))
	for i, v := range s.values {
		if v.Value != "" && secret(v.Key) {
			v.Value = "[hidden]"
		}
		out[i] = v
	}
	return out
}

// Text returns the value of a key as it was written, or its default; "" for
// a key that has neither.
func (s *Settings) Text(key string) string {
	for _, v := range s.values {
		if v.Key == key {
			return v.Value
		}
	}
	return ""
}

// Set returns the keys that have an effect and were written somewhere, with
// their texts: what Kafka calls the static configuration of a broker.
func (s *Settings) Set() map[string]string {
	out := map[string]string{}
	for _, v := range s.values {
		if v.Source.Kind != Default && v.Ignored == "" {
			out[v.Key] = v.Value
		}
	}
	return out
}

// Unknown returns one line for each key that nobody claims.
func (s *Settings) Unknown() []string { return s.unknown }

// WithoutEffect returns the keys of Kafka that were written and are taken
// without effect, sorted. Values says why for each.
func (s *Settings) WithoutEffect() []string {
	var out []string
	for _, v := range s.values {
		if v.Ignored != "" {
			out = append(out, v.Key)
		}
	}
	return out
}

func (s *Settings) ignore(name string, v setting, why string) {
	s.values = append(s.values, Value{Key: name, Value: v.value, Source: v.source, Ignored: why})
}

// secret reports whether a key holds something a log must not show, by the
// words Kafka uses in the names of such keys.
func secret(key string) bool {
	for _, word := range []string{"password", "secret", "jaas.config", "keystore.key"} {
		if strings.Contains(key, word) {
			return true
		}
	}
	return false
}

// readAll reads r whole, or fails beyond limit bytes.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) > limit {
		return nil, fmt.Errorf("larger than %d bytes", limit)
	}
	return raw, nil
}
