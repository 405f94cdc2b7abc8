// Package metadatatest is the suite that every engine of metadata.Store must pass. A new engine is finished when
//
//	func TestContract(t *testing.T) { metadatatest.Run(t, open) }
//
// passes, also with the race detector.
package metadatatest
