// Package protobuf knows Protobuf schemas: it compiles files with what they import, prints them in the form that is stored,
// and says whether data written with one can be read with another.
//
// # Two views of a file
//
// Elements (element.go) are what the text of a file says: types and options as they are written. The stored text is printed
// from them (print.go), so that it is the one that other registries and their clients print for the same text. They come
// from a syntax tree (read.go), or from a FileDescriptorProto (describe.go), which clients send in base64.
//
// Descriptors are what the compiler made of the file (compile.go): every name is resolved. Compatibility (check.go) and the
// normalized text (normalize.go) are worked out with them.
//
// Two things are not as the language has them. A text may spell out the messages that hold the entries of maps
// (spelled.go), because clients print their descriptors so. And imports that are built in (builtin.go) need no reference.
//
// # Where the stored text is not that of others
//
// Other registries lose what their model has no place for; we keep it: the extensions among the options of a descriptor, its
// groups, weak imports, editions, defaults of bytes, and numbers with more than three decimals. In a normalized proto3 file
// the enum value that is zero stays first, as the language demands. A new text must compile, with every import it names;
// others accept imports that no type comes from, and so does this package for what is stored already.
//
// # Invariants
//
//   - The elements of a file printed and read again are the same elements.
//   - Messages keep their order in every form, because records name their message by its place.
//   - The compiler is contained: it runs in the caller's goroutine, and a panic in it is an error of the text.
//
// Start reading at format.go.
package protobuf
