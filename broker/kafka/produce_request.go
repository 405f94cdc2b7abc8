package kafka

import "strings"

// produceRequest is a decoded Produce request. It is decoded by hand, because it is the hottest of all: nothing is
// copied and, once its slices have grown, nothing is allocated. Topic names and records alias the frame.
type produceRequest struct {
	transactionalID string // empty if null
	acks            int16
	timeoutMs       int32
	topics          []produceTopic
	partitions      []producePartition // of all topics, in order
}

// produceTopic is a topic of a Produce request, with the range of its partitions.
type produceTopic struct {
	name        string // before version 13
	id          [16]byte
	first, last int // partitions[first:last]
}

type producePartition struct {
	index   int32
	records []byte // nil if null
}

// keepPartitions is how many partitions a request object may have grown to and still be used again.
const keepPartitions = 1 << 10

// decode reads versions 3 to 13 and returns whether they were well formed.
func (q *produceRequest) decode(body []byte, version int16) bool {
	compact := version >= 9
	in := reader{b: body}
	q.topics, q.partitions = q.topics[:0], q.partitions[:0]
	if compact {
		q.transactionalID = alias(in.nullableBytes(true))
	} else {
		q.transactionalID = in.nullableString()
	}
	q.acks, q.timeoutMs = in.int16(), in.int32()
	leastTopic := 2
	if version >= 13 {
		leastTopic = 18
	}
	for n := in.count(compact, leastTopic); n > 0 && !in.bad; n-- {
		q.decodeTopic(&in, version, compact)
	}
	if compact {
		in.skipTags()
	}
	return !in.bad
}

func (q *produceRequest) decodeTopic(in *reader, version int16, compact bool) {
	t := produceTopic{first: len(q.partitions)}
	if version >= 13 {
		copy(t.id[:], in.span(len(t.id)))
	} else {
		t.name = in.string(compact)
	}
	for n := in.count(compact, 6); n > 0 && !in.bad; n-- {
		p := producePartition{index: in.int32(), records: in.nullableBytes(compact)}
		if compact {
			in.skipTags()
		}
		q.partitions = append(q.partitions, p)
	}
	if compact {
		in.skipTags()
	}
	t.last = len(q.partitions)
	q.topics = append(q.topics, t)
}

// detach drops what aliases the frame, which is about to go.
func (q *produceRequest) detach() {
	for i := range q.partitions {
		q.partitions[i].records = nil
	}
	q.transactionalID = ""
}

// reset forgets everything and keeps a reasonable amount of memory.
func (q *produceRequest) reset() {
	clear(q.topics)
	clear(q.partitions)
	if cap(q.partitions) > keepPartitions || cap(q.topics) > keepPartitions {
		*q = produceRequest{}
	}
}

// ownName replaces a topic's name, which aliases the frame, by one that lives on.
func (t *produceTopic) ownName(m *topicMetrics) {
	switch {
	case m != nil && t.name != "":
		t.name = m.name
	case t.name != "":
		t.name = strings.Clone(t.name)
	}
}
