package record

import (
	"errors"
	"fmt"
	"io"
)

// errMalformed is the cause of every structural fault inside the records. Callers say what it means: an invalid record where a client
// sent it, corruption where it was on disk.
var errMalformed = errors.New("malformed records")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errMalformed, fmt.Sprintf(format, args...))
}

var errTruncated = fmt.Errorf("%w: the bytes end inside a record", errMalformed)

// source feeds the walk over the records: straight from the batch where they are not compressed, else through a window that a stream
// fills. It allocates only to grow the window, and only for a record that must be whole.
type source struct {
	buf  []byte  // buf[r:w] is unread
	r, w int     //
	base int64   // how many bytes went by before buf[0]
	from *stream // nil where all bytes are in buf
	err  error   // why no more bytes come; nil while they may
}

// openSource begins at the first record of b. Give the stream back with closeSource.
func openSource(b Batch, d *Decompressor) (source, error) {
	if b.Codec() == None {
		return source{buf: b.Payload(), w: len(b.Payload())}, nil
	}
	s, err := d.open(b.Payload(), b.Codec())
	if err != nil {
		return source{}, err
	}
	return source{buf: s.buf, from: s}, nil
}

func (s *source) close(d *Decompressor) {
	if s.from == nil {
		return
	}
	s.from.buf = s.buf
	d.release(s.from)
	*s = source{}
}

// pos is how many bytes have been read.
func (s *source) pos() int64 { return s.base + int64(s.r) }

// fill sees to it that buf[r:w] holds n bytes, or reports why it cannot. The window doubles at most per read, so that a length which is
// a lie costs no memory.
func (s *source) fill(n int) error {
	for s.w-s.r < n {
		if s.err == nil && s.from == nil {
			s.err = io.EOF
		}
		if s.err != nil {
			return s.short()
		}
		s.makeRoom(n)
		k, err := s.from.Read(s.buf[s.w:])
		s.w += k
		s.err = err
	}
	return nil
}

// short is the error of a record that cannot be completed.
func (s *source) short() error {
	if errors.Is(s.err, io.EOF) {
		return errTruncated
	}
	return s.err
}

// makeRoom moves the unread bytes to the front and grows a window that they fill.
func (s *source) makeRoom(n int) {
	if s.r > 0 {
		s.base += int64(s.r)
		s.w = copy(s.buf, s.buf[s.r:s.w])
		s.r = 0
	}
	if s.w == len(s.buf) {
		grown := make([]byte, min(max(n, streamWindow), 2*len(s.buf)))
		copy(grown, s.buf)
		s.buf = grown
	}
}

// skip passes over n bytes without ever holding them all.
func (s *source) skip(n int) error {
	for s.w-s.r < n {
		n -= s.w - s.r
		s.r = s.w
		if err := s.fill(1); err != nil {
			return err
		}
	}
	s.r += n
	return nil
}

// more tells whether another byte comes.
func (s *source) more() (bool, error) {
	if s.r < s.w {
		return true, nil
	}
	err := s.fill(1)
	if errors.Is(err, errTruncated) {
		return false, nil
	}
	return err == nil, err
}

func (s *source) byte() (byte, error) {
	if s.r == s.w {
		if err := s.fill(1); err != nil {
			return 0, err
		}
	}
	s.r++
	return s.buf[s.r-1], nil
}

func (s *source) varint() (int32, error) {
	if s.r < s.w {
		if c := s.buf[s.r]; c < 0x80 {
			s.r++
			return unzigzag32(uint32(c)), nil
		}
	}
	v, err := s.uvarint(maxVarintLen)
	return unzigzag32(uint32(v)), err
}

func (s *source) varlong() (int64, error) {
	v, err := s.uvarint(maxVarlongLen)
	return unzigzag64(v), err
}

func (s *source) uvarint(max int) (uint64, error) {
	if s.w-s.r < max && s.from != nil {
		// The records may end with this integer: then there are fewer bytes, and that is well.
		if err := s.fill(max); err != nil && !errors.Is(err, errTruncated) {
			return 0, err
		}
	}
	v, n := uvarint(s.buf[s.r:s.w], max)
	switch {
	case n == 0:
		return 0, errTruncated
	case n < 0:
		return 0, malformed("an integer of more than %d bytes", max)
	}
	s.r += n
	return v, nil
}
