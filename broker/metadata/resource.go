package metadata

import (
	"fmt"
	"strings"
)

// ResourceType says what a dynamic configuration belongs to. The numbers are the protocol's.
type ResourceType int8

// The resource types that can carry a dynamic configuration.
const (
	TopicResource         ResourceType = 2
	BrokerResource        ResourceType = 4 // name: broker id, or "" for the default of all brokers
	ClientMetricsResource ResourceType = 16
	GroupResource         ResourceType = 32
)

// Resource names the owner of a dynamic configuration.
type Resource struct {
	Type ResourceType
	Name string
}

// resourceDirs are the words for resource types in keys of the store.
var resourceDirs = map[ResourceType]string{
	BrokerResource:        "broker",
	ClientMetricsResource: "client-metrics",
	GroupResource:         "group",
}

// String is the word for the type in keys and messages.
func (t ResourceType) String() string {
	if t == TopicResource {
		return "topic"
	}
	if dir, ok := resourceDirs[t]; ok {
		return dir
	}
	return fmt.Sprintf("resource type %d", int8(t))
}

// parseResource reads the part of a configuration key behind its prefix.
func parseResource(s string) (Resource, bool) {
	dir, name, ok := strings.Cut(s, "/")
	if !ok {
		return Resource{}, false
	}
	for t, d := range resourceDirs {
		if d == dir {
			return Resource{Type: t, Name: name}, true
		}
	}
	return Resource{}, false
}
