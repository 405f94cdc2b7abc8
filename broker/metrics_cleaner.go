package broker

import (
	"github.com/prometheus/client_golang/prometheus"

	"moldau/broker/storage"
)

// The gauges of log compaction are Kafka's, with its units; the counters are ours.
var (
	cleanerRecopy      = gauge("kafka_log_logcleaner_cleaner_recopy_percent", "Bytes written as a percentage of bytes read in the last compaction of each thread.")
	cleanerTime        = gauge("kafka_log_logcleaner_max_clean_time_secs", "The longest of the last compactions of each thread in seconds.")
	cleanerUtilization = gauge("kafka_log_logcleaner_max_buffer_utilization_percent", "The largest part of the memory for keys that the last compaction of a thread used.")
	cleanerDelay       = gauge("kafka_log_logcleaner_max_compaction_delay_secs", "The longest time in seconds by which a record has outstayed max.compaction.lag.ms.")
	cleanerDirty       = gauge("kafka_log_logcleanermanager_max_dirty_percent", "The dirty part of the dirtiest log in percent.")
	cleanerIdle        = gauge("kafka_log_logcleanermanager_time_since_last_run_ms", "Milliseconds since logs were last searched for what to compact.")
	cleanerUncleanable = gauge("kafka_log_logcleanermanager_uncleanable_partitions_count", "Logs of a directory that cannot be compacted; the log of the broker names them.", "logdirectory")
	cleanerUncleanMass = gauge("kafka_log_logcleanermanager_uncleanable_bytes", "Bytes of the logs of a directory that cannot be compacted.", "logdirectory")
	cleanerRuns        = gauge("moldau_log_cleaner_compactions_total", "Compactions of logs.")
	cleanerRead        = gauge("moldau_log_cleaner_read_bytes_total", "Bytes that compaction read.")
	cleanerWritten     = gauge("moldau_log_cleaner_written_bytes_total", "Bytes that compaction wrote.")
	cleanerSeen        = gauge("moldau_log_cleaner_records_read_total", "Records that compaction looked at.")
	cleanerKept        = gauge("moldau_log_cleaner_records_kept_total", "Records that compaction kept.")
	cleanerKeyless     = gauge("moldau_log_cleaner_records_without_key_total", "Records without a key that compaction could not keep.")
)

// collectCleaner sends what there is to tell of log compaction.
func collectCleaner(out chan<- prometheus.Metric, s storage.CleanerStats) {
	send := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	count := func(d *prometheus.Desc, v int64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v))
	}
	var read, written int64
	var slowest, fullest float64
	for _, last := range s.Last {
		read += last.BytesRead
		written += last.BytesWritten
		slowest, fullest = max(slowest, last.Took.Seconds()), max(fullest, last.BufferUtilization)
	}
	send(cleanerRecopy, float64(100*written/max(read, 1)))
	send(cleanerTime, slowest)
	send(cleanerUtilization, 100*fullest)
	send(cleanerDelay, s.MaxDelay.Seconds())
	send(cleanerDirty, 100*s.MaxDirtyRatio)
	send(cleanerIdle, float64(s.SinceLastRun.Milliseconds()))
	for dir, u := range s.Uncleanable {
		send(cleanerUncleanable, float64(u.Partitions), dir)
		send(cleanerUncleanMass, float64(u.Bytes), dir)
	}
	count(cleanerRuns, s.Totals.Compactions)
	count(cleanerRead, s.Totals.BytesRead)
	count(cleanerWritten, s.Totals.BytesWritten)
	count(cleanerSeen, s.Totals.RecordsRead)
	count(cleanerKept, s.Totals.RecordsKept)
	count(cleanerKeyless, s.Totals.RecordsNoKey)
}
