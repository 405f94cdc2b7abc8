package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
	"moldau/broker/configdef"
)

// AlterConfigs (key 33), versions 0 to 2. 2: flexible. It replaces all settings of a resource by those given, which is why
// clients should use IncrementalAlterConfigs.

// alterConfigs replaces configurations.
func (c *conn) alterConfigs(ctx context.Context, r *request, q *kmsg.AlterConfigsRequest) reply {
	alterations := make([]broker.ConfigAlteration, len(q.Resources))
	for i, res := range q.Resources {
		a := broker.ConfigAlteration{ConfigResource: configResource(res.ResourceType, res.ResourceName), Replace: true}
		for _, config := range res.Configs {
			a.Changes = append(a.Changes, configdef.Change{Name: config.Name, Value: config.Value})
		}
		alterations[i] = a
	}
	ctx, cancel := context.WithTimeout(ctx, alterConfigsTimeout)
	defer cancel()
	resp := q.ResponseKind().(*kmsg.AlterConfigsResponse)
	for _, a := range c.node.AlterConfigs(ctx, r.caller, alterations, q.ValidateOnly) {
		out := kmsg.NewAlterConfigsResponseResource()
		out.ResourceType, out.ResourceName = kmsg.ConfigResourceType(a.Type), a.Name
		out.ErrorCode, out.ErrorMessage = code(a.Err), errorMessage(a.Err)
		resp.Resources = append(resp.Resources, out)
	}
	return answer(resp)
}
