// Package clientmetrics lets clients hand their own metrics to the broker (KIP-714). It tells each client which metrics to
// push and how often, by the client metrics subscriptions of the cluster, judges the pushes, decodes what they carry
// (OTLP metrics, compressed or not), and hands it to a Sink.
//
// # Who calls it
//
// Package broker, for the requests GetTelemetrySubscriptions and PushTelemetry. It gives the subscriptions with every
// request, so that a change of them takes effect at once.
//
// # Where to start reading
//
// manager.go is what the verbs call. instance.go is one client and the rules about when it may ask and push, pure and with
// the time as a value. otlp.go reads the payload.
//
// # Invariants
//
//   - Memory is bounded: at most maxInstances clients are remembered, the one that was silent for longest goes first; a
//     payload is bounded as sent (Options.MaxBytes) and when it is expanded (maxExpanded).
//   - A payload that isn't valid OTLP is an error, never a panic, and reaches no sink.
//
// There are no goroutines; the Manager may be called from any.
package clientmetrics
