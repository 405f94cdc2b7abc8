package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// PushTelemetry (key 72), version 0 (KIP-714).

// pushTelemetry takes the metrics of a client.
func (c *conn) pushTelemetry(_ context.Context, r *request, q *kmsg.PushTelemetryRequest) reply {
	resp := q.ResponseKind().(*kmsg.PushTelemetryResponse)
	resp.ErrorCode = code(c.node.PushTelemetry(r.caller, broker.TelemetryPush{
		ClientInstanceID: q.ClientInstanceID, SubscriptionID: q.SubscriptionID, Terminating: q.Terminating,
		Codec: q.CompressionType, Payload: q.Metrics,
	}))
	return answer(resp)
}
