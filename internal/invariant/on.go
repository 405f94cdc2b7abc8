//go:build invariants

package invariant

import "fmt"

// Enabled tells whether assertions are compiled in. Guard an expensive condition with it, so that it is not computed for nothing.
const Enabled = true

// Check panics with the formatted message unless ok holds.
func Check(ok bool, format string, args ...any) {
	if !ok {
		panic("invariant violated: " + fmt.Sprintf(format, args...))
	}
}
