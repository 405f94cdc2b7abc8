package kafka

import (
	"errors"
	"fmt"
	"time"
)

// Config bounds the Kafka edge. The tag kafka holds the key (Kafka's own where Kafka has one), the tag doc the text of the
// reference page; keys ending in .ms are milliseconds and become time.Duration. Start from DefaultConfig.
type Config struct {
	NumIOThreads   int `kafka:"num.io.threads" doc:"How many requests execute at the same time. Requests that only wait do not count."`
	QueuedMax      int `kafka:"queued.max.requests" doc:"How many requests may wait for one of the num.io.threads; beyond it connections are not read."`
	RequestMaxSize int `kafka:"socket.request.max.bytes" doc:"The size of a request at most. Larger ones close the connection."`
	InFlightBytes  int `kafka:"queued.max.request.bytes" doc:"The memory that requests being received or executed hold at most, over all connections; beyond it connections are not read. 0 takes a quarter of the memory, 1 GiB at most."`

	UnauthenticatedMaxSize int           `kafka:"request.unauthenticated.max.bytes" doc:"The size of a request at most before the peer has authenticated."`
	ControlRequestMaxSize  int           `kafka:"request.control.max.bytes" doc:"The size of a request that carries no records at most."`
	AuthenticationTimeout  time.Duration `kafka:"connection.authentication.timeout.ms" doc:"How long a peer may take to authenticate, TLS handshake included."`

	MaxConnections      int           `kafka:"max.connections" doc:"The number of connections at most. 0 takes 70 % of the limit of open files, 10,000 at most."`
	MaxConnectionsPerIP int           `kafka:"max.connections.per.ip" doc:"The number of connections from one address at most. 0 is no limit."`
	MaxConnectionRate   int           `kafka:"max.connection.creation.rate" doc:"The number of connections that are accepted in a second at most; others are closed at once. 0 is no limit."`
	MaxIdle             time.Duration `kafka:"connections.max.idle.ms" doc:"How long a connection may be idle before it is closed."`
	FrameGrace          time.Duration `kafka:"request.receive.grace.ms" doc:"How long a request may take to arrive before it must progress by 1 KiB/s."`
	WriteTimeout        time.Duration `kafka:"response.write.timeout.ms" doc:"How long the peer may leave a response unread before the connection is closed."`

	ReadAheadRequests int `kafka:"connection.max.read.ahead.requests" doc:"How many requests of one connection are executed while the answer to an earlier one waits."`
	ReadAheadBytes    int `kafka:"connection.max.read.ahead.bytes" doc:"The size of the requests of one connection that are executed while the answer to an earlier one waits."`

	FetchSessionSlots int `kafka:"max.incremental.fetch.session.cache.slots" doc:"The number of incremental fetch sessions that are kept."`
}

// DefaultConfig returns Kafka's defaults, and ours where Kafka has none.
func DefaultConfig() Config {
	return Config{
		NumIOThreads:           8,
		QueuedMax:              500,
		RequestMaxSize:         100 << 20,
		UnauthenticatedMaxSize: 64 << 10,
		ControlRequestMaxSize:  16 << 20,
		AuthenticationTimeout:  10 * time.Second,
		MaxIdle:                10 * time.Minute,
		FrameGrace:             10 * time.Second,
		WriteTimeout:           30 * time.Second,
		ReadAheadRequests:      100,
		ReadAheadBytes:         16 << 20,
		FetchSessionSlots:      1000,
	}
}

// Validate says everything that is wrong with c at once.
func (c *Config) Validate() error {
	var errs []error
	atLeast := func(key string, value, least int) {
		if value < least {
			errs = append(errs, fmt.Errorf("%s is %d, it must be at least %d", key, value, least))
		}
	}
	atLeast("num.io.threads", c.NumIOThreads, 1)
	atLeast("queued.max.requests", c.QueuedMax, 1)
	atLeast("socket.request.max.bytes", c.RequestMaxSize, 1024)
	atLeast("queued.max.request.bytes", c.InFlightBytes, 0)
	atLeast("request.unauthenticated.max.bytes", c.UnauthenticatedMaxSize, 1024)
	atLeast("request.control.max.bytes", c.ControlRequestMaxSize, 1024)
	atLeast("max.connections", c.MaxConnections, 0)
	atLeast("max.connections.per.ip", c.MaxConnectionsPerIP, 0)
	atLeast("max.connection.creation.rate", c.MaxConnectionRate, 0)
	atLeast("connection.max.read.ahead.requests", c.ReadAheadRequests, 1)
	atLeast("connection.max.read.ahead.bytes", c.ReadAheadBytes, 1)
	atLeast("max.incremental.fetch.session.cache.slots", c.FetchSessionSlots, 0)
	for key, value := range map[string]time.Duration{
		"connection.authentication.timeout.ms": c.AuthenticationTimeout,
		"connections.max.idle.ms":              c.MaxIdle,
		"request.receive.grace.ms":             c.FrameGrace,
		"response.write.timeout.ms":            c.WriteTimeout,
	} {
		if value < time.Second {
			errs = append(errs, fmt.Errorf("%s is %v, it must be at least 1 s", key, value))
		}
	}
	return errors.Join(errs...)
}
