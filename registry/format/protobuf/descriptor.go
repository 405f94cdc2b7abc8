package protobuf

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"moldau/registry/format"
)

// decodeDescriptor answers the file descriptor that a text holds in base64, nil when it holds none.
func decodeDescriptor(text string) *descriptorpb.FileDescriptorProto {
	text = strings.TrimRight(strings.TrimSpace(text), "=")
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	fd := &descriptorpb.FileDescriptorProto{}
	if err := proto.Unmarshal(raw, fd); err != nil || len(fd.ProtoReflect().GetUnknown()) > 0 {
		return nil
	}
	if len(fd.GetMessageType())+len(fd.GetEnumType())+len(fd.GetDependency())+len(fd.GetService())+len(fd.GetExtension()) == 0 {
		return nil
	}
	return fd
}

// linkDescriptor compiles a file that came as a descriptor.
func linkDescriptor(name string, fd *descriptorpb.FileDescriptorProto, find importer, l format.Limits) (*unit, error) {
	fd.Name = proto.String(name)
	fd.SourceCodeInfo = nil
	if depthOf(fd.GetMessageType(), l.Depth) > l.Depth {
		return nil, fmt.Errorf("%w: nested too deeply", format.ErrTooLarge)
	}
	dropDefaultNames(fd)
	deps, complete, err := imports(fd, find)
	if err != nil {
		return nil, err
	}
	given := proto.Clone(fd).(*descriptorpb.FileDescriptorProto)
	renameMapEntries(fd.GetMessageType())
	desc, err := protodesc.FileOptions{AllowUnresolvable: !complete}.New(fd, visible(deps).AsResolver())
	if err != nil {
		return nil, format.Invalid("the descriptor: %w", err)
	}
	linked, err := linker.NewFile(desc, deps)
	if err != nil {
		return nil, format.Invalid("the descriptor: %w", err)
	}
	u := &unit{linked: linked}
	if u.proto, err = withExtensions(protodesc.ToFileDescriptorProto(desc), linker.ResolverFromFile(linked)); err != nil {
		return nil, err
	}
	if given, err = withExtensions(given, linker.ResolverFromFile(linked)); err != nil {
		return nil, err
	}
	u.file = describe(given)
	if u.file.count() > l.Fields {
		return nil, fmt.Errorf("%w: too many messages, fields and values", format.ErrTooLarge)
	}
	return u, nil
}

// withExtensions reads a descriptor again, with the options that it imports.
func withExtensions(fd *descriptorpb.FileDescriptorProto, types linker.Resolver) (*descriptorpb.FileDescriptorProto, error) {
	raw, err := proto.Marshal(fd)
	if err != nil {
		return nil, format.Invalid("the descriptor: %w", err)
	}
	known := &descriptorpb.FileDescriptorProto{}
	if err := (proto.UnmarshalOptions{Resolver: types}).Unmarshal(raw, known); err != nil {
		return nil, format.Invalid("the descriptor's options: %w", err)
	}
	return known, nil
}

// visible adds to a file's imports what they import publicly.
func visible(deps linker.Files) linker.Files {
	var all linker.Files
	seen := map[string]bool{}
	var add func(f linker.File)
	add = func(f linker.File) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		all = append(all, f)
		for i := range f.Imports().Len() {
			if imp := f.Imports().Get(i); imp.IsPublic {
				if dep := f.FindImportByPath(imp.Path()); dep != nil {
					add(dep)
				}
			}
		}
	}
	for _, d := range deps {
		add(d)
	}
	return all
}

// depthOf is how deeply messages nest, counted as far as the limit.
func depthOf(messages []*descriptorpb.DescriptorProto, limit int) int {
	deepest := 0
	for _, m := range messages {
		if limit >= 0 {
			deepest = max(deepest, 1+depthOf(m.GetNestedType(), limit-1))
		}
	}
	return deepest
}
