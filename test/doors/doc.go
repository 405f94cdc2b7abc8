// Package doors sends real input through every door of a running process, one in and all out, and compares it byte for
// byte: the record endpoints over HTTP, and the gRPC services.
package doors
