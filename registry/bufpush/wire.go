package bufpush

import (
	"strings"
	"time"

	modulev1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/module/v1"
	ownerv1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/owner/v1"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func at(ms int64) *timestamppb.Timestamp { return timestamppb.New(time.UnixMilli(ms)) }

// userID is the id of a user.
func userID(principal string) string {
	if principal == "" {
		return ""
	}
	return fixedID("user", principal)
}

func userName(principal string) string {
	return strings.ToLower(strings.TrimPrefix(principal, "User:"))
}

func (m *module) wire() *modulev1.Module {
	out := &modulev1.Module{
		Id: m.ID, CreateTime: at(m.Created), UpdateTime: at(m.Updated), Name: m.Name, OwnerId: m.OwnerID,
		Visibility: modulev1.ModuleVisibility_MODULE_VISIBILITY_PUBLIC, State: modulev1.ModuleState_MODULE_STATE_ACTIVE,
		Description: m.Description, Url: m.URL, DefaultLabelName: m.DefaultLabel,
	}
	if m.Private {
		out.Visibility = modulev1.ModuleVisibility_MODULE_VISIBILITY_PRIVATE
	}
	if m.Deprecated {
		out.State = modulev1.ModuleState_MODULE_STATE_DEPRECATED
	}
	return out
}

func (c *commit) wire() *modulev1.Commit {
	return &modulev1.Commit{
		Id: c.ID, CreateTime: at(c.Created), OwnerId: c.OwnerID, ModuleId: c.ModuleID, CreatedByUserId: userID(c.User),
		Digest:           &modulev1.Digest{Type: modulev1.DigestType_DIGEST_TYPE_B5, Value: c.Digest},
		SourceControlUrl: c.Source,
	}
}

func (l *label) wire() *modulev1.Label {
	out := &modulev1.Label{
		Id: l.ID, CreateTime: at(l.Created), UpdateTime: at(l.Updated), Name: l.Name, OwnerId: l.OwnerID, ModuleId: l.ModuleID,
		CommitId: l.Commit, UpdatedByUserId: userID(l.User), CommitCheckState: noCheck(),
	}
	if l.Archived != 0 {
		out.ArchiveTime = at(l.Archived)
	}
	return out
}

// noCheck says that commits are not looked through by anybody before they count.
func noCheck() *modulev1.CommitCheckState {
	return &modulev1.CommitCheckState{Status: modulev1.CommitCheckStatus_COMMIT_CHECK_STATUS_DISABLED}
}

func (o *owner) organization() *ownerv1.Organization {
	return &ownerv1.Organization{
		Id: o.ID, CreateTime: at(o.Created), UpdateTime: at(o.Updated), Name: o.Name, Description: o.Description, Url: o.URL,
		VerificationStatus: ownerv1.OrganizationVerificationStatus_ORGANIZATION_VERIFICATION_STATUS_UNVERIFIED,
		Visibility:         ownerv1.OrganizationVisibility_ORGANIZATION_VISIBILITY_PUBLIC,
	}
}

func (o *owner) wire() *ownerv1.Owner {
	return &ownerv1.Owner{Value: &ownerv1.Owner_Organization{Organization: o.organization()}}
}
