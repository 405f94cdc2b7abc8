// Package rest is the HTTP door of the gateway: the record endpoints, written by hand so that every digit and every
// byte of a record is kept, and the administrative ones, which are made from the protos.
//
//	POST /v1/topics/{topic}/records                         produce.go: JSON, NDJSON (produce_lines.go), bytes (produce_query.go)
//	POST /v1/topics/{topic}/partitions/{partition}/records
//	GET  /v1/topics/{topic}/records                         read.go: JSON, NDJSON (ndjson.go), server-sent events (sse.go)
//	GET  /v1/topics/{topic}/partitions/{partition}/records
//	     /v1/topics, /v1/topics/{topic} …                   admin.go
//	GET  /openapi.json                                      openapi.go
//
// Start reading at handler.go. records_body.go reads records out of JSON over package jsontext; encode.go writes records;
// schema.go holds what both have to do with schemas of the registry. Every error leaves through failure.go.
//
// A stream of lines has two goroutines beside that of its request: one tells the outcomes (lines_tally.go), one ends the
// stream when the gateway closes. Both end before the handler returns. Other handlers start none.
package rest
