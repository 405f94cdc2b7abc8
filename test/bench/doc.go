// Package bench measures Moldau beside Apache Kafka in one run: the same
// foreign client, the same machine, the same minute, the brokers taking
// turns. What counts is the ratio, and CPU time per record rather than wall
// time, which on a shared host is noise. The measurements carry the build tag
// bench; `make bench-peers` runs them and prints the tables of docs/performance.md.
package bench
