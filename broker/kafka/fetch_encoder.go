package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// fetchEncoder writes Fetch responses by hand, because kmsg would copy every record: here records become segments of
// the response, which are sent from their files. Tests hold it equal to kmsg, byte for byte, in every version.
type fetchEncoder struct {
	out           *response
	version       int16
	compact       bool
	readCommitted bool
}

// begin writes what comes before the topics.
func (e *fetchEncoder) begin(failed int16, sessionID int32, topics int) {
	dst := appendInt32(e.out.bytes, 0) // throttle time
	if e.version >= 7 {
		dst = appendInt16(dst, failed)
		dst = appendInt32(dst, sessionID)
	}
	e.out.bytes = appendCount(dst, topics, e.compact)
}

// topic begins a topic with a number of partitions.
func (e *fetchEncoder) topic(name string, id [16]byte, partitions int) {
	if e.version >= 13 {
		e.out.bytes = append(e.out.bytes, id[:]...)
	} else {
		e.out.bytes = appendString(e.out.bytes, name, e.compact)
	}
	e.out.bytes = appendCount(e.out.bytes, partitions, e.compact)
}

// partition writes one partition; r are its records.
func (e *fetchEncoder) partition(index int32, p *broker.FetchedPartition, r records) {
	dst := appendInt32(e.out.bytes, index)
	dst = appendInt16(dst, code(p.Err))
	dst = appendInt64(dst, p.HighWatermark)
	dst = appendInt64(dst, p.LastStableOffset)
	if e.version >= 5 {
		dst = appendInt64(dst, p.LogStartOffset)
	}
	dst = e.appendAborted(dst, p.Aborted)
	if e.version >= 11 {
		dst = appendInt32(dst, p.PreferredReadReplica)
	}
	e.out.bytes = appendCount(dst, r.Len(), e.compact)
	e.out.addRecords(r)
	if e.compact {
		e.out.bytes = e.appendPartitionTags(e.out.bytes, p)
	}
}

// appendAborted writes the aborted transactions; null for readers that see everything.
func (e *fetchEncoder) appendAborted(dst []byte, aborted []broker.AbortedTxn) []byte {
	if !e.readCommitted {
		return appendCount(dst, -1, e.compact)
	}
	dst = appendCount(dst, len(aborted), e.compact)
	for i := range aborted {
		dst = appendInt64(dst, aborted[i].ProducerID)
		dst = appendInt64(dst, aborted[i].FirstOffset)
		if e.compact {
			dst = append(dst, 0)
		}
	}
	return dst
}

func (e *fetchEncoder) appendPartitionTags(dst []byte, p *broker.FetchedPartition) []byte {
	diverging := p.Diverging.Epoch >= 0
	hint := e.version >= firstFetchHint && p.Leader != noLeader
	count := len(dst)
	dst = append(dst, 0)
	if diverging {
		dst[count]++
		dst = append(dst, 0, 4+8+1)
		dst = appendInt32(dst, p.Diverging.Epoch)
		dst = appendInt64(dst, p.Diverging.EndOffset)
		dst = append(dst, 0)
	}
	if hint {
		dst[count]++
		dst = appendLeaderTag(dst, 1, p.Leader)
	}
	return dst
}

func (e *fetchEncoder) endTopic() {
	if e.compact {
		e.out.bytes = append(e.out.bytes, 0)
	}
}

// end writes what comes after the topics.
func (e *fetchEncoder) end(leaders []kmsg.FetchResponseBroker) {
	if e.compact {
		e.out.bytes = appendNodeEndpoints(e.out.bytes, leaders)
	}
}
