// Package callers has callers of every door of a gateway write to one topic at the same time, while one caller at each door sends records that
// the broker refuses. It judges what they were told and what is in the log: every good record is written once, where its caller was told and
// in the order of its caller, every bad one fails alone, with the broker's reason.
//
// The same run goes against a gateway in the broker's process and against one in front of Apache Kafka. Start reading at run.go.
package callers
