package kafka

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/broker"
)

// short bounds what a test waits for when all is well; it is long because machines may be loaded.
const short = 30 * time.Second

func TestRoundTripThroughAClient(t *testing.T) {
	for _, durability := range []struct {
		name   string
		change func(*broker.Config, *Config)
	}{
		{"strict", func(c *broker.Config, _ *Config) { c.Durability = broker.Strict }},
		{"relaxed", func(c *broker.Config, _ *Config) { c.Durability = broker.Relaxed }},
	} {
		t.Run(durability.name, func(t *testing.T) {
			d := open(t, durability.change)
			ctx, cancel := context.WithTimeout(t.Context(), short)
			defer cancel()
			const count = 2000
			producer := d.client(kgo.DefaultProduceTopic("round-trip"), kgo.ProducerBatchCompression(kgo.SnappyCompression()))
			var want []string
			for i := range count {
				value := fmt.Sprintf("record %d %s", i, strings.Repeat("x", i%300))
				want = append(want, value)
				producer.Produce(ctx, kgo.StringRecord(value), func(_ *kgo.Record, err error) {
					if err != nil {
						t.Error(err)
					}
				})
			}
			if err := producer.Flush(ctx); err != nil {
				t.Fatal(err)
			}
			consumer := d.client(kgo.ConsumeTopics("round-trip"))
			var got []string
			for len(got) < count {
				fetches := consumer.PollFetches(ctx)
				if err := fetches.Err(); err != nil {
					t.Fatal(err)
				}
				fetches.EachRecord(func(r *kgo.Record) { got = append(got, string(r.Value)) })
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("record %d is %q, want %q", i, got[i], want[i])
				}
			}
		})
	}
}

func TestLargeRecordsComeFromTheFile(t *testing.T) {
	d := open(t, func(c *broker.Config, _ *Config) { c.Durability = broker.Relaxed })
	ctx, cancel := context.WithTimeout(t.Context(), short)
	defer cancel()
	producer := d.client(kgo.DefaultProduceTopic("large"), kgo.ProducerBatchCompression(kgo.NoCompression()))
	var values [][]byte
	for i := range 20 {
		values = append(values, bytes.Repeat([]byte{byte(i), 7}, 200_000+i))
		if err := producer.ProduceSync(ctx, &kgo.Record{Value: values[i]}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	consumer := d.client(kgo.ConsumeTopics("large"))
	for n := 0; n < len(values); {
		fetches := consumer.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if !bytes.Equal(r.Value, values[n]) {
				t.Errorf("record %d differs", n)
			}
			n++
		})
	}
}
