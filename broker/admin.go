package broker

import (
	"log/slog"
	"maps"
	"net"
	"strconv"
	"strings"
	"time"

	"moldau/broker/clientmetrics"
)

// admin is what the admin verbs keep beside the metadata.
type admin struct {
	loggers   loggers
	static    map[string]string // the configs that the node was started with, as DescribeConfigs shows them
	telemetry telemetry
}

// newAdmin makes the state of the admin verbs. level is the level of the node's log, nil if it can't be changed.
func newAdmin(cfg *Config, level *slog.LevelVar, sink clientmetrics.Sink, now func() time.Time) admin {
	return admin{
		loggers:   loggers{level: level},
		static:    staticConfigs(cfg),
		telemetry: newTelemetry(cfg.TelemetryMaxBytes, sink, now),
	}
}

// staticConfigs returns the configs that the operator set, and those that follow from them: clients ask for log.dirs, not
// for the directory above it.
func staticConfigs(cfg *Config) map[string]string {
	static := maps.Clone(cfg.Properties)
	if static == nil {
		static = map[string]string{}
	}
	follows := func(name, value string) {
		if _, set := static[name]; !set && value != "" {
			static[name] = value
		}
	}
	if id := strconv.Itoa(int(cfg.NodeID)); id != "1" || static["node.id"] != "" || static["broker.id"] != "" {
		follows("node.id", id)
		follows("broker.id", id)
	}
	follows("log.dirs", strings.Join(cfg.logDirs(), ","))
	follows("metadata.log.dir", cfg.metadataDir())
	advertised := make([]string, len(cfg.Endpoints))
	for i, e := range cfg.Endpoints {
		advertised[i] = e.Name + "://" + net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port)))
	}
	follows("advertised.listeners", strings.Join(advertised, ","))
	return static
}
