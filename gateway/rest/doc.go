// Package rest is the HTTP door of the gateway: the record endpoints, written by hand so that every digit and every
// byte of a record is kept, and the administrative ones, which are made from the protos.
//
//	POST /v1/topics/{topic}/records                         produce.go
//	POST /v1/topics/{topic}/partitions/{partition}/records
//	GET  /v1/topics/{topic}/records                         read.go: JSON, NDJSON (ndjson.go), server-sent events (sse.go)
//	GET  /v1/topics/{topic}/partitions/{partition}/records
//	     /v1/topics, /v1/topics/{topic} …                   admin.go
//	GET  /openapi.json                                      openapi.go
//
// Start reading at handler.go. records_body.go reads the body of a produce request over json_scan.go and json_walk.go;
// encode.go writes records; schema.go holds what both have to do with schemas of the registry. Every error leaves through failure.go. Handlers start no goroutines.
package rest
