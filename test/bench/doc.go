// Package bench measures Moldau beside Apache Kafka in one run: the same
// foreign client, the same machine, the same minute, the brokers taking
// turns. What counts is the ratio, and CPU time per record rather than wall
// time, which on a shared host is noise.
//
// The measurements are tests with the build tag bench. Each prints a table of
// docs/performance.md, with the commit and the command that repeats it, and
// says whether the aims are met (report_test.go). `make bench-peers` runs them
// all; with -short they are the ten rows that matter most, see
// docs/performance.md. These environment variables set their size:
//
//   - BENCH_RECORDS: records of 100 B in a run; runs with larger ones move fewer
//   - BENCH_ROUNDS: how often each run is repeated, after one that warms up
//   - BENCH_SECONDS: how long a run at a fixed rate takes
//   - BENCH_REQUESTS, BENCH_SCHEMAS, BENCH_RATE: requests in a run through the
//     doors or to the registry, new schemas in a run, requests a second over
//     many connections
//   - BENCH_REPORT: a file that the tables are added to
//
// Start reading at bench_test.go. cpu_linux.go and sample.go are without a tag,
// so that they are tested with everything else.
package bench
