// Command interop writes the lines of a file with sarama and reads them back,
// partition by partition. With "versions" in the place of the file it does less,
// and that with each version of Kafka that sarama can be told.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"

	"github.com/IBM/sarama"
)

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(bootstrap, topic, file string) error {
	if file == "versions" {
		return versions(bootstrap, topic)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	cfg := sarama.NewConfig()
	cfg.Version = sarama.V3_6_0_0
	cfg.Producer.Return.Successes = true
	cfg.Producer.RequiredAcks = sarama.WaitForAll
	cfg.Producer.Compression = sarama.CompressionSnappy
	client, err := sarama.NewClient([]string{bootstrap}, cfg)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer client.Close()
	if err := write(client, topic, bytes.Split(bytes.TrimSuffix(content, []byte("\n")), []byte("\n"))); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return read(client, topic)
}

func write(client sarama.Client, topic string, lines [][]byte) error {
	producer, err := sarama.NewSyncProducerFromClient(client)
	if err != nil {
		return err
	}
	for from := 0; from < len(lines); from += 500 {
		var batch []*sarama.ProducerMessage
		for i := from; i < min(from+500, len(lines)); i++ {
			batch = append(batch, &sarama.ProducerMessage{
				Topic: topic, Key: sarama.StringEncoder(strconv.Itoa(i)), Value: sarama.ByteEncoder(lines[i]),
			})
		}
		if err := producer.SendMessages(batch); err != nil {
			return err
		}
	}
	return nil
}

func read(client sarama.Client, topic string) error {
	consumer, err := sarama.NewConsumerFromClient(client)
	if err != nil {
		return err
	}
	partitions, err := client.Partitions(topic)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	for _, p := range partitions {
		end, err := client.GetOffset(topic, p, sarama.OffsetNewest)
		if err != nil {
			return err
		}
		if end == 0 {
			continue
		}
		pc, err := consumer.ConsumePartition(topic, p, sarama.OffsetOldest)
		if err != nil {
			return err
		}
		for m := range pc.Messages() {
			fmt.Fprintf(out, "%s\t%s\n", m.Key, m.Value)
			if m.Offset+1 >= end {
				break
			}
		}
		if err := pc.Close(); err != nil {
			return err
		}
	}
	return out.Flush()
}
