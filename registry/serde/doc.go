// Package serde turns JSON into the payloads that the serializers of schema registries write, and such payloads into JSON.
// It is a client of a registry, ours or any other that speaks Confluent's protocol, and knows Avro, Protobuf and JSON
// Schema by the packages below moldau/registry/format.
//
// The gateway and the commands are its users. [Serde.Encoder] finds a schema, by its id, by subject and version, or by its
// text; the [Encoder] writes payloads. [Serde.Decode] finds the schema that a payload names, and reads it.
//
// # Payloads
//
// A payload begins with a zero and the id of its schema in four bytes. Or a record header, [KeyHeader] or [ValueHeader],
// holds a one and the sixteen bytes of the schema's GUID, and the payload has nothing in front. In Protobuf the path of
// the message follows either, as zigzag varints (wire.go).
//
// Avro: JSON is Avro's own, in which a value of a union stands in an object with the name of its branch, bytes are
// characters up to U+00FF, and logical types are the numbers and bytes they are made of. Encoding also takes union values
// without the name where they fit one branch only, and fills in the defaults of fields that are left out. A schema that is
// just bytes has no length in front of them, as in Java's serializer.
//
// Protobuf: JSON is the language's own mapping; decoding writes fields without presence also at their default.
//
// JSON Schema: a value is held against the schema when it is encoded, and only checked to be JSON when it is decoded.
//
// # Invariants
//
//   - Whatever the bytes or the JSON are, a call ends in time and memory that their size bounds, with a result or an error.
//   - A schema is fetched once while it is remembered, however many ask for it at the same time; what the registry does not
//     have, or could not answer, is remembered for a moment too. The memory for schemas is bounded.
//   - No goroutine outlives a call, but those of idle connections, which Close ends.
//
// Start reading at serde.go, encode.go and decode.go. fetch.go speaks to the registry, cache.go remembers, avro.go and protobuf.go
// hold the languages.
package serde
