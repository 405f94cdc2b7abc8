//go:build race

package record

// The race detector makes pools forget at random.
const raceEnabled = true
