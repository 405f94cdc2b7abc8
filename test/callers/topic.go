package callers

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Record is what a caller sends. A nil Key is null.
type Record struct {
	Key, Value []byte
	Partition  int32
	Timestamp  time.Time // zero: the time of the call
}

// Topic is a topic that refuses some records.
type Topic struct {
	Name       string
	Partitions int32
	// Record returns a record with a text, good or such that the broker refuses it.
	Record func(text string, good bool) Record
	// Text returns the text of a value that Record made.
	Text func(value []byte) string
	// Reason and Says are Kafka's name of the error and a part of the text that the broker gives for a bad record.
	Reason, Says string
}

func plain(value []byte) string { return string(value) }

// Compacted is a compacted topic, which refuses records without a key.
func Compacted(name string) Topic {
	return Topic{
		Name: name, Partitions: 2, Text: plain, Reason: "INVALID_RECORD", Says: "cannot accept message without key",
		Record: func(text string, good bool) Record {
			if !good {
				return Record{Value: []byte(text)}
			}
			return Record{Key: []byte(text), Value: []byte(text)}
		},
	}
}

// Bounded is a topic that refuses records that are older than an hour.
func Bounded(name string) Topic {
	return Topic{
		Name: name, Partitions: 2, Text: plain, Reason: "INVALID_TIMESTAMP", Says: "out of range",
		Record: func(text string, good bool) Record {
			r := Record{Value: []byte(text)}
			if !good {
				r.Timestamp = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
			}
			return r
		},
	}
}

// Create makes the topic with configs.
func (t *Topic) Create(tb testing.TB, kafka string, configs map[string]string) {
	tb.Helper()
	cl := client(tb, kafka)
	defer cl.Close()
	values := make(map[string]*string)
	for k, v := range configs {
		values[k] = &v
	}
	if _, err := kadm.NewClient(cl).CreateTopic(tb.Context(), t.Partitions, 1, values, t.Name); err != nil {
		tb.Fatal(err)
	}
}

func client(tb testing.TB, kafka string, opts ...kgo.Opt) *kgo.Client {
	tb.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(kafka)}, opts...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return cl
}

// records reads all that is in the topic.
func (t *Topic) records(tb testing.TB, kafka string) []*kgo.Record {
	tb.Helper()
	cl := client(tb, kafka, kgo.ConsumeTopics(t.Name), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	defer cl.Close()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	ends, err := kadm.NewClient(cl).ListEndOffsets(ctx, t.Name)
	if err != nil {
		tb.Fatal(err)
	}
	left := make(map[int32]bool)
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			left[o.Partition] = true
		}
	})
	var out []*kgo.Record
	for len(left) > 0 {
		f := cl.PollFetches(ctx)
		if err := f.Err(); err != nil {
			tb.Fatal(err)
		}
		f.EachRecord(func(r *kgo.Record) {
			out = append(out, r)
			if end, _ := ends.Lookup(t.Name, r.Partition); r.Offset+1 >= end.Offset {
				delete(left, r.Partition)
			}
		})
	}
	return out
}
