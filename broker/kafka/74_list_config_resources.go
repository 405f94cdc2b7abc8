package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// ListConfigResources (key 74), versions 0 and 1. Version 0 lists client metrics subscriptions only (KIP-1000), version 1
// the types that the client asks for, or all (KIP-1142).

// listConfigResources lists what has a configuration.
func (c *conn) listConfigResources(_ context.Context, r *request, q *kmsg.ListConfigResourcesRequest) reply {
	types := []broker.ResourceType{broker.ClientMetricsResource}
	if q.Version >= 1 {
		types = nil
	}
	for _, t := range q.ResourceTypes {
		types = append(types, broker.ResourceType(t))
	}
	resp := q.ResponseKind().(*kmsg.ListConfigResourcesResponse)
	found, err := c.node.ListConfigResources(r.caller, types)
	resp.ErrorCode = code(err)
	for _, res := range found {
		out := kmsg.NewListConfigResourcesResponseConfigResource()
		out.Name, out.Type = res.Name, int8(res.Type)
		resp.ConfigResources = append(resp.ConfigResources, out)
	}
	return answer(resp)
}
