package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"
)

// versions writes and reads with each version of Kafka that sarama can be told, because that decides which versions of requests it
// sends: alone, and as a member of a group that commits.
func versions(bootstrap, topic string) error {
	written := int64(0)
	for _, v := range sarama.SupportedVersions {
		if !v.IsAtLeast(sarama.V0_11_0_0) { // before, record batches had another form, which Apache Kafka 4 refuses too
			continue
		}
		if err := version(bootstrap, topic, v, written); err != nil {
			return fmt.Errorf("version %v: %w", v, err)
		}
		written++
		fmt.Println(v)
	}
	return nil
}

func version(bootstrap, topic string, v sarama.KafkaVersion, offset int64) error {
	cfg := sarama.NewConfig()
	cfg.Version = v
	cfg.Producer.Return.Successes = true
	cfg.Producer.RequiredAcks = sarama.WaitForAll
	cfg.Producer.Partitioner = sarama.NewManualPartitioner
	cfg.Consumer.Offsets.Initial = sarama.OffsetOldest
	cfg.Consumer.Return.Errors = true
	cfg.Consumer.MaxWaitTime = 20 * time.Millisecond // each consumer waits so long before it ends
	client, err := sarama.NewClient([]string{bootstrap}, cfg)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer client.Close()
	producer, err := sarama.NewSyncProducerFromClient(client)
	if err != nil {
		return err
	}
	_, at, err := producer.SendMessage(&sarama.ProducerMessage{Topic: topic, Partition: 0, Value: sarama.StringEncoder(v.String())})
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if at != offset {
		return fmt.Errorf("written at %d, want %d", at, offset)
	}
	if err := lone(client, topic, offset, v.String()); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	return member(client, "matrix-"+v.String(), topic, offset)
}

// lone reads one record without a group.
func lone(client sarama.Client, topic string, offset int64, want string) error {
	end, err := client.GetOffset(topic, 0, sarama.OffsetNewest)
	if err != nil {
		return err
	}
	if end != offset+1 {
		return fmt.Errorf("the end is %d, want %d", end, offset+1)
	}
	consumer, err := sarama.NewConsumerFromClient(client)
	if err != nil {
		return err
	}
	pc, err := consumer.ConsumePartition(topic, 0, offset)
	if err != nil {
		return err
	}
	defer pc.Close()
	select {
	case m := <-pc.Messages():
		if string(m.Value) != want || m.Offset != offset {
			return fmt.Errorf("%q at %d", m.Value, m.Offset)
		}
		return nil
	case err := <-pc.Errors():
		return err
	case <-time.After(time.Minute):
		return errors.New("nothing in a minute")
	}
}

// member reads all records as the only member of a group, and sees that its offset was kept.
func member(client sarama.Client, group, topic string, last int64) error {
	g, err := sarama.NewConsumerGroupFromClient(group, client)
	if err != nil {
		return fmt.Errorf("group: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r := &reader{last: last, seen: cancel}
	if err := g.Consume(ctx, []string{topic}, r); err != nil {
		return fmt.Errorf("group: %w", err)
	}
	if !r.done {
		return errors.New("group: the last record did not come")
	}
	if err := g.Close(); err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	offsets, err := sarama.NewOffsetManagerFromClient(group, client)
	if err != nil {
		return err
	}
	defer offsets.Close()
	p, err := offsets.ManagePartition(topic, 0)
	if err != nil {
		return err
	}
	if next, _ := p.NextOffset(); next != last+1 {
		return fmt.Errorf("committed %d, want %d", next, last+1)
	}
	return nil
}

// reader ends its session when it has seen the last record.
type reader struct {
	last int64
	done bool
	seen func()
}

func (*reader) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (*reader) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (r *reader) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	if c.Partition() != 0 {
		<-s.Context().Done()
		return nil
	}
	for m := range c.Messages() {
		s.MarkMessage(m, "")
		if m.Offset == r.last {
			s.Commit()
			r.done = true
			r.seen()
		}
	}
	return nil
}
