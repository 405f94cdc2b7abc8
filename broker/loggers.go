package broker

import (
	"log/slog"
	"slices"
	"strings"

	"moldau/broker/configdef"
)

// rootLogger is the one logger that a broker has: all lines have the same level.
const rootLogger = "root"

// levels are Kafka's names of log levels, the least severe first.
var levels = []struct {
	name  string
	level slog.Level
}{
	{"TRACE", slog.LevelDebug - 4},
	{"DEBUG", slog.LevelDebug},
	{"INFO", slog.LevelInfo},
	{"WARN", slog.LevelWarn},
	{"ERROR", slog.LevelError},
	{"FATAL", slog.LevelError + 4},
}

// loggers changes the level of the broker's log while it runs (KIP-412). Changes end with the process.
type loggers struct {
	level *slog.LevelVar // nil where the maker of the node keeps the level to itself: then there is no logger
}

// describe returns the loggers with their levels.
func (l loggers) describe() []configdef.Entry {
	if l.level == nil {
		return nil
	}
	name := levels[0].name
	for _, known := range levels {
		if l.level.Level() >= known.level {
			name = known.name
		}
	}
	return []configdef.Entry{{Name: rootLogger, Value: &name, Source: configdef.DynamicBrokerLogger}}
}

// alter changes levels, or with validateOnly only says whether it would.
func (l loggers) alter(changes []configdef.Change, validateOnly bool) error {
	for _, c := range changes {
		if c.Op == configdef.Append || c.Op == configdef.Subtract {
			return refuse(ErrInvalidRequest, "%v operation is not allowed for the BROKER_LOGGER resource", c.Op)
		}
		if l.level == nil || c.Name != rootLogger {
			return refuse(ErrInvalidConfig, "Logger %s does not exist!", c.Name)
		}
		if c.Op == configdef.Delete {
			return refuse(ErrInvalidRequest, "Removing the log level of the root logger is not allowed")
		}
		level, ok := levelNamed(*c.Value)
		if !ok {
			return refuse(ErrInvalidConfig, "Cannot set the log level of %s to %s as it is not a supported log level. Valid log levels are %s",
				c.Name, *c.Value, levelNames())
		}
		if !validateOnly {
			l.level.Set(level)
		}
	}
	return nil
}

func levelNamed(name string) (slog.Level, bool) {
	for _, known := range levels {
		if known.name == strings.ToUpper(name) {
			return known.level, true
		}
	}
	return 0, false
}

func levelNames() string {
	names := make([]string, len(levels))
	for i, known := range levels {
		names[i] = known.name
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
