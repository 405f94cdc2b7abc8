// Package input finds the real input that tests and demos run on: an access
// log of a web server and status documents of a busy one.
//
// The files are looked up in the folder that MOLDAU_DATA names, by default
// shared/data beside the checkout; the project carries no copy of them. Where
// the access log is not there a seeded generator makes input of the same
// shape: 10,000 lines in combined log format, about 237 bytes each, some of
// them more than once, so a test keys its records by line number.
package input
