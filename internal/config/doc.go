// Package config merges the settings of a server: flag over environment over
// file over default.
//
// It owns the grammar of the three inputs (Java properties and YAML files,
// KAFKA_ and MOLDAU_ environment variables, key=value flags), the grammar of
// listeners and addresses, and the report of where each value came from. It
// does not own the keys: every room declares its own as fields of a struct,
//
//	NumPartitions int32 `kafka:"num.partitions" doc:"Partitions of a topic made without a number."`
//
// and hands a pointer to that struct, filled with defaults, to Schema.Bind.
// Keys without a field are declared with Schema.Declare, and keys of Kafka
// that mean nothing here with Schema.Ignore or Schema.Refuse.
//
// cmd/moldau is the only caller. A Schema is used by one goroutine, once, at
// start; nothing here runs afterwards.
//
// Start reading at schema.go, then load.go.
package config
