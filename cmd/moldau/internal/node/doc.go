// Package node assembles a server process from the rooms: it merges the
// settings, locks the data directory, opens the sockets, starts the broker and
// the doors in front of it, and takes them down again in the opposite order.
//
// `moldau serve` is its only caller. Everything runs under Run, which returns
// when the context ends and all is closed; no goroutine outlives it.
//
// The order of a start is: settings, data directory, sockets, the HTTP door
// with its health checks, the broker, the Kafka edge, the gateway. Sockets come
// early so that a taken port costs no recovery, and so that /livez and /readyz
// answer while logs are recovered.
//
// Start reading at run.go, then settings.go.
package node
