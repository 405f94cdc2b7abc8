// Package invariant holds assertions that cost nothing in a release build.
//
// Build with `-tags invariants` to switch them on; every test run of the project does. An invariant states what the code itself
// promises. What bytes from outside can cause is an error, never an invariant.
package invariant
