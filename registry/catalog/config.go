package catalog

import (
	"slices"
	"strings"
)

// The levels of compatibility.
const (
	None               = "NONE"
	Backward           = "BACKWARD"
	BackwardTransitive = "BACKWARD_TRANSITIVE"
	Forward            = "FORWARD"
	ForwardTransitive  = "FORWARD_TRANSITIVE"
	Full               = "FULL"
	FullTransitive     = "FULL_TRANSITIVE"
)

// The policies of compatibility.
const (
	Strict  = "STRICT"
	Lenient = "LENIENT"
)

var levels = []string{None, Backward, BackwardTransitive, Forward, ForwardTransitive, Full, FullTransitive}

// ParseLevel finds a level of compatibility in any case of letters.
func ParseLevel(text string) (level string, ok bool) {
	level = strings.ToUpper(text)
	return level, slices.Contains(levels, level)
}

// ParsePolicy finds a policy in any case of letters.
func ParsePolicy(text string) (policy string, ok bool) {
	policy = strings.ToUpper(text)
	return policy, policy == Strict || policy == Lenient
}

// Config is what can be set for a subject, a context, or all of them. What is nil or empty is not set.
type Config struct {
	Alias               string    `json:"alias,omitempty"`
	AliasForDeks        string    `json:"aliasForDeks,omitempty"`
	Normalize           *bool     `json:"normalize,omitempty"`
	ValidateFields      *bool     `json:"validateFields,omitempty"`
	ValidateNewSchemas  *bool     `json:"validateNewSchemas,omitempty"`
	ValidateRules       *bool     `json:"validateRules,omitempty"`
	CompatibilityLevel  string    `json:"compatibilityLevel,omitempty"`
	CompatibilityPolicy string    `json:"compatibilityPolicy,omitempty"`
	CompatibilityGroup  string    `json:"compatibilityGroup,omitempty"`
	DefaultMetadata     *Metadata `json:"defaultMetadata,omitempty"`
	OverrideMetadata    *Metadata `json:"overrideMetadata,omitempty"`
	DefaultRuleSet      *RuleSet  `json:"defaultRuleSet,omitempty"`
	OverrideRuleSet     *RuleSet  `json:"overrideRuleSet,omitempty"`
}

// HasDefaultsOrOverrides says whether the config changes the metadata or rules of schemas.
func (c *Config) HasDefaultsOrOverrides() bool {
	return c.DefaultMetadata != nil || c.OverrideMetadata != nil || c.DefaultRuleSet != nil || c.OverrideRuleSet != nil
}

// merge is the config of a subject with what it leaves to the global one.
func (c *Config) merge(global *Config) *Config {
	out := *c
	orFlag(&out.Normalize, global.Normalize)
	orFlag(&out.ValidateFields, global.ValidateFields)
	orFlag(&out.ValidateNewSchemas, global.ValidateNewSchemas)
	orFlag(&out.ValidateRules, global.ValidateRules)
	if out.CompatibilityPolicy == "" {
		out.CompatibilityPolicy = global.CompatibilityPolicy
	}
	if out.CompatibilityGroup == "" {
		out.CompatibilityGroup = global.CompatibilityGroup
	}
	return &out
}

func orFlag(have **bool, other *bool) {
	if *have == nil {
		*have = other
	}
}

// True says whether a flag is set to true.
func True(flag *bool) bool { return flag != nil && *flag }
