package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// badgerLogger gives Badger's messages to slog: errors and warnings keep their level, everything else is debugging.
type badgerLogger struct{ logger *slog.Logger }

func (l badgerLogger) log(level slog.Level, format string, args []any) {
	if !l.logger.Enabled(context.Background(), level) {
		return
	}
	message := strings.TrimSpace(fmt.Sprintf(format, args...))
	l.logger.Log(context.Background(), level, "badger: "+message)
}

func (l badgerLogger) Errorf(format string, args ...any)   { l.log(slog.LevelError, format, args) }
func (l badgerLogger) Warningf(format string, args ...any) { l.log(slog.LevelWarn, format, args) }
func (l badgerLogger) Infof(format string, args ...any)    { l.log(slog.LevelDebug, format, args) }
func (l badgerLogger) Debugf(format string, args ...any)   { l.log(slog.LevelDebug, format, args) }
