// Package http is the registry's door for HTTP, in the protocol of Confluent's schema registry.
//
// One table, endpoints.go, says what is served; dispatch, metric labels and the reference page are made from it. A
// request goes handler.go → path.go (segments, contexts, aliases) → its endpoint → package registry; what comes back is
// written by answer.go, and errors by errors.go, which holds the only table from the registry's errors to codes.
//
// A write that another replica must do is forwarded to it as it came, signed, and its answer is passed on (forward.go).
// A request that was forwarded is never forwarded again.
//
// The package has no goroutines of its own.
package http
