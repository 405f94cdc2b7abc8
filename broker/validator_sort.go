package broker

import (
	"errors"
	"strconv"

	"moldau/broker/record"
)

// The headers that records which do not conform carry: all of them as dead letters, all but the last two where they are marked. A
// record that came with such a header keeps it, in front of ours.
const (
	headerReason    = "moldau.validation.reason"
	headerMessage   = "moldau.validation.message"
	headerSchemaID  = "moldau.validation.schema.id"
	headerTopic     = "moldau.validation.topic"
	headerPartition = "moldau.validation.partition"
)

// sorter makes a batch anew, with the same offsets and sequence numbers. Its memory is used again.
type sorter struct {
	kept       record.Builder
	letters    record.Builder
	headers    []record.Header
	key, value []byte // with an envelope in front
}

// keptSorter is how much of records a sorter may have held to be used again.
const keptSorter = 2 << 20

func (n *Node) putSorter(s *sorter) {
	if s.kept.Size()+s.letters.Size()+cap(s.key)+cap(s.value) > keptSorter {
		return
	}
	clear(s.headers[:cap(s.headers)])
	n.sorters.Put(s)
}

// annotated is a record with its failure told in headers. It is valid until the next call.
func (s *sorter) annotated(r *record.Record, f *ValidationFailure, more ...record.Header) *record.Record {
	s.headers = append(s.headers[:0], r.Headers...)
	s.headers = append(s.headers, record.Header{Key: []byte(headerReason), Value: []byte(f.Reason)})
	if f.Message != "" {
		s.headers = append(s.headers, record.Header{Key: []byte(headerMessage), Value: []byte(f.Message)})
	}
	if f.SchemaID >= 0 {
		s.headers = append(s.headers, record.Header{Key: []byte(headerSchemaID), Value: strconv.AppendInt(nil, int64(f.SchemaID), 10)})
	}
	s.headers = append(s.headers, more...)
	out := *r
	out.Headers = s.headers
	return &out
}

// enveloped is a record with what names its schemas in front of its key and value. It is valid until the next call.
func (s *sorter) enveloped(r *record.Record, inFrontOfKey, inFrontOfValue []byte) *record.Record {
	if inFrontOfKey == nil && inFrontOfValue == nil {
		return r
	}
	out := *r
	if inFrontOfKey != nil {
		s.key = append(append(s.key[:0], inFrontOfKey...), r.Key...)
		out.Key = s.key
	}
	if inFrontOfValue != nil {
		s.value = append(append(s.value[:0], inFrontOfValue...), r.Value...)
		out.Value = s.value
	}
	return &out
}

// sort walks over the records of a batch that was judged: it keeps the good ones, in their envelopes, and hands over the others.
func (s *sorter) sort(batch record.Batch, v *Verdict, d *record.Decompressor, bad func(*record.Record, *ValidationFailure) error) error {
	records := batch.Records(d)
	defer records.Close()
	failures := v.Failures
	for i := int32(0); records.Next(); i++ {
		r := records.Record()
		if len(failures) > 0 && failures[0].Index == i {
			if err := bad(r, &failures[0]); err != nil {
				return err
			}
			failures = failures[1:]
			continue
		}
		if v.Envelopes != nil {
			inFrontOfKey, inFrontOfValue := v.Envelopes.Of(i)
			r = s.enveloped(r, inFrontOfKey, inFrontOfValue)
		}
		s.kept.AppendAt(r)
	}
	return records.Err()
}

// begin starts the batch that takes the place of another one, under the codec that the topic asks for.
func (s *sorter) begin(from target, batch record.Batch) {
	o := batch.Options()
	if !from.cfg.KeepProducerCodec {
		o.Codec, o.Level = from.cfg.Codec, from.cfg.CodecLevel
	}
	s.kept.Reset(o)
}

// finish makes the batch, which covers the same offsets as the one it replaces even where it has no records left.
func (s *sorter) finish(batch record.Batch, dst []byte, c *record.Compressor) (record.Batch, error) {
	if s.kept.Count() == 0 {
		return batch.AppendEmptied(dst), nil
	}
	s.kept.PadTo(batch.LastOffset())
	return s.kept.Build(dst, c)
}

// rewrite gives the records that do not conform headers that tell so, and the others the envelopes that they lack.
func (n *Node) rewrite(from target, batch record.Batch, v *Verdict, d *record.Decompressor) (admitted, error) {
	s := n.sorters.Get().(*sorter)
	defer n.putSorter(s)
	s.begin(from, batch)
	err := s.sort(batch, v, d, func(r *record.Record, f *ValidationFailure) error {
		s.kept.AppendAt(s.annotated(r, f))
		return nil
	})
	if err != nil {
		return admitted{}, err
	}
	return n.sorted(from, batch, s, d)
}

// leaveOut makes dead letters of the records that do not conform, and gives the others the envelopes that they lack. The dead letters are
// in their log before the others are in theirs, so that none is lost when the node dies in between: the producer then has no answer and
// sends the batch again, and they become dead letters again.
func (n *Node) leaveOut(from target, batch record.Batch, v *Verdict, d *record.Decompressor) (admitted, error) {
	if err := from.partition.MayAppend(batch, from.acks); err != nil {
		return admitted{}, err // the batch will not be taken, so that it makes no dead letters either
	}
	s := n.sorters.Get().(*sorter)
	defer n.putSorter(s)
	w, err := n.deadLetters(from, batch, s)
	if err != nil {
		return admitted{}, err
	}
	s.begin(from, batch)
	if err = s.sort(batch, v, d, w.add); err == nil {
		err = w.flush()
	}
	switch {
	case errors.Is(err, errLetterTooLarge):
		return admitted{}, refuseRecords(from.topic.Name, v.Failures) // no other attempt would end better
	case err != nil:
		return admitted{}, err
	}
	in, err := n.sorted(from, batch, s, d)
	in.letters = w.commit
	return in, err
}

// sorted finishes a batch in a buffer of its own. ErrMessageTooLarge where it has outgrown the topic's limits, compressed or not, which makes
// producers try again with smaller batches.
func (n *Node) sorted(from target, batch record.Batch, s *sorter, d *record.Decompressor) (admitted, error) {
	in := admitted{buf: n.scratch.Get().(*[]byte)}
	var err error
	if in.batch, err = s.finish(batch, (*in.buf)[:0], n.compressor); err != nil {
		n.scratch.Put(in.buf)
		return admitted{}, err
	}
	*in.buf = in.batch[:0]
	if len(in.batch) > from.cfg.MaxMessageBytes || !d.Permits(in.batch.Codec(), len(in.batch.Payload()), s.kept.Size()-record.HeaderLen) {
		n.release(in)
		return admitted{}, ErrMessageTooLarge
	}
	return in, nil
}
