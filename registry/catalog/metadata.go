package catalog

import (
	"encoding/json"
	"hash"
	"maps"
	"slices"
	"strconv"
)

// VersionProperty is the property of the metadata that holds the version, where it is wanted there.
const VersionProperty = "confluent:version"

// ReservedProperty is the property of the metadata with the names that fields must not have, separated by commas.
const ReservedProperty = "confluent:reserved"

// Metadata is what users say about a schema: tags by path, properties, and the names of properties that are sensitive.
// The lists are sorted sets.
type Metadata struct {
	Tags       map[string][]string `json:"tags,omitempty"`
	Properties map[string]string   `json:"properties,omitempty"`
	Sensitive  []string            `json:"sensitive,omitempty"`
}

// UnmarshalJSON reads metadata and turns its lists into sorted sets.
func (m *Metadata) UnmarshalJSON(b []byte) error {
	type plain Metadata
	if err := json.Unmarshal(b, (*plain)(m)); err != nil {
		return err
	}
	for k, v := range m.Tags {
		m.Tags[k] = sortedSet(v)
	}
	m.Sensitive = sortedSet(m.Sensitive)
	return nil
}

func sortedSet(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// sum adds the metadata to the hash of a schema.
func (m *Metadata) sum(h hash.Hash) {
	for _, k := range slices.Sorted(maps.Keys(m.Tags)) {
		sumText(h, k)
		for _, v := range m.Tags[k] {
			sumText(h, v)
		}
	}
	sumMap(h, m.Properties)
	for _, s := range m.Sensitive {
		sumText(h, s)
	}
}

// Equal says whether both are the same; lists and maps without anything are as good as none.
func (m *Metadata) Equal(o *Metadata) bool {
	if m == nil || o == nil {
		return m == o
	}
	return maps.EqualFunc(m.Tags, o.Tags, slices.Equal) && maps.Equal(m.Properties, o.Properties) && slices.Equal(m.Sensitive, o.Sensitive)
}

// Property is the value of a property; of no metadata too.
func (m *Metadata) Property(name string) (string, bool) {
	if m == nil {
		return "", false
	}
	v, ok := m.Properties[name]
	return v, ok
}

// Has says whether all of the wanted properties are there with these values.
func (m *Metadata) Has(wanted map[string]string) bool {
	if m == nil {
		return false
	}
	for k, v := range wanted {
		if have, ok := m.Properties[k]; !ok || have != v {
			return false
		}
	}
	return true
}

// VersionNumber is the version that the metadata holds, and false when there is none or it is no number.
func (m *Metadata) VersionNumber() (int32, bool) {
	text, _ := m.Property(VersionProperty)
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), err == nil
}

// WithVersion is the metadata, which may be nil, with a version.
func (m *Metadata) WithVersion(version int32) *Metadata {
	out := Metadata{}
	if m != nil {
		out = *m
	}
	out.Properties = maps.Clone(out.Properties)
	if out.Properties == nil {
		out.Properties = map[string]string{}
	}
	out.Properties[VersionProperty] = strconv.Itoa(int(version))
	return &out
}

// WithoutVersion is the metadata without a version.
func (m *Metadata) WithoutVersion() *Metadata {
	if _, ok := m.Property(VersionProperty); !ok {
		return m
	}
	out := *m
	out.Properties = maps.Clone(out.Properties)
	delete(out.Properties, VersionProperty)
	return &out
}

// MergeMetadata is the older metadata with what the newer says in addition or instead. Either may be nil.
func MergeMetadata(older, newer *Metadata) *Metadata {
	if older == nil || newer == nil {
		if newer == nil {
			return older
		}
		return newer
	}
	return &Metadata{
		Tags:       mergeMaps(older.Tags, newer.Tags),
		Properties: mergeMaps(older.Properties, newer.Properties),
		Sensitive:  sortedSet(slices.Concat(older.Sensitive, newer.Sensitive)),
	}
}

func mergeMaps[V any](older, newer map[string]V) map[string]V {
	if len(older) == 0 {
		return newer
	}
	out := maps.Clone(older)
	maps.Copy(out, newer)
	return out
}

func sumText(h hash.Hash, s string) { h.Write([]byte(s)) }

func sumMap(h hash.Hash, m map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		sumText(h, k)
		sumText(h, m[k])
	}
}
