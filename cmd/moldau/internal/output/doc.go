// Package output prints what a command found in the form the user asked for
// with -o: a table, a wide table, JSON, one JSON value a line, YAML, or names.
//
// A command describes its rows once (Columns for people, the json tags of the
// row type for programs) and calls Print. The JSON form is a contract: fields
// are added, never renamed. Data goes to the writer it is given and nothing
// else does.
package output
