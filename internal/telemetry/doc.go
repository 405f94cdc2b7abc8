// Package telemetry holds what a process tells about itself: the logger, the
// metrics registry with its HTTP handler, and the health checks behind /livez
// and /readyz.
//
// cmd/moldau builds one of each at start and passes them on; rooms get a
// *slog.Logger and a prometheus.Registerer and know nothing of this package.
// There are no globals and no goroutines. Health may be used concurrently.
//
// Start reading at health.go.
package telemetry
