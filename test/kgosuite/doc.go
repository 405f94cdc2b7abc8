// Package kgosuite runs the integration tests of the Kafka client franz-go against ours. They are not part of this repository: the
// module of the client, which we need anyway, brings its tests, and they are compiled straight from there.
//
// The file skips.txt lists the tests that are skipped, with the reason. All others must pass. A listed test that was not skipped
// fails the run too, so that the list stays true.
//
// The test carries the build tag kgosuite; `go test -tags 'invariants kgosuite' -timeout 20m -count=1 -v ./test/kgosuite` runs it,
// in some minutes. -suite.run chooses tests as -run does (the list is then not held against it), -suite.records says how many records
// the heavy ones move, -suite.binary takes a server instead of building one.
package kgosuite
