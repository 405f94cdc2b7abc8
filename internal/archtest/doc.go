// Package archtest holds the layers of the house: which room may import which.
//
// It contains a test only. The test asks the go command for the import graph
// of the module and compares it with the table in rules_test.go; an import
// that the table does not list fails with both names and the reason for the
// rule. A new package needs a row before it can import anything of ours.
//
// Start reading at rules_test.go.
package archtest
