package config

import "strings"

// notSettings are variables with our prefixes that are no settings: those of
// the image's start script, and those that the tests and commands read.
var notSettings = map[string]bool{
	"KAFKA_VERSION":              true,
	"KAFKA_HEAP_OPTS":            true,
	"KAFKA_OPTS":                 true,
	"KAFKA_LOG4J_OPTS":           true,
	"KAFKA_JMX_OPTS":             true,
	"KAFKA_JMX_HOSTNAME":         true,
	"KAFKA_JMX_PORT":             true,
	"KAFKA_JVM_PERFORMANCE_OPTS": true,
	"KAFKA_GC_LOG_OPTS":          true,
	"KAFKA_LOG4J_ROOT_LOGLEVEL":  true,
	"KAFKA_LOG4J_LOGGERS":        true,
	"KAFKA_TOOLS_LOG4J_LOGLEVEL": true,
	"KAFKA_HOME":                 true,
	"MOLDAU_BROKERS":             true,
	"MOLDAU_CRASH":               true,
	"MOLDAU_DATA":                true,
	"MOLDAU_TEST_AS_PROCESS":     true,
}

// fromEnviron collects the settings among NAME=value pairs. MOLDAU_ wins over
// KAFKA_ where both name one key.
func fromEnviron(environ []string) map[string]setting {
	out := map[string]setting{}
	for _, prefix := range []string{"KAFKA_", "MOLDAU_"} {
		for _, pair := range environ {
			name, value, ok := strings.Cut(pair, "=")
			rest, ours := strings.CutPrefix(name, prefix)
			if !ok || !ours || rest == "" || notSettings[name] {
				continue
			}
			out[keyOfVariable(rest)] = setting{value, Source{Environment, name}}
		}
	}
	return out
}

// keyOfVariable turns the part of a variable's name after the prefix into a
// key, by the rule of the apache/kafka image: "___" is "-", "__" is "_", "_"
// is ".", the rest in lower case.
func keyOfVariable(name string) string {
	var b strings.Builder
	for name = strings.ToLower(name); name != ""; {
		switch {
		case strings.HasPrefix(name, "___"):
			b.WriteByte('-')
			name = name[3:]
		case strings.HasPrefix(name, "__"):
			b.WriteByte('_')
			name = name[2:]
		case name[0] == '_':
			b.WriteByte('.')
			name = name[1:]
		default:
			b.WriteByte(name[0])
			name = name[1:]
		}
	}
	return b.String()
}
