package format

import (
	"fmt"
	"time"
)

// Limits bounds what a schema may cost. Constructors of formats take them.
type Limits struct {
	// TextBytes bounds one text, TotalBytes a text together with all it refers to.
	TextBytes, TotalBytes int
	// Depth bounds how deeply a schema nests.
	Depth int
	// Fields bounds the fields, properties, symbols and branches of a schema together with what it refers to.
	Fields int
	// References bounds the texts reached through references.
	References int
	// Time bounds one Parse, CheckTime one Check.
	Time, CheckTime time.Duration
}

// DefaultLimits are the bounds that hold unless the operator sets others.
func DefaultLimits() Limits {
	return Limits{
		TextBytes:  1 << 20,
		TotalBytes: 8 << 20,
		Depth:      64,
		Fields:     10_000,
		References: 1_000,
		Time:       2 * time.Second,
		CheckTime:  2 * time.Second,
	}
}

// Admit checks a source's sizes before anything looks into its texts.
func (l Limits) Admit(s Source) error {
	if len(s.Text) > l.TextBytes {
		return fmt.Errorf("%w: the text has %d bytes, %d are allowed", ErrTooLarge, len(s.Text), l.TextBytes)
	}
	if len(s.References) > l.References {
		return fmt.Errorf("%w: %d references, %d are allowed", ErrTooLarge, len(s.References), l.References)
	}
	total := len(s.Text)
	for _, r := range s.References {
		total += len(r.Text)
	}
	if total > l.TotalBytes {
		return fmt.Errorf("%w: %d bytes with all references, %d are allowed", ErrTooLarge, total, l.TotalBytes)
	}
	return nil
}
