package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// LogConfig is what an operator sets for the log.
type LogConfig struct {
	Level  string `kafka:"log.level" doc:"The least severe lines that are logged: debug, info, warn or error."`
	Format string `kafka:"log.format" doc:"The form of a log line: text or json."`
}

// DefaultLogConfig returns text at level info.
func DefaultLogConfig() LogConfig {
	return LogConfig{Level: "info", Format: "text"}
}

// NewLogger returns a logger that writes to w, and the level it obeys, which
// may be changed while the process runs.
func NewLogger(w io.Writer, c LogConfig) (*slog.Logger, *slog.LevelVar, error) {
	level := new(slog.LevelVar)
	if err := SetLevel(level, c.Level); err != nil {
		return nil, nil, err
	}
	o := &slog.HandlerOptions{Level: level}
	switch strings.ToLower(c.Format) {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), level, nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), level, nil
	}
	return nil, nil, fmt.Errorf("log.format: %q is neither text nor json", c.Format)
}

// SetLevel changes a level to the one named.
func SetLevel(level *slog.LevelVar, name string) error {
	switch strings.ToLower(name) {
	case "debug":
		level.Set(slog.LevelDebug)
	case "info":
		level.Set(slog.LevelInfo)
	case "warn":
		level.Set(slog.LevelWarn)
	case "error":
		level.Set(slog.LevelError)
	default:
		return fmt.Errorf("log.level: %q is none of debug, info, warn, error", name)
	}
	return nil
}
