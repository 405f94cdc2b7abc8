package broker

import (
	"log/slog"
	"time"

	"moldau/broker/clientmetrics"
)

// admin is what the admin verbs keep beside the metadata.
type admin struct {
	loggers   loggers
	telemetry telemetry
}

// newAdmin makes the state of the admin verbs. level is the level of the node's log, nil if it can't be changed.
func newAdmin(cfg *Config, level *slog.LevelVar, sink clientmetrics.Sink, now func() time.Time) admin {
	return admin{
		loggers:   loggers{level: level},
		telemetry: newTelemetry(cfg.TelemetryMaxBytes, sink, now),
	}
}
