package config

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// Listen opens the TCP sockets of one address: one, or for Loopback two with
// the same port, on 127.0.0.1 and on ::1. A machine without IPv6 gets the
// first alone. The caller closes what it gets.
func Listen(ctx context.Context, host string, port int) ([]net.Listener, error) {
	var lc net.ListenConfig
	if host != Loopback {
		l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return nil, listenError(host, port, err)
		}
		return []net.Listener{l}, nil
	}
	// With port 0 the port that is free on 127.0.0.1 may be taken on ::1.
	const tries = 20
	for try := 0; ; try++ {
		v4, err := lc.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return nil, listenError(host, port, err)
		}
		bound := v4.Addr().(*net.TCPAddr).Port
		v6, err := lc.Listen(ctx, "tcp6", net.JoinHostPort("::1", strconv.Itoa(bound)))
		switch {
		case err == nil:
			return []net.Listener{v4, v6}, nil
		case !errors.Is(err, syscall.EADDRINUSE):
			return []net.Listener{v4}, nil
		}
		if cerr := v4.Close(); cerr != nil || port != 0 || try == tries {
			return nil, listenError("::1", bound, err)
		}
	}
}

func listenError(host string, port int, err error) error {
	at := net.JoinHostPort(host, strconv.Itoa(port))
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("listen on %s: the port is taken by another process; choose another one, or 0 for a free one: %w", at, err)
	}
	return fmt.Errorf("listen on %s: %w", at, err)
}
