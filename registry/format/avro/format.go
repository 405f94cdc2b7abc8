package avro

import (
	"context"
	"fmt"

	"moldau/registry/format"
)

// Format is the schema language Avro.
type Format struct{ limits format.Limits }

// New makes the format with its limits.
func New(l format.Limits) *Format { return &Format{l} }

// Name is format.Avro.
func (f *Format) Name() string { return format.Avro }

// Parse turns a source into a schema. What is accepted is what the Java library accepts, with its strict names and its
// check of defaults where the source is new, and with the rules of older registries where it is not.
func (f *Format) Parse(ctx context.Context, s format.Source) (format.Schema, error) {
	if err := f.limits.Admit(s); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.limits.Time)
	defer cancel()
	g, err := parse(ctx, s, f.limits)
	if err != nil {
		return nil, err
	}
	schema := &Schema{limits: f.limits, source: s, graphs: g}
	schema.canonical = printSchema(g.root, g.external())
	return schema, nil
}

// Check answers what keeps the reader from reading what the writer wrote.
func (f *Format) Check(ctx context.Context, reader, writer format.Schema, o format.CheckOptions) ([]format.Incompatibility, error) {
	r, ok := reader.(*Schema)
	if !ok {
		return nil, fmt.Errorf("%w: the reader is %s", format.ErrForeign, reader.Format())
	}
	w, ok := writer.(*Schema)
	if !ok {
		return nil, fmt.Errorf("%w: the writer is %s", format.ErrForeign, writer.Format())
	}
	ctx, cancel := context.WithTimeout(ctx, f.limits.CheckTime)
	defer cancel()
	return check(ctx, r.graphs.root, w.graphs.root, o)
}
