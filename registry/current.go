package registry

import "context"

// Current waits until this replica knows all that was committed when it was called.
func (r *Registry) Current(ctx context.Context) error { return r.store.Current(ctx) }
