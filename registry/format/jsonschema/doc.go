// Package jsonschema knows JSON Schema: which texts are valid schemas, which text of a schema is stored, and whether data
// written with one schema can be read with another.
//
// Drafts 4, 6, 7, 2019-09 and 2020-12 are known by their $schema; a schema that names none, or one nobody knows, is of
// draft 7. The registry formats by this package; nothing else calls it.
//
// # From text to answer
//
// read.go reads a text into a tree that keeps the order of members and every digit (value.go); print.go writes the tree in
// the one form that is stored. compile.go hands the tree to the validator library, which resolves references, and holds it
// against the metaschema of its draft (prepare.go mends what others accept). library.go is the only source of referenced documents: the texts of the source and
// the metaschemas, never the network. build.go turns the compiled schema into a graph of nodes (node.go), in which every
// node has one kind, as object or allOf. diff.go compares two graphs, with one file for each kind: diff_object.go,
// diff_array.go, diff_number.go, diff_string.go, diff_combined.go. difference.go names every kind of difference and says
// which of them are allowed, describe.go puts them into words.
//
// # What is compared and what is not
//
// The rules and the names of the differences are those of Confluent's registry, so that a subject may move between the two.
// That includes what those rules do not look at: if, then and else; propertyNames; the schema of contains; format; a name
// in required that is no property of both schemas.
//
// # Invariants
//
//   - A graph is complete and never changes once Parse has returned it. It may be cyclic, as references are.
//   - Comparing two graphs looks at each pair of nodes at most once a pass; a pass is repeated only when it found a pair
//     that differs, so it ends. The number of steps, the depth and the differences kept are bounded besides the time.
//   - The library cannot be stopped. What would make it slow is counted before it is given a schema (survey.go), which
//     leaves it about a second of work at the very most.
//   - A pattern runs in Go's linear engine where that knows its syntax, else in a backtracking one that is stopped after
//     matchTime.
//
// # Goroutines
//
// The package starts none. The backtracking engine keeps a clock in one goroutine of its own that ends about a second
// after the last use of a pattern that needs it.
//
// Start reading at format.go.
package jsonschema
