package bufpush

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
)

// endpoint is one call.
type endpoint struct {
	request func() proto.Message
	handle  func(*call, proto.Message) (proto.Message, error)
	once    bool // to carry it out twice does not come to the same
	bulky   bool // the request may be as large as a push
}

// message is a message that Q is the type of.
type message[Q any] interface {
	*Q
	proto.Message
}

// unary makes an endpoint of a function.
func unary[Q any, P message[Q], A proto.Message](f func(*call, P) (A, error)) endpoint {
	return endpoint{
		request: func() proto.Message { return P(new(Q)) },
		handle: func(c *call, in proto.Message) (proto.Message, error) {
			out, err := f(c, in.(P))
			if err != nil {
				return nil, err
			}
			return out, nil
		},
	}
}

// once marks an endpoint as one that is not to be repeated when it is not known whether it was carried out: it makes or deletes
// something, and answers that this is there already, or gone, the second time.
func once(e endpoint) endpoint {
	e.once = true
	return e
}

// bulky marks an endpoint as one whose requests may be as large as a push.
func bulky(e endpoint) endpoint {
	e.bulky = true
	return e
}

// endpoints are all calls that are served, by their paths.
var endpoints = map[string]endpoint{
	"/buf.registry.module.v1.ModuleService/GetModules":    unary(getModules),
	"/buf.registry.module.v1.ModuleService/ListModules":   unary(listModules),
	"/buf.registry.module.v1.ModuleService/CreateModules": once(unary(createModules)),
	"/buf.registry.module.v1.ModuleService/UpdateModules": unary(updateModules),
	"/buf.registry.module.v1.ModuleService/DeleteModules": once(unary(deleteModules)),

	"/buf.registry.module.v1.UploadService/Upload":                          bulky(unary(upload)),
	"/buf.registry.module.v1.DownloadService/Download":                      unary(download),
	"/buf.registry.module.v1.GraphService/GetGraph":                         unary(getGraph),
	"/buf.registry.module.v1.CommitService/GetCommits":                      unary(getCommits),
	"/buf.registry.module.v1.CommitService/ListCommits":                     unary(listCommits),
	"/buf.registry.module.v1.ResourceService/GetResources":                  unary(getResources),
	"/buf.registry.module.v1.FileDescriptorSetService/GetFileDescriptorSet": unary(getFileDescriptorSet),
	"/buf.registry.module.v1.LabelService/GetLabels":                        unary(getLabels),
	"/buf.registry.module.v1.LabelService/ListLabels":                       unary(listLabels),
	"/buf.registry.module.v1.LabelService/ListLabelHistory":                 unary(listLabelHistory),
	"/buf.registry.module.v1.LabelService/CreateOrUpdateLabels":             unary(createOrUpdateLabels),
	"/buf.registry.module.v1.LabelService/ArchiveLabels":                    unary(archiveLabels),
	"/buf.registry.module.v1.LabelService/UnarchiveLabels":                  unary(unarchiveLabels),
	"/buf.registry.owner.v1.OwnerService/GetOwners":                         unary(getOwners),
	"/buf.registry.owner.v1.UserService/GetCurrentUser":                     unary(getCurrentUser),
	"/buf.registry.owner.v1.OrganizationService/GetOrganizations":           unary(getOrganizations),
	"/buf.registry.owner.v1.OrganizationService/ListOrganizations":          unary(listOrganizations),
	"/buf.registry.owner.v1.OrganizationService/CreateOrganizations":        once(unary(createOrganizations)),
	"/buf.alpha.registry.v1alpha1.AuthnService/GetCurrentUser":              unary(getCurrentUserAlpha),
	"/" + mixedService + "/Upload":                                          bulky(unary(uploadMixed)),
}

// mixedService is called when a module depends on modules of another registry.
const mixedService = "buf.registry.module.v1beta1.UploadService"

// uploadMixed is what clients call when a module depends on modules of another registry.
func uploadMixed(*call, *emptypb.Empty) (*emptypb.Empty, error) {
	return nil, newFault(unimplemented, "modules that depend on modules of another registry can't be pushed here; push those first, under a name of this registry, and depend on them")
}

// maxRefs is how many things one call may ask for.
const maxRefs = 250

func checkRefs[T any](refs []T) error {
	if len(refs) == 0 || len(refs) > maxRefs {
		return invalid("the request asks for %d things; it must be 1 to %d", len(refs), maxRefs)
	}
	return nil
}

// each turns every reference of a list into what it stands for.
func each[R, T any](refs []R, f func(R) (T, error)) ([]T, error) {
	if err := checkRefs(refs); err != nil {
		return nil, err
	}
	out := make([]T, 0, len(refs))
	for _, r := range refs {
		v, err := f(r)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
