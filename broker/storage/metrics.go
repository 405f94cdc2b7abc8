package storage

import "time"

// Metrics is told what happens, so that the caller can count it. Calls come from any goroutine and must not block. Gauges (sizes,
// offline directories, open files) are asked for with Engine.Stats instead.
type Metrics interface {
	// Flushed reports one round of a directory's flusher: how many files it made durable and how long that took.
	Flushed(dir string, files int, took time.Duration)
	// SegmentRolled reports a new segment.
	SegmentRolled()
	// SegmentsDeleted reports segments that retention or DeleteRecords let go.
	SegmentsDeleted(n int, bytes int64)
	// RecoveryCut reports bytes that recovery took off the end of a log, and how many of them were whole batches, moved to a .cut file.
	RecoveryCut(tp TopicPartition, cut, moved int64)
	// NoSpace reports an append that found no space in a log directory.
	NoSpace(dir string)
	// DirOffline reports a log directory that went offline.
	DirOffline(dir string)
}

type noMetrics struct{}

func (noMetrics) Flushed(string, int, time.Duration)       {}
func (noMetrics) SegmentRolled()                           {}
func (noMetrics) SegmentsDeleted(int, int64)               {}
func (noMetrics) RecoveryCut(TopicPartition, int64, int64) {}
func (noMetrics) NoSpace(string)                           {}
func (noMetrics) DirOffline(string)                        {}
