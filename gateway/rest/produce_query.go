package rest

import (
	"encoding/base64"
	"net/url"
	"sort"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/gateway"
	"moldau/registry/serde"
)

// eachParameter calls set with every parameter of a query, sorted by name: the same request always has the same error.
// Those that are given twice are refused, unless many is their name.
func eachParameter(raw, many string, set func(name, value string) error) error {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return badQuery("", "the query can't be read: "+err.Error())
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if len(values[name]) > 1 && name != many {
			return badQuery(name, "given twice")
		}
		for _, value := range values[name] {
			if err := set(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// parsePartition reads the partition of a query, where that of the path does not say otherwise.
func parsePartition(value string, path int32) (int32, error) {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return 0, badQuery("partition", "must be a number from 0 to 2147483647")
	}
	if path != gateway.AnyPartition && path != int32(n) { //nolint:gosec // 31 bits
		return 0, badQuery("partition", "differs from the partition of the path")
	}
	return int32(n), nil //nolint:gosec // parsed with 31 bits
}

// one makes the body the value of one record, whose other parts are in the query. An empty body is an empty value.
func (c *produceCall) one(raw string, partition int32) error {
	rec := kgo.Record{Value: c.body[:len(c.body):len(c.body)], Partition: partition}
	err := eachParameter(raw, "header", func(name, value string) (err error) {
		switch name {
		case "key", "key_base64":
			if rec.Key != nil {
				return badQuery("key", "given both as text and as base64")
			}
			if rec.Key = []byte(value); name == "key" {
				return nil
			}
			if rec.Key, err = base64.StdEncoding.AppendDecode([]byte{}, []byte(value)); err != nil {
				return badQuery(name, "not base64: "+err.Error())
			}
		case "partition":
			rec.Partition, err = parsePartition(value, partition)
		case "timestamp":
			if rec.Timestamp, err = parseTime(value); err != nil {
				return badQuery(name, err.Error())
			}
		case "header":
			key, text, ok := strings.Cut(value, ":")
			if !ok {
				return badQuery(name, "must be a name, a colon and a value")
			}
			rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: key, Value: []byte(text)})
		default:
			return badQuery(name, "unknown parameter; there are key, key_base64, header, partition and timestamp")
		}
		return err
	})
	if err != nil {
		return err
	}
	c.batch.Records = append(c.batch.Records, rec)
	return nil
}

// linesQuery is what the query of a stream of records says of all of them.
type linesQuery struct {
	partition              int32
	keySchema, valueSchema *serde.Ref
}

func parseLinesQuery(raw string, partition int32) (linesQuery, error) {
	q := linesQuery{partition: partition}
	err := eachParameter(raw, "", func(name, value string) (err error) {
		switch name {
		case "partition":
			q.partition, err = parsePartition(value, partition)
			return err
		case keySchemaName:
			q.keySchema, err = parseSchema([]byte(value))
		case valueSchemaName:
			q.valueSchema, err = parseSchema([]byte(value))
		default:
			return badQuery(name, "unknown parameter; there are partition, key_schema and value_schema")
		}
		if err != nil {
			return badQuery(name, err.Error())
		}
		return nil
	})
	return q, err
}
