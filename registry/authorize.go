package registry

import "context"

// Operation is what somebody wants to do.
type Operation string

// The operations. Those on subjects come with a subject or context, those on modules with owner/module.
const (
	ReadSubject   Operation = "read"
	WriteSubject  Operation = "write"
	DeleteSubject Operation = "delete"
	ReadConfig    Operation = "read-config"
	WriteConfig   Operation = "write-config"

	ReadPublicModule Operation = "read-public-module"
	ReadModule       Operation = "read-module"
	WriteModule      Operation = "write-module"
	DeleteModule     Operation = "delete-module"
)

// Authorizer decides who may do what. It is asked by every verb, for every subject that the answer would tell of.
type Authorizer interface {
	// Authorize answers nil when the principal may do the operation on a subject or context, given by its qualified
	// name, or on a module. The empty name is the default context. A refusal wraps ErrForbidden.
	Authorize(ctx context.Context, principal string, op Operation, name string) error
}

// AllowAll lets everybody do everything.
type AllowAll struct{}

// Authorize implements Authorizer.
func (AllowAll) Authorize(context.Context, string, Operation, string) error { return nil }

// KnownOnly lets those do everything who have told who they are, and others only read public modules.
type KnownOnly struct{}

// Authorize implements Authorizer.
func (KnownOnly) Authorize(_ context.Context, principal string, op Operation, _ string) error {
	if principal == Anonymous && op != ReadPublicModule {
		return refuse(ErrForbidden, "it needs a token")
	}
	return nil
}

type principalKey struct{}

// Anonymous is the principal of callers that have told none.
const Anonymous = "User:ANONYMOUS"

// WithPrincipal returns a context of a call on behalf of a principal.
func WithPrincipal(ctx context.Context, principal string) context.Context {
	return context.WithValue(ctx, principalKey{}, principal)
}

// Principal is the principal on behalf of whom a call is.
func Principal(ctx context.Context) string {
	if p, ok := ctx.Value(principalKey{}).(string); ok {
		return p
	}
	return Anonymous
}

func (r *Registry) allow(ctx context.Context, op Operation, subject string) error {
	return r.authorizer.Authorize(ctx, Principal(ctx), op, subject)
}

// Allow answers nil when the caller may do an operation; see Authorizer.
func (r *Registry) Allow(ctx context.Context, op Operation, name string) error {
	return r.allow(ctx, op, name)
}

// visible tells whether the caller may see a subject.
func (r *Registry) visible(ctx context.Context, subject string) bool {
	return r.allow(ctx, ReadSubject, subject) == nil
}
