package record

import "encoding/binary"

// Options returns those that build a batch with this one's header fields. Records go in with AppendAt, and PadTo the last offset makes
// it cover the same offsets, and so the same sequence numbers.
func (b Batch) Options() Options {
	o := Options{
		BaseOffset: b.BaseOffset(), PartitionLeaderEpoch: b.PartitionLeaderEpoch(), Codec: b.Codec(), Level: DefaultLevel,
		ProducerID: b.ProducerID(), ProducerEpoch: b.ProducerEpoch(), BaseSequence: b.BaseSequence(),
		Transactional: b.IsTransactional(), Control: b.IsControl(), TimestampType: b.TimestampType(),
	}
	if o.TimestampType == LogAppendTime {
		o.AppendTime = b.MaxTimestamp()
	}
	if b.HasDeleteHorizon() {
		o.DeleteHorizon = b.BaseTimestamp()
	}
	return o
}

// AppendEmptied appends to dst what compaction leaves of a batch that lost all its records and whose header is still needed: offsets,
// leader epoch, maximum timestamp, producer and sequence, and no records. It returns the emptied batch, which aliases the grown dst.
func (b Batch) AppendEmptied(dst []byte) Batch {
	at := len(dst)
	e := Batch(append(dst, b[:HeaderLen]...)[at:])
	be := binary.BigEndian
	be.PutUint32(e[offLength:], HeaderLen-PrefixLen)
	be.PutUint16(e[offAttributes:], uint16(b.Attributes()&(attrTimestampType|attrTransactional|attrControl)))
	base := NoTimestamp
	be.PutUint64(e[offBaseTimestamp:], uint64(base))
	be.PutUint32(e[offCount:], 0)
	e.seal()
	return e
}
