// Package jsontext reads and writes JSON as text: values stay as they are written, so that no digit is lost and nothing
// is copied that need not be. The record endpoints of the gateway are its users. It has no state and no goroutines.
//
// Scanner walks over a text and checks it; Compact and Squeeze take the white space out; Unescape and AppendString go
// from the inside of a JSON string to text and back. Start reading at scanner.go.
package jsontext
