package kafka

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	// logPerInterval lines about peers are written each logInterval at most. An attack must not fill the disk with logs.
	logPerInterval = 20
	logInterval    = 10 * time.Second
)

// logLimit writes lines that peers can cause, up to a limit; what it holds back it counts.
type logLimit struct {
	logger *slog.Logger

	mu         sync.Mutex
	began      time.Duration
	written    int
	suppressed int
}

func newLogLimit(logger *slog.Logger) *logLimit { return &logLimit{logger: logger} }

func (l *logLimit) log(now time.Duration, level slog.Level, msg string, args ...any) {
	l.mu.Lock()
	suppressed := 0
	if now-l.began >= logInterval {
		suppressed = l.suppressed
		l.began, l.written, l.suppressed = now, 0, 0
	}
	write := l.written < logPerInterval
	if write {
		l.written++
	} else {
		l.suppressed++
	}
	l.mu.Unlock()
	if !write {
		return
	}
	if suppressed > 0 {
		args = append(args, "suppressed_before", suppressed)
	}
	l.logger.Log(context.Background(), level, msg, args...)
}

// reason is the text of an error without the markers that tell how to end a connection.
func reason(err error) string {
	text := err.Error()
	if errors.Is(err, errLast) {
		text = strings.TrimPrefix(text, errLast.Error()+": ")
	}
	return text
}
