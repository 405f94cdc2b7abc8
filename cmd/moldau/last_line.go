package main

import (
	"errors"
	"io"
)

// lastLine ends the last line of an input that does not end it itself: a file
// written by hand, or printf. The record reader would call it cut off.
type lastLine struct {
	in    io.Reader
	last  byte
	any   bool
	ended bool
}

// Read reads from the input and adds what is missing at its end.
func (l *lastLine) Read(p []byte) (int, error) {
	switch {
	case len(p) == 0:
		return 0, nil
	case l.ended:
		return 0, io.EOF
	}
	n, err := l.in.Read(p)
	if n > 0 {
		l.any, l.last = true, p[n-1]
	}
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if !l.any || l.last == '\n' {
		l.ended = true
		return n, err
	}
	if n == len(p) {
		return n, nil // the input will say again that it ended
	}
	p[n] = '\n'
	l.ended = true
	return n + 1, io.EOF
}
