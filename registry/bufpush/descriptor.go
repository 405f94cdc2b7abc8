package bufpush

import (
	modulev1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/module/v1"
	"google.golang.org/protobuf/types/descriptorpb"
)

// getFileDescriptorSet compiles a commit. Options are all there, also those that only sources keep.
func getFileDescriptorSet(c *call, q *modulev1.GetFileDescriptorSetRequest) (*modulev1.GetFileDescriptorSetResponse, error) {
	if len(q.GetIncludeTypes())+len(q.GetExcludeTypes()) > 0 {
		return nil, newFault(unimplemented, "descriptors of some types alone are not made here; ask for all and choose from them, as buf build --type does")
	}
	select {
	case c.pushes <- struct{}{}:
		defer func() { <-c.pushes }()
	case <-c.Context().Done():
		return nil, c.Context().Err()
	}
	v := c.view()
	commit, err := v.commitOf(q.GetResourceRef())
	if err != nil {
		return nil, err
	}
	files, _, _, err := compileCommit(c.Context(), v, commit)
	if err != nil {
		return nil, err
	}
	set := &descriptorpb.FileDescriptorSet{File: descriptors(files, !q.GetExcludeImports())}
	if !q.GetIncludeSourceCodeInfo() {
		for i, f := range set.GetFile() {
			if f.GetSourceCodeInfo() != nil {
				set.File[i] = withoutSource(f)
			}
		}
	}
	return &modulev1.GetFileDescriptorSetResponse{FileDescriptorSet: set, Commit: commit.wire()}, nil
}

// withoutSource is a descriptor without the places of its source. The one given is shared and stays as it is.
func withoutSource(f *descriptorpb.FileDescriptorProto) *descriptorpb.FileDescriptorProto {
	return &descriptorpb.FileDescriptorProto{
		Name: f.Name, Package: f.Package, Dependency: f.GetDependency(), PublicDependency: f.GetPublicDependency(),
		WeakDependency: f.GetWeakDependency(), OptionDependency: f.GetOptionDependency(), MessageType: f.GetMessageType(),
		EnumType: f.GetEnumType(), Service: f.GetService(), Extension: f.GetExtension(), Options: f.GetOptions(),
		Syntax: f.Syntax, Edition: f.Edition,
	}
}
