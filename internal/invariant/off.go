//go:build !invariants

package invariant

// Enabled tells whether assertions are compiled in. Guard an expensive condition with it, so that it is not computed for nothing.
const Enabled = false

// Check does nothing in a build without the invariants tag.
func Check(bool, string, ...any) {}
