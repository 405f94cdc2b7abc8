// Package conform holds the bytes of one record's key or value against the schema that they name. It is what a broker asks
// before it lets a record in; nothing in it does I/O, waits or starts a goroutine.
//
// [ParsePrefix] and [ParseHeader] read which schema a payload names (wire.go). [Compile] turns a schema into a [Checker] of
// one [Level]; compiling is expensive, so callers keep the Checker. The registry's validation calls both.
//
// # What is checked
//
// At [Structure] a payload is walked without being decoded. Avro (avro.go, avro_walk.go): lengths, ranges of enums and
// unions, UTF-8. Protobuf (protobuf.go, protobuf_walk.go): tags, wire types, lengths, nesting, UTF-8 where the schema
// demands it, required fields. JSON Schema (json.go, json_walk.go): every keyword; the common ones in one pass over the bytes,
// the others by the validator library of package jsonschema.
//
// [Full] adds the logical types of Avro (avro_logical.go); for the other formats it is Structure. [Rules] adds the conditions of the schema's rule set (rules.go)
// and, for Protobuf, the constraints that a schema carries as buf.validate options (protovalidate.go).
//
// What Java's decoders of Avro and Protobuf accept passes Structure, except text that is no valid UTF-8, bytes behind the
// end of the value, nesting and items without bytes beyond [Limits], and a Protobuf number of more than ten bytes, which
// protobuf-java 4.36 alone takes in one place; what they refuse is refused. So a boolean of 2, a block of an Avro array with
// a wrong size, and a Protobuf field of another wire type than the schema's are fine: no decoder minds. The package
// test/decoders holds this against the decoders themselves.
//
// # Invariants
//
//   - A Checker is immutable and safe for concurrent use. Structure allocates nothing for a conforming payload of Avro or
//     Protobuf, nor for one of JSON that the single pass can judge alone.
//   - The single pass never disagrees with the library: where it is unsure, and whenever it would refuse, it asks the library.
//   - Time is linear in the payload for Avro and Protobuf, whatever counts it claims. Depth is bounded, CEL has a cost limit.
//   - Errors of Check are of type *Violation, and never hold more than a few characters of the payload.
//
// Start reading at conform.go.
package conform
