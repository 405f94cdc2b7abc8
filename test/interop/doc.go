// Package interop runs real clients of five languages against a running
// Moldau: each writes the lines of the access log with the line number as key
// and reads them back, and the test compares what came back byte for byte.
//
// Every client is a small program in a folder of its own that takes
// "bootstrap topic file" and prints one line "key<TAB>value" per record it
// read. The test installs each client with its language's package manager
// into the test's cache folder, so that the folder of the checkout stays
// clean. The tests carry the build tag interop.
//
// TestSerializers and TestNodeSerializers have payloads instead of records: what
// Confluent's serializers for Python, or those of KafkaJS, write by a schema of
// our registry, package registry/serde reads, and the other way round.
// TestJSONSchemaSuite is about schemas only: it runs the JSON Schema Test Suite.
package interop
