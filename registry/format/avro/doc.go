// Package avro knows Avro schemas: which texts are valid, which text of a schema is stored, and whether data written with
// one schema can be read with another.
//
// The package has a model of its own and does not use the codec's, because the registry's answers hang on details that a
// codec has no use for: the order of attributes, documentation, properties, JSON paths, and which texts the Java library,
// whose judgement every other registry passes on, accepts. [Schema.Codec] hands what is accepted here to
// the codec.
//
// # From text to text
//
// json.go reads a text into a tree that keeps the order of members; parse.go makes a graph of nodes from it (node.go),
// resolving names through the references of the source and forwards within the text; default.go holds defaults against
// their types. print.go writes the graph in the one form that is stored, with types of the references left out by name;
// normalize.go brings attributes into a fixed order before that. check.go compares two graphs.
//
// Where Java loses something when it normalizes, we keep it: a default that fits another branch of a union than the first,
// and that a type has no namespace. And a schema can always read itself here, even where an alias makes a field ambiguous.
//
// # Invariants
//
//   - A graph is complete and never changes once parse has returned it: no name is unresolved, a name always leads to the
//     first definition of its type, and cycles go through named types only.
//   - The number of nodes and symbols of a graph, references included, is within Limits.Fields, so every walk over one
//     graph is short; walks over pairs of nodes carry a budget.
//
// Start reading at format.go.
package avro
