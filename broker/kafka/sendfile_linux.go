package kafka

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// sendfilePiece is how many bytes one call moves. Larger pieces fall out of the processor's cache and are slower.
const sendfilePiece = 128 << 10

// newFileSender returns a sender for plain TCP connections, nil for others.
func newFileSender(nc net.Conn) fileSender {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	s := &tcpFileSender{raw: raw}
	s.piece = s.sendPiece
	return s
}

// tcpFileSender uses sendfile(2) with an explicit offset, so that readers of the same file don't disturb each other. Its fields are the
// file that is being sent: one at a time, because a connection has one goroutine that sends.
type tcpFileSender struct {
	raw   syscall.RawConn
	piece func(sock uintptr) bool // sendPiece, bound once

	fd   int
	off  int64
	left int
	sent int // by the last call
	err  error
}

func (s *tcpFileSender) sendFile(fd uintptr, off int64, n int, moved func()) error {
	s.fd, s.off, s.left = int(fd), off, n
	for s.left > 0 {
		err := s.raw.Write(s.piece)
		if err == nil {
			err = s.err
		}
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EIO):
			return fmt.Errorf("%w: sendfile of %d bytes at %d: %w", errRecords, s.left, s.off, err)
		case err != nil:
			return fmt.Errorf("sendfile: %w", err)
		case s.sent <= 0:
			return fmt.Errorf("%w: %d bytes at %d: %w", errRecords, s.left, s.off, errShortFile)
		}
		s.left -= s.sent
		moved()
	}
	return nil
}

// sendPiece makes one call, and tells whether it went through rather than asking to wait for the peer. The kernel moves off.
func (s *tcpFileSender) sendPiece(sock uintptr) bool {
	s.sent, s.err = unix.Sendfile(int(sock), s.fd, &s.off, min(s.left, sendfilePiece))
	return !errors.Is(s.err, unix.EAGAIN)
}
