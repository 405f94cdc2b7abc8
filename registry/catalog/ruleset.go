package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
)

// ErrRuleSet says that a rule set breaks a rule about rules. The error that wraps it says which.
var ErrRuleSet = errors.New("invalid rule set")

// RuleSet holds the rules of a schema: for moving data between versions, for what the data must be like, and for how it
// is encoded.
type RuleSet struct {
	MigrationRules []Rule `json:"migrationRules,omitempty"`
	DomainRules    []Rule `json:"domainRules,omitempty"`
	EncodingRules  []Rule `json:"encodingRules,omitempty"`
	EnableAt       string `json:"enableAt,omitempty"`
}

// Rule is one rule. Tags is a sorted set.
type Rule struct {
	Name      string            `json:"name,omitempty"`
	Doc       string            `json:"doc,omitempty"`
	Kind      string            `json:"kind,omitempty"`
	Mode      string            `json:"mode,omitempty"`
	Type      string            `json:"type,omitempty"`
	Tags      []string          `json:"tags,omitempty"`
	Params    map[string]string `json:"params,omitempty"`
	Expr      string            `json:"expr,omitempty"`
	OnSuccess string            `json:"onSuccess,omitempty"`
	OnFailure string            `json:"onFailure,omitempty"`
	Disabled  bool              `json:"disabled"`
}

var (
	ruleKinds      = []string{"TRANSFORM", "CONDITION"}
	migrationModes = []string{"UPGRADE", "DOWNGRADE", "UPDOWN"}
	domainModes    = []string{"WRITE", "READ", "WRITEREAD"}
	environments   = []string{"ALL", "CLIENT", "GATEWAY", "SERVER", "NONE"}
)

// UnmarshalJSON reads a rule set and refuses an environment that does not exist.
func (s *RuleSet) UnmarshalJSON(b []byte) error {
	type plain RuleSet
	if err := json.Unmarshal(b, (*plain)(s)); err != nil {
		return err
	}
	return oneOf("enableAt", s.EnableAt, environments)
}

// UnmarshalJSON reads a rule, fills in what it leaves out, and refuses kinds and modes that do not exist.
func (r *Rule) UnmarshalJSON(b []byte) error {
	type plain Rule
	if err := json.Unmarshal(b, (*plain)(r)); err != nil {
		return err
	}
	if r.Kind == "" {
		r.Kind = "TRANSFORM"
	}
	if r.Mode == "" {
		r.Mode = "WRITEREAD"
	}
	r.Tags = sortedSet(r.Tags)
	return errors.Join(oneOf("kind", r.Kind, ruleKinds), oneOf("mode", r.Mode, slices.Concat(migrationModes, domainModes)))
}

func oneOf(field, value string, values []string) error {
	if value == "" || slices.Contains(values, value) {
		return nil
	}
	return fmt.Errorf("%s is %q; it may be %s", field, value, strings.Join(values, ", "))
}

// Validate checks names, modes and actions. Errors wrap ErrRuleSet. It holds for no rule set at all.
func (s *RuleSet) Validate() error {
	if s == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, part := range []struct {
		rules []Rule
		modes []string
		text  string
	}{
		{s.MigrationRules, migrationModes, "Migration rules can only be UPGRADE, DOWNGRADE, UPDOWN"},
		{s.DomainRules, domainModes, "Domain rules can only be WRITE, READ, WRITEREAD"},
		{s.EncodingRules, domainModes, "Encoding rules can only be WRITE, READ, WRITEREAD"},
	} {
		for _, r := range part.rules {
			if seen[r.Name] {
				return fmt.Errorf("%w: Found rule with duplicate name '%s'", ErrRuleSet, r.Name)
			}
			seen[r.Name] = true
			if text := r.fault(); text != "" {
				return fmt.Errorf("%w: %s", ErrRuleSet, text)
			}
			if !slices.Contains(part.modes, r.Mode) {
				return fmt.Errorf("%w: %s", ErrRuleSet, part.text)
			}
		}
	}
	return nil
}

// fault says what is wrong with a rule by itself.
func (r *Rule) fault() string {
	if text := nameFault(r.Name); text != "" {
		return text
	}
	if r.Type == "" {
		return "Missing rule type"
	}
	pair := r.Mode == "WRITEREAD" || r.Mode == "UPDOWN"
	if !pair && (strings.Contains(r.OnSuccess, ",") || strings.Contains(r.OnFailure, ",")) {
		return "Multiple actions only valid with WRITEREAD and UPDOWN"
	}
	return ""
}

