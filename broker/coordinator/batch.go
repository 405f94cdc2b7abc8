package coordinator

import (
	"encoding/binary"
	"fmt"
	"time"

	"moldau/broker/record"
)

// batchOverhead is how many bytes of a batch with one record are neither its key nor its value, at most.
const batchOverhead = record.HeaderLen + 64

// batchBuilder gathers records in as few batches as possible: records of the same producer that follow each other share
// one.
type batchBuilder struct {
	done     []byte // whole batches
	open     *record.Builder
	count    int // records in open
	producer Producer
	encoder  *record.Compressor
}

// size is how many bytes have been gathered, about.
func (b *batchBuilder) size() int {
	if b.count == 0 {
		return len(b.done)
	}
	return len(b.done) + b.open.Size()
}

func (b *batchBuilder) reset() { b.done, b.count = b.done[:0], 0 }

// add gathers records; max is how large a batch may be.
func (b *batchBuilder) add(entries []entry, now time.Time, max int) error {
	for i := range entries {
		e := &entries[i]
		if e.marker != nil {
			if err := b.addMarker(e.marker, now); err != nil {
				return err
			}
			continue
		}
		size := len(e.Key) + len(e.Value)
		if size > max-batchOverhead {
			return fmt.Errorf("%w: %d bytes", ErrRecordTooLarge, size)
		}
		if b.count > 0 && (e.Producer != b.producer || b.open.Size()+size+batchOverhead > max) {
			if err := b.close(); err != nil {
				return err
			}
		}
		if b.count == 0 {
			b.begin(e.Producer, false)
		}
		b.append(e.Key, e.Value, now)
	}
	return nil
}

func (b *batchBuilder) append(key, value []byte, now time.Time) {
	b.open.Append(&record.Record{Timestamp: now.UnixMilli(), Key: key, Value: value})
	b.count++
}

func (b *batchBuilder) begin(p Producer, control bool) {
	o := record.NewOptions(record.None)
	o.ProducerID, o.ProducerEpoch = p.ID, p.Epoch
	o.Transactional, o.Control = p != NoProducer, control
	if b.open == nil {
		b.open, b.encoder = record.NewBuilder(o), record.NewCompressor()
	} else {
		b.open.Reset(o)
	}
	b.producer = p
}

// close ends the batch that is open.
func (b *batchBuilder) close() error {
	if b.count == 0 {
		return nil
	}
	at := len(b.done)
	batch, err := b.open.Build(b.done, b.encoder)
	if err != nil {
		return fmt.Errorf("build a batch: %w", err)
	}
	b.done, b.count = append(b.done[:at], batch...), 0
	return nil
}

// take returns everything gathered, valid until the next add.
func (b *batchBuilder) take() ([]byte, error) {
	if err := b.close(); err != nil {
		return nil, err
	}
	out := b.done
	b.done = b.done[:0]
	return out, nil
}

// Control records that end transactions (KIP-98): the type in the key, the coordinator's epoch in the value.
const (
	abortMarker  uint16 = 0
	commitMarker uint16 = 1
)

func (b *batchBuilder) addMarker(m *Marker, now time.Time) error {
	if err := b.close(); err != nil {
		return err
	}
	b.begin(m.Producer, true)
	kind := abortMarker
	if m.Commit {
		kind = commitMarker
	}
	key := binary.BigEndian.AppendUint16([]byte{0, 0}, kind)
	value := binary.BigEndian.AppendUint32([]byte{0, 0}, uint32(m.CoordinatorEpoch))
	b.append(key, value, now)
	return b.close()
}

// readMarker reads a control record; ok is false if it does not end a transaction.
func readMarker(p Producer, r *record.Record) (m Marker, ok bool) {
	if len(r.Key) < 4 || len(r.Value) < 6 {
		return Marker{}, false
	}
	kind := binary.BigEndian.Uint16(r.Key[2:])
	m = Marker{Producer: p, CoordinatorEpoch: int32(binary.BigEndian.Uint32(r.Value[2:])), Commit: kind == commitMarker}
	return m, kind == abortMarker || kind == commitMarker
}
