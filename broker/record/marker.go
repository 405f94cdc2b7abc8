package record

import "encoding/binary"

// EndMarker is the control record that ends a producer's transaction in one partition (KIP-98). It stands alone in its batch.
type EndMarker struct {
	// Commit tells how the transaction ended.
	Commit bool
	// CoordinatorEpoch is the leader epoch of the transaction coordinator that decided it.
	CoordinatorEpoch int32
}

// The types of control records that end transactions.
const (
	controlAbort  = 0
	controlCommit = 1
)

// AppendEndMarker appends the batch of a marker to dst and returns the batch alone, which aliases the grown dst.
func AppendEndMarker(dst []byte, producerID int64, producerEpoch int16, m EndMarker, timestamp int64) Batch {
	kind := uint16(controlAbort)
	if m.Commit {
		kind = controlCommit
	}
	be := binary.BigEndian
	key := be.AppendUint16([]byte{0, 0}, kind)                         // version 0
	value := be.AppendUint32([]byte{0, 0}, uint32(m.CoordinatorEpoch)) // version 0
	o := NewOptions(None)
	o.ProducerID, o.ProducerEpoch, o.Transactional, o.Control = producerID, producerEpoch, true, true
	b := NewBuilder(o)
	b.Append(&Record{Timestamp: timestamp, Key: key, Value: value})
	at := len(dst)
	dst = append(dst, make([]byte, HeaderLen)...)
	batch := Batch(append(dst, b.records...)[at:])
	b.writeHeader(batch)
	return batch
}

// EndMarker returns what a control batch says. ok is false for all other batches, for control records of another kind, and for a
// batch from which compaction took the record.
func (b Batch) EndMarker() (m EndMarker, ok bool) {
	if !b.IsControl() || b.Codec() != None || b.Count() != 1 {
		return m, false
	}
	body, _ := bytesAt(b.Payload(), 0) // a record begins with its length, as a field does
	_, i := varlongAt(body, 1)         // past the attributes
	_, i = varintAt(body, i)
	key, i := bytesAt(body, i)
	value, _ := bytesAt(body, i)
	if len(key) < 4 || len(value) < 6 {
		return m, false
	}
	kind := binary.BigEndian.Uint16(key[2:])
	m = EndMarker{Commit: kind == controlCommit, CoordinatorEpoch: int32(binary.BigEndian.Uint32(value[2:]))}
	return m, kind == controlAbort || kind == controlCommit
}
