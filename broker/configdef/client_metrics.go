package configdef

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds and default of a client metrics subscription's push interval (KIP-714).
const (
	DefaultPushInterval = 5 * time.Minute
	minPushIntervalMs   = 100
	maxPushIntervalMs   = 3_600_000
)

var clientMetricsTable = sync.OnceValue(func() *table { return newTable(clientMetricsKeys()) })

// ClientMetricsKeys returns the definitions of the configs of client metrics subscriptions by name. The caller must not
// change them.
func ClientMetricsKeys() []Key { return clientMetricsTable().keys }

// ClientMetricsKey returns the definition of one config of client metrics subscriptions.
func ClientMetricsKey(name string) (*Key, bool) { return clientMetricsTable().find(name) }

func clientMetricsKeys() []Key {
	return []Key{
		{
			Name: "interval.ms", Type: Int, Default: "300000", Importance: Medium,
			Doc: "How often clients push their metrics, in milliseconds, from 100 to 3600000.",
		},
		{
			Name: "match", Type: List, Importance: Medium,
			Doc: "Which clients the subscription is for: a list of name=pattern, the pattern a regular expression for the whole text, the names client_instance_id, client_id, client_software_name, client_software_version, client_source_address and client_source_port. All must match; an empty list is for every client.",
		},
		{
			Name: "metrics", Type: List, Importance: Medium,
			Doc: "The metrics that are asked for, by prefixes of their names; * asks for all, an empty list for none.",
		},
	}
}

// Subscription is the parsed configuration of a client metrics subscription (KIP-714).
type Subscription struct {
	// Interval is how often matching clients are asked to push.
	Interval time.Duration
	// Metrics are prefixes of names; a single "*" asks for all.
	Metrics []string
	match   map[string]*regexp.Regexp
}

// clientAttributes are the names that a match may use.
var clientAttributes = []string{
	"client_instance_id", "client_id", "client_software_name", "client_software_version", "client_source_address", "client_source_port",
}

// Matches tells whether the subscription is for the client with these attributes, by their names in match.
func (s *Subscription) Matches(client map[string]string) bool {
	for name, pattern := range s.match {
		if !pattern.MatchString(client[name]) {
			return false
		}
	}
	return true
}

// ParseSubscription reads the configs of a client metrics subscription.
func ParseSubscription(overrides map[string]string) (Subscription, error) {
	for name := range overrides {
		if _, ok := ClientMetricsKey(name); !ok {
			return Subscription{}, refused("Unknown client metrics configuration: " + name)
		}
	}
	values := map[string]Value{}
	for i := range ClientMetricsKeys() {
		k := &ClientMetricsKeys()[i]
		v, _, err := k.effective(overrides, nil)
		if err != nil {
			return Subscription{}, err
		}
		values[k.Name] = v
	}
	ms := values["interval.ms"].Int()
	if ms < minPushIntervalMs || ms > maxPushIntervalMs {
		return Subscription{}, refused(fmt.Sprintf("Invalid value %d for interval.ms, interval must be between %d and %d (1 hour)", ms, minPushIntervalMs, maxPushIntervalMs))
	}
	match, err := parseMatch(values["match"].Strings())
	if err != nil {
		return Subscription{}, err
	}
	return Subscription{Interval: time.Duration(ms) * time.Millisecond, Metrics: values["metrics"].Strings(), match: match}, nil
}

// maxPattern bounds a match pattern, so that many subscriptions stay cheap to compile.
const maxPattern = 1024

func parseMatch(patterns []string) (map[string]*regexp.Regexp, error) {
	m := make(map[string]*regexp.Regexp, len(patterns))
	for _, p := range patterns {
		name, pattern, ok := strings.Cut(p, "=")
		name, pattern = strings.TrimSpace(name), strings.TrimSpace(pattern)
		if !ok || !slices.Contains(clientAttributes, name) || len(pattern) > maxPattern {
			return nil, invalid("Illegal client matching pattern: " + p)
		}
		if _, err := regexp.Compile(pattern); err != nil { // alone first: the group below would make sense of ")("
			return nil, invalid("Illegal client matching pattern: " + p)
		}
		re, err := regexp.Compile(`^(?:` + pattern + `)$`)
		if err != nil {
			return nil, invalid("Illegal client matching pattern: " + p)
		}
		m[name] = re
	}
	return m, nil
}
