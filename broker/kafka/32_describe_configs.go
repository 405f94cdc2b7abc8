package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
	"moldau/broker/configdef"
)

// DescribeConfigs (key 32), versions 0 to 4. 1: sources and synonyms (KIP-226). 3: types and documentation. 4: flexible.

// describeConfigs shows configurations.
func (c *conn) describeConfigs(_ context.Context, r *request, q *kmsg.DescribeConfigsRequest) reply {
	queries := make([]broker.ConfigQuery, len(q.Resources))
	for i, res := range q.Resources {
		queries[i] = broker.ConfigQuery{ConfigResource: configResource(res.ResourceType, res.ResourceName), Keys: res.ConfigNames}
	}
	resp := q.ResponseKind().(*kmsg.DescribeConfigsResponse)
	for _, d := range c.node.DescribeConfigs(r.caller, queries) {
		out := kmsg.NewDescribeConfigsResponseResource()
		out.ResourceType, out.ResourceName = kmsg.ConfigResourceType(d.Type), d.Name
		if out.ErrorCode, out.ErrorMessage = code(d.Err), errorMessage(d.Err); d.Err == nil {
			out.ErrorMessage = new(string) // Kafka's is empty, not null
		}
		for i := range d.Entries {
			out.Configs = append(out.Configs, describedConfig(&d.Entries[i], q))
		}
		resp.Resources = append(resp.Resources, out)
	}
	return answer(resp)
}

func configResource(t kmsg.ConfigResourceType, name string) broker.ConfigResource {
	return broker.ConfigResource{Type: broker.ResourceType(t), Name: name}
}

func describedConfig(e *configdef.Entry, q *kmsg.DescribeConfigsRequest) kmsg.DescribeConfigsResponseResourceConfig {
	out := kmsg.NewDescribeConfigsResponseResourceConfig()
	out.Name, out.Value, out.ReadOnly, out.IsSensitive = e.Name, e.Value, e.ReadOnly, e.Sensitive
	out.IsDefault = e.Source == configdef.Default
	out.Source, out.ConfigType = kmsg.ConfigSource(e.Source), kmsg.ConfigType(e.Type)
	if q.IncludeSynonyms {
		for _, s := range e.Synonyms {
			synonym := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
			synonym.Name, synonym.Value, synonym.Source = s.Name, s.Value, kmsg.ConfigSource(s.Source)
			out.ConfigSynonyms = append(out.ConfigSynonyms, synonym)
		}
	}
	if q.IncludeDocumentation {
		out.Documentation = optional(e.Doc)
	}
	return out
}
