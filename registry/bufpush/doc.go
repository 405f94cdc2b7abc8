// Package bufpush is the registry's door for the buf CLI: modules are pushed to it and read back, and what is pushed becomes
// subjects of the schema registry.
//
// The protocol is Connect's for single answers: a POST to the path of a procedure with a message as body. One table,
// endpoints.go, says what is served; paths that it does not have are answered 404. The messages are the published ones of
// buf's registry. Errors get their codes in one place, fault.go. Who may do what is asked of package registry.
//
// # What is kept
//
// Owners, modules, commits, labels and the contents of files are entries of the store's ledger (record.go), a topic of its
// own, so that the topic of schemas stays one that other registries can read. All of it is in memory; contents are kept
// once, however many commits have them. Modules are also made from what is inside the program (builtin.go), and from the
// Protobuf subjects of the catalog (generated.go): a subject NAME is the module subjects/NAME, its versions are commits.
//
// # A push
//
// push.go reads it, graph.go finds by the imports which module needs which, compile.go compiles all of them together,
// subject.go finds the subjects of their messages, and one commit of the store, which is one transaction, writes entries
// and schemas, or nothing when a subject's compatibility speaks against it. The digest (digest.go) is over the files and the
// digests of all that they need; a push of what is there already finds it.
//
// A file is registered under its import path, after those it imports, and then under the subjects of its messages, with
// the text and references that serializers of Confluent send. No metadata is added, since it would make another schema of
// it. Only a module's default label moves subjects; a push to other labels is tried and complaints are warnings.
//
// # Invariants
//
//   - A commit never changes, and its dependencies are there as long as it is.
//   - A subject belongs to one module, until that is deleted. Whatever is not pushed takes subjects as it wants.
//   - A request is bounded in size, also uncompressed, and in the number of its fields (codec.go); an answer in the size of its files.
//     Large ones share a budget of memory (package memory), and only so many pushes are compiled at once.
//
// On a replica that does not write, a call that changes something is sent on to the one that does (package relay). The
// package has no goroutines of its own.
//
// Start reading at handler.go, then endpoints.go and push.go.
package bufpush
