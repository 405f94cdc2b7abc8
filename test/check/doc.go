// Package check judges histories: what producers were told and what readers
// saw, while a broker was killed, paused or starved. Each invariant is a
// function of the history alone, so that a test can plant a bug in a history
// and see the invariant fail.
package check
