package configdef

// Key is the definition of one config.
type Key struct {
	// Name is Kafka's name, such as retention.ms.
	Name string
	// Type decides how texts are read.
	Type Type
	// Default is the value without any setting. It is meaningless when NoDefault is set.
	Default string
	// NoDefault marks configs that are unset (null) by default.
	NoDefault bool
	// Valid narrows what the type permits; nil permits everything.
	Valid Validator
	// Importance is Kafka's.
	Importance Importance
	// Scope says how a broker config may be changed. Configs of other resources may always be changed.
	Scope Scope
	// Synonyms are the broker configs that a topic config falls back to, the strongest first.
	Synonyms []Synonym
	// Internal configs are Kafka's own for tests: accepted, and shown only where they are set.
	Internal bool
	// Own marks configs that only this broker has.
	Own bool
	// Status tells whether the broker acts on the config, and Reason why not, or what is missing.
	Status Status
	Reason string
	// Doc explains the config in one or more sentences.
	Doc string
}

// Synonym is a broker config that provides the value of a topic config.
type Synonym struct {
	// Name is the broker config.
	Name string
	// Scale turns its unit into the topic config's: 3600000 for hours to milliseconds, 1 for the same unit, and negative
	// numbers become -1; 0 takes the value as it is.
	Scale int64
}

// Sensitive tells whether values must not be shown.
func (k *Key) Sensitive() bool { return k.Type == Password }

// Parse reads text as a value of the config and checks it.
func (k *Key) Parse(text string) (Value, error) {
	v, why := parseValue(k.Type, text)
	if why != "" {
		return Value{}, invalidValue(k.Name, k.shown(text), why)
	}
	if k.Valid != nil {
		if why := k.Valid.check(k.Name, v); why != nil {
			return Value{}, invalidValue(k.Name, k.shown(why.value), why.text)
		}
	}
	return v, nil
}

// shown hides the value of sensitive configs in error texts.
func (k *Key) shown(text string) string {
	if k.Sensitive() {
		return "[hidden]"
	}
	return text
}

// table is a set of keys in order, found by name.
type table struct {
	keys  []Key
	index map[string]int
}

func newTable(keys []Key) *table {
	t := &table{keys: keys, index: make(map[string]int, len(keys))}
	for i := range keys {
		t.index[keys[i].Name] = i
	}
	return t
}

func (t *table) find(name string) (*Key, bool) {
	i, ok := t.index[name]
	if !ok {
		return nil, false
	}
	return &t.keys[i], true
}
