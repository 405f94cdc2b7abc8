package record

import "fmt"

// Reader reads the records of a batch one by one into buffers that it reuses. Get one from Batch.Records and close it.
type Reader struct {
	d       *Decompressor
	batch   Batch
	src     source
	read    int32 // records read so far
	record  Record
	headers []Header
	err     error
	done    bool
}

// Records returns a reader of the batch's records. Structure is checked along the way, so it may be used on bytes that were never
// validated; the checksum is not looked at.
func (b Batch) Records(d *Decompressor) *Reader {
	r, ok := d.readers.Get().(*Reader)
	if !ok {
		r = new(Reader)
	}
	*r = Reader{d: d, batch: b, headers: r.headers[:0]}
	r.src, r.err = openSource(b, d)
	return r
}

// Next moves to the next record. It answers false at the end and at the first error: see Err.
func (r *Reader) Next() bool {
	if r.err != nil || r.done {
		return false
	}
	if r.read == max(r.batch.Count(), 0) {
		r.done = true
		r.err = r.src.finish()
		return false
	}
	if err := r.parse(); err != nil {
		r.err = fmt.Errorf("record %d of %d: %w", r.read, r.batch.Count(), err)
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
	body := fields{b: r.src.buf[r.src.r : r.src.r+int(length)]}
	r.src.r += int(length)
	return r.cut(&body)
}

func (r *Reader) cut(f *fields) error {
	f.take(1) // attributes: Kafka defines none
	timestampDelta := f.varlong()
	offsetDelta := f.varint()
	r.record.Key = f.bytes()
	r.record.Value = f.bytes()
	r.cutHeaders(f)
	switch {
	case f.failed:
		return malformed("a field ends outside its record")
	case len(f.b) > 0:
		return malformed("%d bytes follow the last field of a record", len(f.b))
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

func (r *Reader) cutHeaders(f *fields) {
	r.headers = r.headers[:0]
	count := f.varint()
	if count < 0 || int(count) > len(f.b)/2 {
		f.failed = true
		return
	}
	for range count {
		h := Header{Key: f.bytes(), Value: f.bytes()}
		if h.Key == nil || f.failed {
			f.failed = true
			return
		}
		r.headers = append(r.headers, h)
	}
	r.record.Headers = r.headers
}

// fields cuts values off the front of a record. After a failure it yields zero values.
type fields struct {
	b      []byte
	failed bool
}

func (f *fields) take(n int) []byte {
	if f.failed || n < 0 || n > len(f.b) {
		f.failed = true
		return nil
	}
	taken := f.b[:n:n]
	f.b = f.b[n:]
	return taken
}

func (f *fields) uvarint(max int) uint64 {
	v, n := uvarint(f.b, max)
	if n <= 0 {
		f.failed = true
		return 0
	}
	f.b = f.b[n:]
	return v
}

func (f *fields) varint() int32 { return unzigzag32(uint32(f.uvarint(maxVarintLen))) }

func (f *fields) varlong() int64 { return unzigzag64(f.uvarint(maxVarlongLen)) }

// bytes cuts a nullable byte field; nil where it is null.
func (f *fields) bytes() []byte {
	n := f.varint()
	if n == -1 {
		return nil
	}
	return f.take(int(n))
}
