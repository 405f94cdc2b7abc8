package serde

import (
	_ "embed"
	"io"
)

//go:embed reference.md
var reference string

// WriteReference writes the part of the registry's reference page that is about encoding and decoding.
func WriteReference(w io.Writer) error {
	_, err := io.WriteString(w, reference)
	return err
}
