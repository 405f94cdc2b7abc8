// Package format is the seam between the registry and the schema languages it knows: Avro, Protobuf and JSON Schema,
// each in a package of its own below this one.
//
// The registry resolves references, keeps subjects and versions, and decides which versions are compared in which
// direction. A [Format] only turns text into a [Schema] and answers, for one pair of schemas, what stands in the way of
// reading with the one what was written with the other.
//
// # Invariants
//
//   - Formats and schemas are safe for concurrent use and start no goroutine that outlives a call.
//   - A Schema never changes after Parse. It depends on its [Source] alone: the same source gives the same texts.
//   - Whatever the input is, Parse and Check end within their limits with an answer or an error, and never panic.
//
// Start reading at format.go; check.go holds compatibility, limits.go the bounds, tags.go the inline tags.
package format
