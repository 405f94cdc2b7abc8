package config

import (
	"fmt"
	"strings"
)

// AddKafkaKeys completes a schema with the broker keys of Apache Kafka that
// nothing here uses, so that a server.properties is read as it is: those
// without meaning are ignored with a reason, those that somebody may rely on
// stop the start. Call it after every Bind and Declare; a key that is known
// stays as it is.
func AddKafkaKeys(s *Schema) {
	for _, k := range ignoredKeys {
		for _, name := range k.names {
			s.Ignore(name, k.why)
		}
	}
	for _, k := range refusedKeys {
		for _, name := range k.names {
			s.Refuse(name, k.reason)
		}
	}
}

var ignoredKeys = []struct {
	why   string
	names []string
}{
	{"ZooKeeper is not used", []string{"zookeeper.*"}},
	{"logging is set by log.level and log.format", []string{"log4j*"}},
	{"metadata is kept in an embedded store", []string{
		"controller.*", "metadata.*", "initial.broker.registration.timeout.ms", "broker.heartbeat.interval.ms",
		"broker.session.timeout.ms", "broker.id.generation.enable", "reserved.broker.max.id", "early.start.listeners",
		"max.request.partition.size.limit",
	}},
	{"a single node has no followers", []string{
		"replica.*", "num.replica.fetchers", "num.replica.alter.log.dirs.threads", "auto.leader.rebalance.enable",
		"leader.imbalance.*", "controlled.shutdown.*", "eligible.leader.replicas.enable", "log.dir.failure.timeout.ms",
		"follower.fetch.*", "inter.broker.protocol.version", "security.inter.broker.protocol", "request.timeout.ms",
	}},
	{"every connection has its own goroutine", []string{"num.network.threads"}},
	{"background work follows the number of processors", []string{"background.threads", "num.recovery.threads.per.data.dir"}},
	{"a waiting request costs nothing until it ends", []string{
		"fetch.purgatory.purge.interval.requests", "producer.purgatory.purge.interval.requests",
		"delete.records.purgatory.purge.interval.requests",
	}},
	{"the operating system sizes the buffers", []string{
		"socket.send.buffer.bytes", "socket.receive.buffer.bytes", "socket.listen.backlog.size",
	}},
	{"the state of groups is read in pieces of a size of its own", []string{"offsets.load.buffer.size"}},
	{"their records are small, and not compressed", []string{"offsets.topic.compression.codec"}},
	{"Kafka 4 removed it", []string{"offsets.commit.required.acks"}},
	{"each partition of coordinators has its own goroutine", []string{"group.coordinator.*"}},
	{"only classic groups exist yet", []string{"group.consumer.*", "group.share.*", "group.streams.*", "share.*"}},
	{"transactions do not exist yet", []string{"transaction.*", "transactional.*"}},
	{"no listener of this build uses TLS", []string{"ssl.*"}},
	{"no listener of this build uses SASL", []string{
		"sasl.*", "listener.name.*", "delegation.token.*", "connections.max.reauth.ms", "connection.failed.authentication.delay.ms",
	}},
	{"it belongs to an authorizer, and there is none", []string{"super.users", "allow.everyone.if.no.acl.found"}},
	{"no configuration is stored encrypted", []string{"password.encoder.*"}},
	{"quotas do not exist yet", []string{"quota.*", "controller.quota.*"}},
	{"metrics are served at /metrics", []string{
		"metric.reporters", "metrics.*", "auto.include.jmx.reporter", "kafka.metrics.*", "telemetry.*", "client.telemetry.*",
	}},
	{"tiered storage does not exist yet", []string{"remote.log.*", "remote.fetch.*", "remote.list.*"}},
	{"the flusher follows the durability setting", []string{
		"log.flush.scheduler.interval.ms", "log.flush.offset.checkpoint.interval.ms", "log.flush.start.offset.checkpoint.interval.ms",
	}},
	{"Kafka 4 removed it, and only one format is written", []string{"log.message.format.version", "log.message.downconversion.enable"}},
	{"only finished versions are offered", []string{"unstable.api.versions.enable", "unstable.feature.versions.enable"}},
	{"it belongs to another distribution", []string{"confluent.*"}},
}

var refusedKeys = []struct {
	names  []string
	reason func(string) string
}{
	{[]string{"authorizer.class.name"}, whenSet("there is no authorizer in this build, and without one everybody may do everything")},
	{[]string{"principal.builder.class", "security.providers", "client.quota.callback.class"}, whenSet("Java classes are not loaded")},
	{[]string{"create.topic.policy.class.name", "alter.config.policy.class.name"}, whenSet("Java classes are not loaded, so the policy would not hold")},
	{[]string{"max.connections.per.ip.overrides"}, whenSet("there is one limit for all addresses, max.connections.per.ip")},
	{[]string{"remote.log.storage.system.enable"}, whenTrue("tiered storage does not exist yet")},
	{[]string{"process.roles"}, func(v string) string {
		for _, role := range splitList(v) {
			if role == "broker" {
				return ""
			}
		}
		if v == "" {
			return ""
		}
		return "this process is a broker; it needs no controllers beside it"
	}},
	{[]string{"controller.quorum.voters", "controller.quorum.bootstrap.servers"}, func(v string) string {
		if n := len(splitList(v)); n > 1 {
			return fmt.Sprintf("it names %d controllers, and clusters do not exist yet", n)
		}
		return ""
	}},
	{[]string{"host.name", "port", "advertised.host.name", "advertised.port"}, whenSet("Kafka 3 removed it; use listeners and advertised.listeners")},
}

func whenSet(why string) func(string) string {
	return func(v string) string {
		if v == "" {
			return ""
		}
		return why
	}
}

func whenTrue(why string) func(string) string {
	return func(v string) string {
		if strings.EqualFold(v, "true") {
			return why
		}
		return ""
	}
}
