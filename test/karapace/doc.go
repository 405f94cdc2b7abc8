// Package karapace runs the integration tests of another schema registry, Karapace, against ours. They are not part of this
// repository: MOLDAU_KARAPACE names a checkout of it, which is only read.
//
// Each test gets a new process of Moldau, as Karapace's own fixtures would start a new Karapace. The plugin
// karapace_door.py does that, and stands in for the parts of a checkout that only an installation has.
//
// The file differences.txt lists the tests that must fail, with the reason: where Karapace differs from Confluent's registry, whose
// behaviour we have. All others must pass. A listed test that passes fails the run too, so that the list stays true.
//
// The test carries the build tag karapace; `make karapace KARAPACE_DIR=checkout` runs it. It installs Python packages into
// the test's cache folder.
package karapace
