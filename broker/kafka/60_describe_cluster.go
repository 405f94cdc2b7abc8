package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeCluster (key 60), versions 0 to 2. 1: which kind of endpoint the client means to talk to (KIP-919). 2: fenced
// brokers (KIP-1073).

// The kinds of endpoints.
const (
	brokerEndpoint     int8 = 1
	controllerEndpoint int8 = 2
)

// describeCluster lists the brokers with their addresses on the listener that the client came through.
func (c *conn) describeCluster(_ context.Context, r *request, q *kmsg.DescribeClusterRequest) reply {
	resp := q.ResponseKind().(*kmsg.DescribeClusterResponse)
	switch q.EndpointType {
	case brokerEndpoint:
	case controllerEndpoint:
		resp.ErrorCode = kerr.MismatchedEndpointType.Code
		resp.ErrorMessage = optional("The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER")
	default:
		resp.ErrorCode = kerr.UnsupportedEndpointType.Code
		resp.ErrorMessage = optional(fmt.Sprintf("Unsupported endpoint type %d", q.EndpointType))
	}
	if resp.ErrorCode != 0 {
		return answer(resp)
	}
	cluster := c.node.DescribeCluster(r.caller, q.IncludeFencedBrokers)
	resp.ClusterID, resp.ControllerID = cluster.ClusterID, cluster.ControllerID
	if q.IncludeClusterAuthorizedOperations {
		resp.ClusterAuthorizedOperations = clusterOperations
	}
	for _, b := range cluster.Brokers {
		ep, ok := b.Endpoint(c.listener.name)
		if !ok {
			continue
		}
		out := kmsg.NewDescribeClusterResponseBroker()
		out.NodeID, out.Host, out.Port, out.Rack, out.IsFenced = b.ID, ep.Host, ep.Port, optional(b.Rack), b.Fenced
		resp.Brokers = append(resp.Brokers, out)
	}
	return answer(resp)
}
