package protobuf

import (
	"context"
	"errors"
	"fmt"

	"moldau/registry/format"
)

// Format is the schema language Protobuf.
type Format struct {
	limits format.Limits
	built  *builtins
}

// New makes the format with its limits.
func New(l format.Limits) *Format { return &Format{limits: l, built: newBuiltins()} }

// Name is format.Protobuf.
func (f *Format) Name() string { return format.Protobuf }

// Parse turns a source into a schema. The text is that of a .proto file, or the base64 of a FileDescriptorProto. A new one
// must compile with what it imports. One that is stored already need only parse: older registries did not look at imports
// that no type came from, nor at options. What does not compile then can be read, but not be compared.
func (f *Format) Parse(ctx context.Context, s format.Source) (format.Schema, error) {
	if err := f.limits.Admit(s); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.limits.Time)
	defer cancel()
	c := newCompiler(ctx, s, f.built, f.limits)
	u, err := c.compile(rootName, s.Text)
	if err != nil {
		if s.New || !errors.Is(err, format.ErrInvalid) {
			return nil, err
		}
		file, syntax := reread(s.Text, f.limits)
		if syntax != nil {
			return nil, syntax
		}
		return newSchema(f, c, &unit{file: file}, err), nil
	}
	return newSchema(f, c, u, nil), nil
}

// reread reads the elements of a text without compiling it.
func reread(text string, l format.Limits) (*file, error) {
	tree, err := parseText(rootName, text)
	if err != nil {
		if fd := decodeDescriptor(text); fd != nil && depthOf(fd.GetMessageType(), l.Depth) <= l.Depth {
			return describe(fd), nil
		}
		return nil, explain(err)
	}
	return read(tree, l)
}

// Check answers what keeps the reader from reading what the writer wrote.
func (f *Format) Check(ctx context.Context, reader, writer format.Schema, o format.CheckOptions) ([]format.Incompatibility, error) {
	r, err := own(reader, "reader")
	if err != nil {
		return nil, err
	}
	w, err := own(writer, "writer")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.limits.CheckTime)
	defer cancel()
	return check(ctx, r, w, o)
}

func own(s format.Schema, role string) (*Schema, error) {
	p, ok := s.(*Schema)
	if !ok {
		return nil, fmt.Errorf("%w: the %s is %s", format.ErrForeign, role, s.Format())
	}
	if p.broken != nil {
		return nil, fmt.Errorf("the %s's schema does not compile: %w", role, p.broken)
	}
	return p, nil
}
