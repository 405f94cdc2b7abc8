package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// GetTelemetrySubscriptions (key 71), version 0 (KIP-714).

// getTelemetrySubscriptions tells a client which metrics of its own to push.
func (c *conn) getTelemetrySubscriptions(_ context.Context, r *request, q *kmsg.GetTelemetrySubscriptionsRequest) reply {
	resp := q.ResponseKind().(*kmsg.GetTelemetrySubscriptionsResponse)
	s, err := c.node.GetTelemetrySubscription(r.caller, q.ClientInstanceID)
	if err != nil {
		resp.ErrorCode = code(err)
		return answer(resp)
	}
	resp.ClientInstanceID, resp.SubscriptionID = s.ClientInstanceID, s.SubscriptionID
	resp.AcceptedCompressionTypes = s.Codecs
	resp.PushIntervalMillis, resp.TelemetryMaxBytes = int32(s.PushInterval.Milliseconds()), int32(s.MaxBytes)
	resp.DeltaTemporality, resp.RequestedMetrics = true, s.Metrics
	return answer(resp)
}
