package record

import "fmt"

// Reader reads the records of a batch one by one into buffers that it reuses. Get one from Batch.Records and close it.
type Reader struct {
	d       *Decompressor
	batch   Batch
	src     source
	count   int32 // of records
	read    int32 // records read so far
	record  Record
	headers []Header
	err     error
	done    bool

	admission *Admission // checks what was read; nil where nobody asks
}

// Records returns a reader of the batch's records. Structure is checked along the way, so it may be used on bytes that were never
// validated; the checksum is not looked at.
func (b Batch) Records(d *Decompressor) *Reader {
	r, ok := d.readers.Get().(*Reader)
	if !ok {
		r = new(Reader)
	}
	*r = Reader{d: d, batch: b, count: max(b.Count(), 0), headers: r.headers[:0]}
	r.src, r.err = openSource(b, d)
	return r
}

// Next moves to the next record. It answers false at the end and at the first error: see Err.
func (r *Reader) Next() bool {
	if r.err != nil || r.done {
		return false
	}
	if r.read == r.count {
		r.done = true
		r.err = r.src.finish()
		return false
	}
	if err := r.parse(); err != nil {
		r.err = fmt.Errorf("record %d of %d: %w", r.read, r.count, err)
		return false
	}
	r.read++
	return true
}

// Record is the record that Next moved to. It and all its slices are valid until the next call of Next or Close; for an uncompressed
// batch they alias the batch.
func (r *Reader) Record() *Record { return &r.record }

// Err is nil while all went well, or tells why Next stopped early: ErrBomb, ErrUnsupportedCodec, or else ErrCorrupt.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return damaged(r.err)
}

// Close gives the buffers back. The reader, and the record it showed last, must not be used afterwards.
func (r *Reader) Close() {
	d, headers := r.d, r.headers
	r.src.close(d)
	if cap(headers) > 1024 {
		headers = nil
	}
	clear(headers[:cap(headers)])
	*r = Reader{headers: headers}
	d.readers.Put(r)
}

// parse reads one whole record into the window and cuts it up.
func (r *Reader) parse() error {
	length, err := r.src.varint()
	if err != nil {
		return err
	}
	if err := r.src.checkLength(length); err != nil {
		return err
	}
	if err := r.src.fill(int(length)); err != nil {
		return err
	}
	body := r.src.buf[r.src.r : r.src.r+int(length)]
	r.src.r += int(length)
	if err := r.cut(body); err != nil || r.admission == nil {
		return err
	}
	return r.admission.note(r.read, &r.record)
}

// cut cuts up a record, whose length says that it has fields at all. As in skim, a position past the end stands for a failure, which lasts.
func (r *Reader) cut(b []byte) error {
	timestampDelta, i := varlongAt(b, 1) // past the attributes: Kafka defines none
	offsetDelta, i := varintAt(b, i)
	r.record.Key, i = bytesAt(b, i)
	r.record.Value, i = bytesAt(b, i)
	i = r.cutHeaders(b, i)
	switch {
	case i > len(b):
		return malformed("a field ends outside its record")
	case i < len(b):
		return malformed("%d bytes follow the last field of a record", len(b)-i)
	case offsetDelta < 0 || offsetDelta > r.batch.LastOffsetDelta():
		return errOutside(offsetDelta, r.batch)
	}
	r.record.Offset = r.batch.BaseOffset() + int64(offsetDelta)
	r.record.Timestamp = r.batch.BaseTimestamp() + timestampDelta
	if r.batch.TimestampType() == LogAppendTime {
		r.record.Timestamp = r.batch.MaxTimestamp()
	}
	return nil
}

// cutHeaders cuts the headers at b[i:] and answers where they end.
func (r *Reader) cutHeaders(b []byte, i int) int {
	r.headers, r.record.Headers = r.headers[:0], nil
	if i == len(b)-1 && b[i] == 0 {
		return len(b)
	}
	count, i := varintAt(b, i)
	if count < 0 || int(count) > (len(b)-i)/2 {
		return len(b) + 1
	}
	for range count {
		var h Header
		h.Key, i = bytesAt(b, i)
		h.Value, i = bytesAt(b, i)
		if h.Key == nil || i > len(b) {
			return len(b) + 1
		}
		r.headers = append(r.headers, h)
	}
	r.record.Headers = r.headers
	return i
}

// bytesAt cuts the nullable byte field at b[i:], nil where it is null, and answers where the next field begins.
func bytesAt(b []byte, i int) (field []byte, next int) {
	length, i := varintAt(b, i)
	size := int(length)
	switch {
	case size == -1:
		return nil, i
	case size < 0 || size > len(b)-i:
		return nil, len(b) + 1
	}
	return b[i : i+size : i+size], i + size
}
