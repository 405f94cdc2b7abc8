// Package validation judges batches of records by the schemas that they name, on behalf of a broker. It takes schemas from a
// [Source], a replica of the registry's catalog: that of a registry in the same process, or a reader of the topic.
//
// [Validator.Validate] walks the records of a batch. For each key or value that is asked for it finds the schema by the id in
// front of the payload or the GUID in a header (judge.go), asks whether the schema stands under the right subject, and at the
// levels beyond [ID] has package conform check the payload. What is compiled is kept (checkers.go).
//
// # What waits
//
// A schema that the catalog does not hold makes the caller wait until the catalog has reached the end of the topic as of now; a
// schema that is not compiled yet makes it wait for that. Both take a second at most, and only a few callers wait at a time; the
// others, and those for whom the second was too short, are told to try again with [ErrUnavailable]. An unknown schema is never
// let in, and nothing is refused for its schema or subject by an older catalog than the topic was when the record came.
//
// # Invariants
//
//   - Nothing is opened and no goroutine runs until the first batch is to be validated.
//   - Schemas of the default context only are looked at. Deleted versions count, as consumers can still read them.
//   - The topic of the registry itself is never validated.
//   - The series of metrics are bounded, whatever topics there are.
//   - Messages never hold more of a payload than a few characters.
//
// # Goroutines
//
// One for each schema that is being compiled, a bounded number at a time; Close waits for them.
//
// Start reading at validator.go.
package validation
