package kafka

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// noLeader is a hint that tells nothing.
var noLeader = broker.LeaderHint{ID: -1, Epoch: -1}

// appendLeaderTag appends the tagged field that tells the current leader (KIP-951).
func appendLeaderTag(dst []byte, tag uint32, leader broker.LeaderHint) []byte {
	dst = appendUvarint(dst, tag)
	dst = append(dst, 4+4+1)
	dst = appendInt32(dst, leader.ID)
	dst = appendInt32(dst, leader.Epoch)
	return append(dst, 0)
}

// endpoints gathers the addresses of leaders, each once.
type endpoints struct{ found []kmsg.FetchResponseBroker }

// add finds the address of a leader on the listener that the client used.
func (e *endpoints) add(c *conn, leader broker.LeaderHint) {
	if leader.ID < 0 {
		return
	}
	for i := range e.found {
		if e.found[i].NodeID == leader.ID {
			return
		}
	}
	b, ok := c.node.Image().Broker(leader.ID)
	if !ok {
		return
	}
	ep, ok := b.Endpoint(c.listener.name)
	if !ok {
		return
	}
	e.found = append(e.found, kmsg.FetchResponseBroker{NodeID: b.ID, Host: ep.Host, Port: ep.Port, Rack: optional(b.Rack)})
}

// appendNodeEndpoints appends the tagged fields that end a Produce or Fetch response: the addresses, if any, under tag 0.
func appendNodeEndpoints(dst []byte, found []kmsg.FetchResponseBroker) []byte {
	if len(found) == 0 {
		return append(dst, 0)
	}
	var field []byte
	field = appendCount(field, len(found), true)
	for i := range found {
		field = appendInt32(field, found[i].NodeID)
		field = appendString(field, found[i].Host, true)
		field = appendInt32(field, found[i].Port)
		field = appendNullableString(field, found[i].Rack, true)
		field = append(field, 0)
	}
	dst = append(dst, 1, 0)
	dst = binary.AppendUvarint(dst, uint64(len(field)))
	return append(dst, field...)
}

// topicMetrics finds the numbers of a topic named in either way; nil if there is no such topic.
func (c *conn) topicMetrics(name string, id [16]byte) *topicMetrics {
	if name == "" {
		t, ok := c.node.Image().TopicByID(id)
		if !ok {
			return nil
		}
		name = t.Name
	}
	if m := c.srv.metrics.topics.get(name); m != nil {
		return m
	}
	if _, ok := c.node.Image().Topic(name); !ok {
		return nil
	}
	return c.srv.metrics.topics.make(name)
}
