// Package traps checks docs/traps.md, the list of faults that clients met with other brokers: every test that it names is there, so
// that none of them is lost when tests are moved or renamed.
package traps
