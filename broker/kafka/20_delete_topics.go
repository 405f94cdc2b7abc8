package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// DeleteTopics (key 20), versions 0 to 6.
//
// 3: an error of its own where deletion is disabled. 4: flexible. 5: error messages. 6: topic ids (KIP-516).

// deleteTopics deletes topics.
func (c *conn) deleteTopics(ctx context.Context, r *request, q *kmsg.DeleteTopicsRequest) reply {
	var refs []broker.TopicRef
	for _, name := range q.TopicNames {
		refs = append(refs, broker.TopicRef{Name: name})
	}
	for _, t := range q.Topics {
		ref := broker.TopicRef{ID: t.TopicID}
		if t.Topic != nil {
			ref.Name = *t.Topic
		}
		refs = append(refs, ref)
	}
	ctx, cancel := within(ctx, q.TimeoutMillis)
	defer cancel()
	resp := q.ResponseKind().(*kmsg.DeleteTopicsResponse)
	for _, t := range c.node.DeleteTopics(ctx, r.caller, refs) {
		out := kmsg.NewDeleteTopicsResponseTopic()
		if out.Topic = optional(t.Name); q.Version < 6 {
			out.Topic = &t.Name // not nullable there
		}
		out.TopicID, out.ErrorCode, out.ErrorMessage = t.ID, code(t.Err), errorMessage(t.Err)
		if q.Version < 3 && out.ErrorCode == kerr.TopicDeletionDisabled.Code {
			out.ErrorCode = kerr.InvalidRequest.Code
		}
		resp.Topics = append(resp.Topics, out)
	}
	return answer(resp)
}
