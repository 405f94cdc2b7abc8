package configdef

import (
	"maps"
	"slices"
)

// Source says where a value comes from. The numbers are those of DescribeConfigs.
type Source int8

// The sources that this broker has.
const (
	DynamicTopic         Source = 1
	DynamicBroker        Source = 2
	DynamicDefaultBroker Source = 3
	StaticBroker         Source = 4
	Default              Source = 5
	DynamicBrokerLogger  Source = 6
	ClientMetrics        Source = 7
	Group                Source = 8
)

// Entry is one config of a resource, as DescribeConfigs shows it.
type Entry struct {
	Name string
	// Value is the canonical text of the value in force, nil for null and for sensitive ones.
	Value *string
	// Source is where Value comes from.
	Source Source
	// Type is 0 for configs that this broker doesn't know.
	Type Type
	// ReadOnly says that the value can't be changed through the protocol.
	ReadOnly bool
	// Sensitive says that the value is hidden.
	Sensitive bool
	// Synonyms are all settings that could provide the value, the strongest first.
	Synonyms []EntrySynonym
	// Doc is the documentation, empty where there is none.
	Doc string
}

// EntrySynonym is one setting that could provide the value of an Entry.
type EntrySynonym struct {
	Name   string
	Value  *string
	Source Source
}

// DescribeTopic returns all configs of a topic with these overrides on a broker with these layers, by name.
func DescribeTopic(overrides map[string]string, layers Layers) []Entry {
	keys := TopicKeys()
	broker := layers.InForce()
	entries := make([]Entry, 0, len(keys))
	for i := range keys {
		k := &keys[i]
		text, own := overrides[k.Name]
		if k.Internal && !own {
			continue
		}
		e := k.entry()
		if v, set, err := k.effective(overrides, broker); err == nil && set {
			e.Value = k.show(v.String())
		}
		if own {
			e.Synonyms = append(e.Synonyms, EntrySynonym{k.Name, k.show(text), DynamicTopic})
		}
		names := make([]string, len(k.Synonyms))
		for i, s := range k.Synonyms {
			names[i] = s.Name
		}
		e.Synonyms = append(e.Synonyms, layers.synonyms(names)...)
		e.settle()
		entries = append(entries, e)
	}
	return entries
}

// DescribeBroker returns all configs of a broker with these layers, by name: those of the table, and those it was
// started with that nobody knows, whose values are hidden because nobody knows what they are.
func DescribeBroker(layers Layers) []Entry {
	inForce := layers.InForce()
	var entries []Entry
	for i := range BrokerKeys() {
		k := &BrokerKeys()[i]
		e := k.entry()
		e.ReadOnly = k.Scope == ReadOnly
		if text, ok := inForce[k.Name]; ok {
			e.Value = k.canonical(text)
		} else if !k.NoDefault {
			e.Value = k.show(k.Default)
		}
		e.Synonyms = layers.synonyms(family(k.Name))
		for len(e.Synonyms) > 0 && e.Synonyms[0].Name != k.Name {
			e.Synonyms = e.Synonyms[1:] // settings of another name, which say nothing about this one
		}
		e.settle()
		entries = append(entries, e)
	}
	for name := range inForce {
		if _, ok := BrokerKey(name); !ok {
			e := Entry{Name: name, ReadOnly: true, Sensitive: true, Synonyms: layers.synonyms([]string{name})}
			e.settle()
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, byName)
	return entries
}

// DescribeClusterDefault returns the dynamic configs that hold for all brokers, by name.
func DescribeClusterDefault(cluster map[string]string) []Entry {
	entries := make([]Entry, 0, len(cluster))
	layers := Layers{Cluster: cluster}
	for _, name := range slices.Sorted(maps.Keys(cluster)) {
		e := Entry{Name: name, Sensitive: true}
		if k, ok := BrokerKey(name); ok {
			e = k.entry()
			e.Value = k.canonical(cluster[name])
		}
		e.Synonyms = layers.synonyms([]string{name})[:1]
		e.settle()
		entries = append(entries, e)
	}
	return entries
}

// DescribeClientMetrics returns all configs of a client metrics subscription, by name.
func DescribeClientMetrics(overrides map[string]string) []Entry {
	keys := ClientMetricsKeys()
	entries := make([]Entry, 0, len(keys))
	for i := range keys {
		k := &keys[i]
		e := k.entry()
		if text, ok := overrides[k.Name]; ok {
			e.Value = k.canonical(text)
			e.Synonyms = []EntrySynonym{{k.Name, e.Value, ClientMetrics}}
		} else {
			e.Value = k.show(k.Default)
		}
		e.settle()
		entries = append(entries, e)
	}
	return entries
}

func byName(a, b Entry) int {
	if a.Name < b.Name {
		return -1
	}
	if a.Name > b.Name {
		return 1
	}
	return 0
}

// entry is the part of an entry that doesn't depend on values.
func (k *Key) entry() Entry {
	return Entry{Name: k.Name, Type: k.Type, Sensitive: k.Sensitive(), Doc: k.documentation()}
}

// documentation is the text for clients: what the config is for, and what isn't there yet.
func (k *Key) documentation() string {
	switch k.Status {
	case Honoured:
		return k.Doc
	case Partly:
		return k.Doc + " Honoured in part: " + k.Reason + "."
	default:
		return k.Doc + " Without effect yet: " + k.Reason + "."
	}
}

// show returns text, or null where it is sensitive.
func (k *Key) show(text string) *string {
	if k.Sensitive() {
		return nil
	}
	return &text
}

// canonical returns the canonical form of a text, or the text itself where it can't be read.
func (k *Key) canonical(text string) *string {
	if v, err := k.Parse(text); err == nil {
		text = v.String()
	}
	return k.show(text)
}

// settle takes the source of the strongest synonym.
func (e *Entry) settle() {
	e.Source = Default
	if len(e.Synonyms) > 0 {
		e.Source = e.Synonyms[0].Source
	}
}

// family returns a broker config and those that say the same in another unit, the strongest first.
func family(name string) []string {
	for _, tk := range TopicKeys() {
		if !slices.ContainsFunc(tk.Synonyms, func(s Synonym) bool { return s.Name == name }) {
			continue
		}
		names := make([]string, len(tk.Synonyms))
		for i, s := range tk.Synonyms {
			names[i] = s.Name
		}
		return names
	}
	return []string{name}
}

// synonyms returns every setting of the named broker configs: by layer, within a layer in the order of the names, at the
// end the defaults.
func (l Layers) synonyms(names []string) []EntrySynonym {
	var all []EntrySynonym
	for _, layer := range []struct {
		texts  map[string]string
		source Source
	}{
		{l.Broker, DynamicBroker},
		{l.Cluster, DynamicDefaultBroker},
		{l.Static, StaticBroker},
	} {
		for _, name := range names {
			if text, ok := layer.texts[name]; ok {
				all = append(all, EntrySynonym{name, shownBrokerConfig(name, text), layer.source})
			}
		}
	}
	for _, name := range names {
		if k, ok := BrokerKey(name); ok && !k.NoDefault {
			all = append(all, EntrySynonym{name, k.show(k.Default), Default})
		}
	}
	return all
}

// shownBrokerConfig hides what is sensitive, or unknown and therefore perhaps sensitive.
func shownBrokerConfig(name, text string) *string {
	k, ok := BrokerKey(name)
	if !ok {
		return nil
	}
	return k.show(text)
}
