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
	return tcpFileSender{raw}
}

// tcpFileSender uses sendfile(2) with an explicit offset, so that readers of the same file don't disturb each other.
type tcpFileSender struct{ raw syscall.RawConn }

func (s tcpFileSender) sendFile(fd uintptr, off int64, n int, moved func()) error {
	var sent int
	var sendErr error
	piece := func(sock uintptr) bool {
		sent, sendErr = unix.Sendfile(int(sock), int(fd), &off, min(n, sendfilePiece))
		return !errors.Is(sendErr, unix.EAGAIN)
	}
	for n > 0 {
		err := s.raw.Write(piece)
		if err == nil {
			err = sendErr
		}
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EIO):
			return fmt.Errorf("%w: sendfile of %d bytes at %d: %w", errRecords, n, off, err)
		case err != nil:
			return fmt.Errorf("sendfile: %w", err)
		case sent <= 0:
			return fmt.Errorf("%w: %d bytes at %d: %w", errRecords, n, off, errShortFile)
		}
		n -= sent
		moved()
	}
	return nil
}
