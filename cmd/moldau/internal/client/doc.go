// Package client turns what a user says about a cluster (-b, -X, a client
// properties file, MOLDAU_BROKERS) into a Kafka client, and what a cluster says
// about a failure into an exit code and the line to run next.
//
// It is used by the commands only. A Flags value is filled by the command-line
// parser and read once.
//
// Start reading at flags.go.
package client
