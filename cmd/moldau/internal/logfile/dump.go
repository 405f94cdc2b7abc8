package logfile

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"moldau/broker/record"
)

// String is the entry in one line.
func (e OffsetEntry) String() string {
	return fmt.Sprintf("offset: %d position: %d", e.Offset, e.Position)
}

// String is the entry in one line.
func (e TimeEntry) String() string {
	return fmt.Sprintf("timestamp: %d (%s) offset: %d", e.Timestamp, clock(e.Timestamp), e.Offset)
}

// Batch is the header of a batch, with the verdict on its checksum.
type Batch struct {
	Position      int64  `json:"position"`
	Size          int    `json:"size"`
	BaseOffset    int64  `json:"base_offset"`
	LastOffset    int64  `json:"last_offset"`
	Count         int32  `json:"count"`
	LeaderEpoch   int32  `json:"leader_epoch"`
	Codec         string `json:"compression"`
	TimestampType string `json:"timestamp_type"`
	BaseTimestamp int64  `json:"base_timestamp"`
	MaxTimestamp  int64  `json:"max_timestamp"`
	ProducerID    int64  `json:"producer_id"`
	ProducerEpoch int16  `json:"producer_epoch"`
	BaseSequence  int32  `json:"base_sequence"`
	Transactional bool   `json:"transactional"`
	Control       bool   `json:"control"`
	CRC           uint32 `json:"crc"`
	Valid         bool   `json:"valid"`
	Problem       string `json:"problem,omitempty"`
}

func batchOf(l Located) Batch {
	b := l.Batch
	out := Batch{
		Position: l.Position, Size: b.Len(), BaseOffset: b.BaseOffset(), LastOffset: b.LastOffset(), Count: b.Count(),
		LeaderEpoch: b.PartitionLeaderEpoch(), Codec: b.Codec().String(), TimestampType: b.TimestampType().String(),
		BaseTimestamp: b.BaseTimestamp(), MaxTimestamp: b.MaxTimestamp(), ProducerID: b.ProducerID(), ProducerEpoch: b.ProducerEpoch(),
		BaseSequence: b.BaseSequence(), Transactional: b.IsTransactional(), Control: b.IsControl(), CRC: b.CRC(), Valid: true,
	}
	if err := b.Verify(); err != nil {
		out.Valid, out.Problem = false, err.Error()
	}
	return out
}

// String is the header in one line.
func (b Batch) String() string {
	s := fmt.Sprintf("batch position: %d size: %d offsets: %d-%d count: %d epoch: %d %s: %s compression: %s producer: %d/%d sequence: %d crc: %d valid: %t",
		b.Position, b.Size, b.BaseOffset, b.LastOffset, b.Count, b.LeaderEpoch, b.TimestampType, clock(b.MaxTimestamp), b.Codec,
		b.ProducerID, b.ProducerEpoch, b.BaseSequence, b.CRC, b.Valid)
	if b.Transactional {
		s += " transactional"
	}
	if b.Control {
		s += " control"
	}
	if b.Problem != "" {
		s += " problem: " + b.Problem
	}
	return s
}

// Record is a record of a dump. Bytes are quoted Go strings in text and base64
// in JSON; null is null.
type Record struct {
	Offset    int64    `json:"offset"`
	Timestamp int64    `json:"timestamp"`
	Key       []byte   `json:"key"`
	Value     []byte   `json:"value"`
	Headers   []Header `json:"headers,omitempty"`
}

// Header is a header of a record.
type Header struct {
	Key   string `json:"key"`
	Value []byte `json:"value"`
}

func recordOf(r *record.Record) Record {
	out := Record{Offset: r.Offset, Timestamp: r.Timestamp, Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, Header{string(h.Key), h.Value})
	}
	return out
}

// String is the record in one line.
func (r Record) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  offset: %d time: %s key: %s value: %s", r.Offset, clock(r.Timestamp), quote(r.Key), quote(r.Value))
	for _, h := range r.Headers {
		fmt.Fprintf(&b, " header %q: %s", h.Key, quote(h.Value))
	}
	return b.String()
}

func quote(b []byte) string {
	if b == nil {
		return "null"
	}
	return strconv.Quote(string(b))
}

// clock is a timestamp in milliseconds for people.
func clock(ms int64) string {
	if ms < 0 {
		return strconv.FormatInt(ms, 10)
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

// Dump calls line for every batch of a segment file and, with records, for
// every record behind its batch. What line gets is valid during the call only.
func Dump(path string, records bool, line func(fmt.Stringer) error) error {
	d := record.NewDecompressor(record.Limits{MaxBytes: math.MaxInt32})
	_, err := Scan(path, func(l Located) error {
		b := batchOf(l)
		if err := line(b); err != nil || !records || !b.Valid {
			return err
		}
		r := l.Batch.Records(d)
		defer r.Close()
		for r.Next() {
			if err := line(recordOf(r.Record())); err != nil {
				return err
			}
		}
		if err := r.Err(); err != nil {
			return fmt.Errorf("batch at position %d: %w", l.Position, err)
		}
		return nil
	})
	return err
}
