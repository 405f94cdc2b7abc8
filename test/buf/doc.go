// Package buf runs the real buf CLI against a running registry: pushes, reads back, logs in, and is refused. A serializer of
// Confluent's client for Python must find what was pushed. What happens to pushes when the server is killed is tried in
// test/system.
//
// The CLI is built at the version that tools/buf pins, or taken from BUF_BIN; the client is installed into the cache folder
// of the user, which needs python3. The tests carry the build tag interop.
package buf
