// Package logfile reads the files of a partition from the outside, as they lie
// on disk: segments (.log), offset indexes (.index) and time indexes
// (.timeindex), of this broker or of Apache Kafka, which write the same bytes.
//
// It is what `moldau debug dump-log` and `verify-log` stand on. It opens files
// for reading only, needs no running broker, and holds one batch in memory at a
// time. A file that is being written may end inside a batch: that is a finding,
// not a failure.
//
// Start reading at scan.go, then verify.go.
package logfile
