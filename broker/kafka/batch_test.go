package kafka

import (
	"testing"
	"time"

	"moldau/broker/record"
)

// batchOptions are what tests vary about a batch.
type batchOptions struct {
	zstd      bool
	timestamp int64 // ms since 1970
	producer  int64
	sequence  int32

	transactional bool
}

// newBatch makes one record batch as a client would.
func newBatch(t testing.TB, change func(*batchOptions), values ...string) []byte {
	t.Helper()
	o := batchOptions{timestamp: time.Now().UnixMilli(), producer: -1, sequence: -1}
	change(&o)
	options := record.Options{PartitionLeaderEpoch: -1, ProducerID: o.producer, ProducerEpoch: -1, BaseSequence: o.sequence, Transactional: o.transactional}
	if o.producer >= 0 {
		options.ProducerEpoch = 0
	}
	if o.zstd {
		options.Codec = record.Zstd
	}
	b := record.NewBuilder(options)
	for _, v := range values {
		b.Append(&record.Record{Timestamp: o.timestamp, Value: []byte(v)})
	}
	out, err := b.Build(nil, record.NewCompressor())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// batch makes one record batch.
func batch(t testing.TB, values ...string) []byte {
	t.Helper()
	return newBatch(t, func(*batchOptions) {}, values...)
}
