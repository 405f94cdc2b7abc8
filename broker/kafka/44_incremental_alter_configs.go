package kafka

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
	"moldau/broker/configdef"
)

// IncrementalAlterConfigs (key 44), versions 0 and 1. 1: flexible.

// alterConfigsTimeout bounds changes of configurations; their requests carry no time.
const alterConfigsTimeout = 30 * time.Second

// incrementalAlterConfigs changes configurations one by one (KIP-339).
func (c *conn) incrementalAlterConfigs(ctx context.Context, r *request, q *kmsg.IncrementalAlterConfigsRequest) reply {
	alterations := make([]broker.ConfigAlteration, len(q.Resources))
	for i, res := range q.Resources {
		a := broker.ConfigAlteration{ConfigResource: configResource(res.ResourceType, res.ResourceName)}
		for _, config := range res.Configs {
			a.Changes = append(a.Changes, configdef.Change{Name: config.Name, Op: configdef.Op(config.Op), Value: config.Value})
		}
		alterations[i] = a
	}
	ctx, cancel := context.WithTimeout(ctx, alterConfigsTimeout)
	defer cancel()
	resp := q.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
	for _, a := range c.node.AlterConfigs(ctx, r.caller, alterations, q.ValidateOnly) {
		out := kmsg.NewIncrementalAlterConfigsResponseResource()
		out.ResourceType, out.ResourceName = kmsg.ConfigResourceType(a.Type), a.Name
		out.ErrorCode, out.ErrorMessage = code(a.Err), errorMessage(a.Err)
		resp.Resources = append(resp.Resources, out)
	}
	return answer(resp)
}
