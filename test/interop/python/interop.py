"""Writes the lines of a file with confluent-kafka (librdkafka) and reads them back."""

import sys

from confluent_kafka import Consumer, OFFSET_BEGINNING, Producer, TopicPartition


def write(bootstrap, topic, lines):
    failures = []
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "compression.type": "lz4"})
    for i, line in enumerate(lines):
        producer.produce(topic, key=str(i), value=line, on_delivery=lambda e, m: e and failures.append(e))
        producer.poll(0)
    if producer.flush(60) or failures:
        sys.exit(f"not delivered: {failures[:3]}")


def read(bootstrap, topic, out):
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False})
    partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
    left = 0
    for p in partitions:
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, p), timeout=10)
        left += high - low
    consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in partitions])
    while left:
        for m in consumer.consume(500, timeout=10):
            if m.error():
                sys.exit(f"read: {m.error()}")
            out.write(m.key() + b"\t" + m.value() + b"\n")
            left -= 1
    consumer.close()


if __name__ == "__main__":
    with open(sys.argv[3], "rb") as f:
        content = f.read().removesuffix(b"\n").split(b"\n")
    write(sys.argv[1], sys.argv[2], content)
    read(sys.argv[1], sys.argv[2], sys.stdout.buffer)
