// Package proto holds the .proto files that a server publishes itself.
package proto

import _ "embed"

// SubjectPath is the path by which SubjectText is imported.
const SubjectPath = "moldau/kafka/v1/subject.proto"

// SubjectText is the file with the options that name subjects.
//
//go:embed moldau/kafka/v1/subject.proto
var SubjectText string
