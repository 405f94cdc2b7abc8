package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"
)

// xerialMagic begins the framing that the Java library puts around raw snappy blocks; two versions of four bytes follow. Other clients
// send one raw block with nothing around it. Both are common.
var xerialMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

const xerialHeaderLen = 16

// maxSnappyRatio is more than a raw block can expand to: its densest element stands for 64 bytes with 3.
const maxSnappyRatio = 22

var errSnappy = errors.New("malformed snappy data")

// snappyReader expands both framings block by block.
type snappyReader struct {
	src    []byte // what is still compressed
	xerial bool
	left   int64  // how much may be expanded yet
	out    []byte // the current block
	unread []byte // what of out has not been read
}

func (s *snappyReader) reset(src []byte, allowance int64) error {
	s.src, s.left, s.unread = src, allowance, nil
	s.xerial = bytes.HasPrefix(src, xerialMagic)
	if !s.xerial {
		return nil
	}
	if len(src) < xerialHeaderLen {
		return errSnappy
	}
	s.src = src[xerialHeaderLen:]
	return nil
}

func (s *snappyReader) Read(p []byte) (int, error) {
	for len(s.unread) == 0 {
		if len(s.src) == 0 {
			return 0, io.EOF
		}
		if err := s.nextBlock(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.unread)
	s.unread = s.unread[n:]
	return n, nil
}

func (s *snappyReader) nextBlock() error {
	block, err := s.cutBlock()
	if err != nil || len(block) == 0 {
		return err
	}
	size, err := snappy.DecodedLen(block)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errSnappy, err)
	case size > maxSnappyRatio*len(block):
		return fmt.Errorf("%w: %d bytes cannot hold %d", errSnappy, len(block), size)
	case int64(size) > s.left:
		return fmt.Errorf("snappy block of %d bytes: %w", size, ErrBomb)
	}
	s.left -= int64(size)
	// The strict decoder: other readers of the topic do not know the extensions of the s2 format either.
	s.out, err = snappy.DecodeStrict(s.out[:0], block)
	if err != nil {
		return fmt.Errorf("%w: %w", errSnappy, err)
	}
	s.unread = s.out
	return nil
}

// cutBlock takes the next raw block off src. It answers an empty one for a header in the middle, as two joined streams have it.
func (s *snappyReader) cutBlock() ([]byte, error) {
	if !s.xerial {
		block := s.src
		s.src = nil
		return block, nil
	}
	if bytes.HasPrefix(s.src, xerialMagic) && len(s.src) >= xerialHeaderLen {
		s.src = s.src[xerialHeaderLen:]
		return nil, nil
	}
	if len(s.src) < 4 {
		return nil, errSnappy
	}
	n := binary.BigEndian.Uint32(s.src)
	rest := s.src[4:]
	if n == 0 || int64(n) > int64(len(rest)) {
		return nil, fmt.Errorf("%w: block of %d bytes, %d left", errSnappy, n, len(rest))
	}
	s.src = rest[n:]
	return rest[:n], nil
}

// release forgets the payload and any large block.
func (s *snappyReader) release() {
	s.src, s.unread = nil, nil
	if cap(s.out) > keptBuffer {
		s.out = nil
	}
}
