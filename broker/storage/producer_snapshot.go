package storage

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// The producer snapshot is Kafka's, version 1; all integers are big-endian:
//
//	version int16 = 1 | crc uint32 (CRC-32C of all that follows) | count int32 | count entries of 46 bytes:
//	producer id int64 | epoch int16 | last sequence int32 | last offset int64 | offset delta int32 | timestamp int64 |
//	coordinator epoch int32 | first offset of the open transaction int64, -1 if none
const (
	snapshotVersion  = 1
	snapshotHeadLen  = 2 + 4 + 4
	snapshotEntryLen = 8 + 2 + 4 + 8 + 4 + 8 + 4 + 8 // 46
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encodeSnapshot writes the table's producers, the one idle longest first. Only the last batch of each is kept.
func encodeSnapshot(t *producerTable) []byte {
	be := binary.BigEndian
	out := make([]byte, snapshotHeadLen, snapshotHeadLen+len(t.entries)*snapshotEntryLen)
	for e := t.ring.newer; e != &t.ring; e = e.newer {
		seq, off, delta := noSequence, noOffset, int32(0)
		if e.n > 0 {
			last := e.batches[e.n-1]
			seq, off, delta = last.lastSeq, last.lastOffset, int32(last.lastOffset-last.baseOffset) //nolint:gosec // a delta fits by format
		}
		out = be.AppendUint64(out, uint64(e.id))
		out = be.AppendUint16(out, uint16(e.epoch))
		out = be.AppendUint32(out, uint32(seq))
		out = be.AppendUint64(out, uint64(off))
		out = be.AppendUint32(out, uint32(delta))
		out = be.AppendUint64(out, uint64(e.lastTimestamp))
		out = be.AppendUint32(out, uint32(e.coordinatorEpoch))
		out = be.AppendUint64(out, uint64(e.txnFirstOffset))
	}
	be.PutUint16(out, snapshotVersion)
	be.PutUint32(out[6:], uint32((len(out)-snapshotHeadLen)/snapshotEntryLen)) //nolint:gosec // bounded by the table
	be.PutUint32(out[2:], crc32.Checksum(out[6:], castagnoli))
	return out
}

// decodeSnapshot fills the table from a snapshot. On error the table is empty.
func decodeSnapshot(t *producerTable, data []byte, nowMs int64) error {
	t.clear()
	be := binary.BigEndian
	if len(data) < snapshotHeadLen {
		return fmt.Errorf("%w: producer snapshot of %d bytes", ErrCorrupt, len(data))
	}
	if v := be.Uint16(data); v != snapshotVersion {
		return fmt.Errorf("%w: producer snapshot version %d", ErrCorrupt, v)
	}
	if be.Uint32(data[2:]) != crc32.Checksum(data[6:], castagnoli) {
		return fmt.Errorf("%w: producer snapshot fails its checksum", ErrCorrupt)
	}
	n, rest := int64(be.Uint32(data[6:])), data[snapshotHeadLen:]
	if n*snapshotEntryLen != int64(len(rest)) {
		return fmt.Errorf("%w: producer snapshot says %d entries and has %d bytes", ErrCorrupt, n, len(rest))
	}
	for ; len(rest) > 0; rest = rest[snapshotEntryLen:] {
		e := t.touch(int64(be.Uint64(rest)), nowMs) //nolint:gosec // two's complement on disk
		e.epoch = int16(be.Uint16(rest[8:]))        //nolint:gosec // two's complement on disk
		e.n = 0
		seq, off, delta := int32(be.Uint32(rest[10:])), int64(be.Uint64(rest[14:])), int32(be.Uint32(rest[22:])) //nolint:gosec // as above
		e.lastTimestamp = int64(be.Uint64(rest[26:]))                                                            //nolint:gosec // as above
		e.coordinatorEpoch = int32(be.Uint32(rest[34:]))                                                         //nolint:gosec // as above
		e.txnFirstOffset = int64(be.Uint64(rest[38:]))                                                           //nolint:gosec // as above
		e.markerOnly = seq < 0
		if seq >= 0 && off >= 0 && delta >= 0 {
			e.partial = true
			e.remember(producerBatch{
				baseOffset: off - int64(delta), lastOffset: off, timestamp: e.lastTimestamp,
				baseSeq: decrementSequence(seq, delta), lastSeq: seq,
			})
		}
	}
	return nil
}
