package jsonschema

import (
	"context"
	"fmt"

	"moldau/registry/format"
)

// Format is the schema language JSON Schema.
type Format struct{ limits format.Limits }

// New makes the format with its limits.
func New(l format.Limits) *Format { return &Format{l} }

// Name is format.JSON.
func (f *Format) Name() string { return format.JSON }

// Parse turns a source into a schema. A new one has to compile: it conforms to the metaschema of its draft, and every
// reference leads to a part of it, to one of the texts of the source, or to a metaschema. One that is not new needs only be
// JSON; what is wrong with it is told when it is to be compared or validated.
func (f *Format) Parse(ctx context.Context, s format.Source) (format.Schema, error) {
	if err := f.limits.Admit(s); err != nil {
		return nil, err
	}
	documents, err := readDocuments(s, levels*f.limits.Depth)
	if err != nil {
		return nil, err
	}
	if err := documents.admit(f.limits); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("parse JSON schema: %w", err)
	}
	schema := &Schema{documents: documents, canonical: printJSON(documents.root.value, false)}
	schema.compiled, schema.broken = compile(documents)
	if schema.broken == nil {
		schema.graph, schema.broken = build(schema.compiled, documents, f.limits.Fields)
	}
	if schema.broken != nil && s.New {
		return nil, schema.broken
	}
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
	readerLabel, writerLabel := o.Labels()
	if r.broken != nil {
		return nil, fmt.Errorf("the %s schema: %w", readerLabel, r.broken)
	}
	if w.broken != nil {
		return nil, fmt.Errorf("the %s schema: %w", writerLabel, w.broken)
	}
	differences, err := f.compare(ctx, w, r, o.Policy, false)
	if err != nil {
		return nil, err
	}
	found := make([]format.Incompatibility, 0, len(differences))
	for _, d := range differences {
		found = append(found, d.incompatibility(readerLabel, writerLabel))
	}
	return found, nil
}