func nameFault(name string) string {
	if name == "" {
		return "Missing rule name"
	}
	if len(utf16.Encode([]rune(name))) > 256 {
		return "Rule name too long"
	}
	for i, c := range name {
		switch {
		case unicode.IsLetter(c), c == '_', i > 0 && (unicode.IsDigit(c) || c == '-'):
		case i == 0:
			return "Illegal initial character in rule name: " + name
		default:
			return "Illegal character in rule name: " + name
		}
	}
	return ""
}

// HasType says whether there is a rule of this type.
func (s *RuleSet) HasType(kind string) bool {
	return s != nil && slices.ContainsFunc(s.all(), func(r Rule) bool { return r.Type == kind })
}

// Empty says whether there is a rule set that says nothing.
func (s *RuleSet) Empty() bool {
	return s != nil && len(s.all()) == 0 && s.EnableAt == ""
}

func (s *RuleSet) all() []Rule {
	return slices.Concat(s.MigrationRules, s.DomainRules, s.EncodingRules)
}

// sum adds the rules to the hash of a schema.
func (s *RuleSet) sum(h hash.Hash) {
	for _, r := range s.all() {
		for _, text := range []string{r.Name, r.Doc, r.Kind, r.Mode, r.Type} {
			sumText(h, text)
		}
		for _, t := range r.Tags {
			sumText(h, t)
		}
		sumMap(h, r.Params)
		for _, text := range []string{r.Expr, r.OnSuccess, r.OnFailure} {
			sumText(h, text)
		}
		if r.Disabled {
			h.Write([]byte{1})
		}
	}
	sumText(h, s.EnableAt)
}

// Equal says whether both hold the same rules in the same order.
func (s *RuleSet) Equal(o *RuleSet) bool {
	if s == nil || o == nil {
		return s == o
	}
	return s.EnableAt == o.EnableAt && slices.EqualFunc(s.MigrationRules, o.MigrationRules, equalRules) &&
		slices.EqualFunc(s.DomainRules, o.DomainRules, equalRules) && slices.EqualFunc(s.EncodingRules, o.EncodingRules, equalRules)
}

func equalRules(a, b Rule) bool {
	tags, params := slices.Equal(a.Tags, b.Tags), maps.Equal(a.Params, b.Params)
	return tags && params && a.Name == b.Name && a.Doc == b.Doc && a.Kind == b.Kind && a.Mode == b.Mode && a.Type == b.Type &&
		a.Expr == b.Expr && a.OnSuccess == b.OnSuccess && a.OnFailure == b.OnFailure && a.Disabled == b.Disabled
}

// MergeRuleSets is the older rule set with the rules of the newer; a newer rule takes the place of one with its name.
// Either may be nil.
func MergeRuleSets(older, newer *RuleSet) *RuleSet {
	if older == nil || newer == nil {
		if newer == nil {
			return older
		}
		return newer
	}
	out := &RuleSet{
		MigrationRules: mergeRules(older.MigrationRules, newer.MigrationRules),
		DomainRules:    mergeRules(older.DomainRules, newer.DomainRules),
		EncodingRules:  mergeRules(older.EncodingRules, newer.EncodingRules),
		EnableAt:       newer.EnableAt,
	}
	if out.EnableAt == "" {
		out.EnableAt = older.EnableAt
	}
	return out
}

func mergeRules(older, newer []Rule) []Rule {
	kept := without(older, func(r Rule) bool {
		return slices.ContainsFunc(newer, func(n Rule) bool { return n.Name == r.Name })
	})
	return append(kept, newer...)
}

// Without is the rule set without the rules of these names.
func (s *RuleSet) Without(names []string) *RuleSet {
	if s == nil || len(names) == 0 {
		return s
	}
	named := func(r Rule) bool { return slices.Contains(names, r.Name) }
	return &RuleSet{
		MigrationRules: without(s.MigrationRules, named),
		DomainRules:    without(s.DomainRules, named),
		EncodingRules:  without(s.EncodingRules, named),
		EnableAt:       s.EnableAt,
	}
}

func without(rules []Rule, drop func(Rule) bool) []Rule {
	return slices.DeleteFunc(slices.Clone(rules), drop)
}
