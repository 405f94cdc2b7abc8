package http

import (
	"bytes"
	"encoding/json"

	"moldau/registry"
	"moldau/registry/catalog"
)

// change is a field of a change of the config. It tells null, which unsets, from a field that is not there.
type change[T any] struct {
	set   bool
	value T
}

// UnmarshalJSON implements json.Unmarshaler. It is called for null too.
func (f *change[T]) UnmarshalJSON(b []byte) error {
	f.set = true
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	return json.Unmarshal(b, &f.value)
}

func (f *change[T]) pointer() *T {
	if !f.set {
		return nil
	}
	return &f.value
}

// configRequest is the body of a change of the config.
type configRequest struct {
	Alias               change[string]            `json:"alias"`
	AliasForDeks        change[string]            `json:"aliasForDeks"`
	Normalize           change[*bool]             `json:"normalize"`
	ValidateFields      change[*bool]             `json:"validateFields"`
	ValidateNewSchemas  change[*bool]             `json:"validateNewSchemas"`
	ValidateRules       change[*bool]             `json:"validateRules"`
	Compatibility       change[string]            `json:"compatibility"`
	CompatibilityPolicy change[string]            `json:"compatibilityPolicy"`
	CompatibilityGroup  change[string]            `json:"compatibilityGroup"`
	DefaultMetadata     change[*catalog.Metadata] `json:"defaultMetadata"`
	OverrideMetadata    change[*catalog.Metadata] `json:"overrideMetadata"`
	DefaultRuleSet      change[*catalog.RuleSet]  `json:"defaultRuleSet"`
	OverrideRuleSet     change[*catalog.RuleSet]  `json:"overrideRuleSet"`
}

// configAnswer is the answer to a change: the config with the name that requests have for the level.
type configAnswer struct {
	catalog.Config
	Level         string `json:"compatibilityLevel,omitempty"` // hides the one of Config
	Compatibility string `json:"compatibility,omitempty"`
}

func getConfig(c *call) (any, error) {
	return c.registry.SubjectConfig(c.Context(), c.param("subject"), c.flag("defaultToGlobal"))
}

func putConfig(c *call) (any, error) {
	var b configRequest
	if err := c.decode(&b); err != nil {
		return nil, err
	}
	cfg, err := c.registry.SetConfig(c.Context(), c.param("subject"), registry.ConfigUpdate{
		Alias: b.Alias.pointer(), AliasForDeks: b.AliasForDeks.pointer(),
		Normalize: b.Normalize.pointer(), ValidateFields: b.ValidateFields.pointer(),
		ValidateNewSchemas: b.ValidateNewSchemas.pointer(), ValidateRules: b.ValidateRules.pointer(),
		CompatibilityLevel: b.Compatibility.pointer(), CompatibilityPolicy: b.CompatibilityPolicy.pointer(),
		CompatibilityGroup: b.CompatibilityGroup.pointer(),
		DefaultMetadata:    b.DefaultMetadata.pointer(), OverrideMetadata: b.OverrideMetadata.pointer(),
		DefaultRuleSet: b.DefaultRuleSet.pointer(), OverrideRuleSet: b.OverrideRuleSet.pointer(),
	})
	if err != nil {
		return nil, err
	}
	return configAnswer{Config: *cfg, Compatibility: cfg.CompatibilityLevel}, nil
}

func deleteConfig(c *call) (any, error) {
	return c.registry.DeleteConfig(c.Context(), c.param("subject"))
}
