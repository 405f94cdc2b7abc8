package record

// minRecordLen is the length of the least record, its own length field included: seven fields of one byte.
const minRecordLen = 7

// outline is what the walk over a batch learns of a record without looking at its bytes.
type outline struct {
	timestampDelta int64
	offsetDelta    int32
	hasKey         bool
}

// next reads the framing of one record, as strictly as a consumer needs it, and passes over keys, values and headers.
func (s *source) next() (outline, error) {
	if o, n := skim(s.buf[s.r:s.w]); n > 0 {
		s.r += n
		return o, nil
	}
	return s.nextSlow()
}

// nextSlow reads a record that skim does not: one that reaches past the window, or is malformed.
func (s *source) nextSlow() (outline, error) {
	var o outline
	length, err := s.varint()
	if err != nil {
		return o, err
	}
	if err := s.checkLength(length); err != nil {
		return o, err
	}
	end := s.pos() + int64(length)
	if _, err = s.byte(); err != nil { // attributes: Kafka defines none
		return o, err
	}
	if o.timestampDelta, err = s.varlong(); err != nil {
		return o, err
	}
	if o.offsetDelta, err = s.varint(); err != nil {
		return o, err
	}
	if o.hasKey, err = s.skipBytes(end); err != nil {
		return o, err
	}
	if _, err = s.skipBytes(end); err != nil {
		return o, err
	}
	if err = s.skipHeaders(end); err != nil {
		return o, err
	}
	if s.pos() != end {
		return o, malformed("a record of %d bytes ends after %d", length, s.pos()-(end-int64(length)))
	}
	return o, nil
}

// checkLength refuses a record length that cannot be, before anything relies on it.
func (s *source) checkLength(length int32) error {
	if length < minRecordLen-1 {
		return malformed("a record of %d bytes", length)
	}
	if s.from == nil && int(length) > s.w-s.r {
		return errTruncated
	}
	return nil
}

// skipBytes passes over a nullable byte field which must end before end. It tells whether the field is there.
func (s *source) skipBytes(end int64) (bool, error) {
	n, err := s.varint()
	switch {
	case err != nil:
		return false, err
	case n == -1:
		return false, nil
	case n < 0 || int64(n) > end-s.pos():
		return false, malformed("a field of %d bytes in the %d left of its record", n, end-s.pos())
	}
	return true, s.skip(int(n))
}

func (s *source) skipHeaders(end int64) error {
	count, err := s.varint()
	if err != nil {
		return err
	}
	if count < 0 || int64(count) > (end-s.pos())/2 {
		return malformed("%d headers in the %d bytes left of their record", count, end-s.pos())
	}
	for range count {
		present, err := s.skipBytes(end)
		if err != nil {
			return err
		}
		if !present {
			return malformed("a header without a key")
		}
		if _, err := s.skipBytes(end); err != nil {
			return err
		}
	}
	return nil
}

// finish makes sure that nothing follows the last record; a decoder also verifies its checksum there.
func (s *source) finish() error {
	more, err := s.more()
	if err != nil {
		return err
	}
	if more {
		return malformed("bytes follow the last record")
	}
	return nil
}
