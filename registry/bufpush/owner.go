package bufpush

import (
	ownerv1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/owner/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"

	"moldau/registry"
)

// currentUser is the principal of a call. Where there are no tokens everybody is the same user.
func (c *call) currentUser() (string, error) {
	p := registry.Principal(c.Context())
	if p == registry.Anonymous && c.registry.Config().TokensFile != "" {
		return "", newFault(unauthenticated, "the request shows no token")
	}
	return p, nil
}

func getCurrentUser(c *call, _ *ownerv1.GetCurrentUserRequest) (*ownerv1.GetCurrentUserResponse, error) {
	p, err := c.currentUser()
	if err != nil {
		return nil, err
	}
	return &ownerv1.GetCurrentUserResponse{User: &ownerv1.User{
		Id: userID(p), CreateTime: at(0), UpdateTime: at(0), Name: userName(p),
		Type: ownerv1.UserType_USER_TYPE_STANDARD, State: ownerv1.UserState_USER_STATE_ACTIVE,
		VerificationStatus: ownerv1.UserVerificationStatus_USER_VERIFICATION_STATUS_UNVERIFIED,
	}}, nil
}

// The fields of the answer of the older call, by which clients log in: a user with id and name.
const (
	alphaUser     = 1
	alphaUserID   = 1
	alphaUserName = 4
)

// getCurrentUserAlpha answers the older call. Its messages are not among the published ones, so the few fields are written
// here.
func getCurrentUserAlpha(c *call, _ *emptypb.Empty) (*emptypb.Empty, error) {
	p, err := c.currentUser()
	if err != nil {
		return nil, err
	}
	var user []byte
	user = protowire.AppendTag(user, alphaUserID, protowire.BytesType)
	user = protowire.AppendString(user, userID(p))
	user = protowire.AppendTag(user, alphaUserName, protowire.BytesType)
	user = protowire.AppendString(user, userName(p))
	out := new(emptypb.Empty)
	out.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, alphaUser, protowire.BytesType), user))
	return out, nil
}

func getOrganizations(c *call, q *ownerv1.GetOrganizationsRequest) (*ownerv1.GetOrganizationsResponse, error) {
	v := c.view()
	owners, err := each(q.GetOrganizationRefs(), func(ref *ownerv1.OrganizationRef) (*ownerv1.Organization, error) {
		var o *owner
		var err error
		switch r := ref.GetValue().(type) {
		case *ownerv1.OrganizationRef_Id:
			o, err = v.ownerByID(r.Id)
		case *ownerv1.OrganizationRef_Name:
			o, err = v.owner(r.Name)
		default:
			err = invalid("a reference to an organization has neither id nor name")
		}
		if err != nil {
			return nil, err
		}
		return o.organization(), nil
	})
	if err != nil {
		return nil, err
	}
	return &ownerv1.GetOrganizationsResponse{Organizations: owners}, nil
}

func listOrganizations(c *call, q *ownerv1.ListOrganizationsRequest) (*ownerv1.ListOrganizationsResponse, error) {
	if len(q.GetUserRefs()) > 0 {
		return nil, newFault(unimplemented, "organizations have no members here")
	}
	all := list[owner](c.view().ledger, ownerKey(""))
	ordered(all, q.GetOrder() == ownerv1.ListOrganizationsRequest_ORDER_CREATE_TIME_ASC,
		func(o *owner) int64 { return o.Created }, func(o *owner) string { return o.Name })
	part, next, err := page(all, q.GetPageSize(), q.GetPageToken())
	if err != nil {
		return nil, err
	}
	out := &ownerv1.ListOrganizationsResponse{NextPageToken: next}
	for _, o := range part {
		out.Organizations = append(out.Organizations, o.organization())
	}
	return out, nil
}

func createOrganizations(c *call, q *ownerv1.CreateOrganizationsRequest) (*ownerv1.CreateOrganizationsResponse, error) {
	if err := checkRefs(q.GetValues()); err != nil {
		return nil, err
	}
	var out *ownerv1.CreateOrganizationsResponse
	err := c.registry.Amend(c.Context(), func(d *registry.Draft) error {
		out = new(ownerv1.CreateOrganizationsResponse)
		for _, q := range q.GetValues() {
			if _, ok := d.Ledger().Get(ownerKey(q.GetName())); ok {
				return newFault(alreadyExists, "there is an owner %s already", q.GetName())
			}
			o, err := c.needOwner(d, &owner{Name: q.GetName(), Description: q.GetDescription(), URL: q.GetUrl()})
			if err != nil {
				return err
			}
			out.Organizations = append(out.Organizations, o.organization())
		}
		return nil
	})
	return out, err
}
