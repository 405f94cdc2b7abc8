"""Writes the lines of a file in transactions with confluent-kafka, copies them to TOPIC-copy in others, and reads what was committed there."""

import sys

from confluent_kafka import Consumer, KafkaError, KafkaException, OFFSET_BEGINNING, Producer, TopicPartition


def producer(bootstrap, transactional_id):
    p = Producer({"bootstrap.servers": bootstrap, "transactional.id": transactional_id, "linger.ms": 1})
    p.init_transactions(30)
    return p


def fence(bootstrap, topic):
    """A second producer of the same id puts an end to the first and to what it had open."""
    old = producer(bootstrap, topic)
    old.begin_transaction()
    old.produce(topic, key="fenced", value="nobody may see this")
    old.flush(30)
    producer(bootstrap, topic)
    try:
        old.commit_transaction(30)
    except KafkaException as e:
        if not e.args[0].fatal():
            raise
        return
    sys.exit("the old producer goes on")


def write(bootstrap, topic, lines):
    p = producer(bootstrap, topic)
    for start in range(0, len(lines), 1000):
        p.begin_transaction()
        p.produce(topic, key="aborted", value="nobody may see this")
        p.flush(30)
        p.abort_transaction(30)
        p.begin_transaction()
        for i, line in enumerate(lines[start : start + 1000], start):
            p.produce(topic, key=str(i), value=line)
        p.commit_transaction(30)


def copy(bootstrap, topic, count):
    p = producer(bootstrap, topic + "-copier")
    c = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": topic + "-copiers",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
        }
    )
    c.subscribe([topic])
    done = turn = 0
    while done < count:
        messages = c.consume(500, timeout=0.5)
        if not messages:
            continue
        p.begin_transaction()
        for m in messages:
            if m.error():
                sys.exit(f"copy: {m.error()}")
            p.produce(topic + "-copy", key=m.key(), value=m.value())
        p.send_offsets_to_transaction(c.position(c.assignment()), c.consumer_group_metadata(), 30)
        turn += 1
        if turn % 3:
            p.commit_transaction(30)
            done += len(messages)
            continue
        p.abort_transaction(30)
        for at in c.committed(c.assignment(), 30):
            if at.offset < 0:
                at.offset = OFFSET_BEGINNING
            c.seek(at)
    c.close()


def read(bootstrap, topic, out):
    c = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "unused",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    partitions = c.list_topics(topic, timeout=10).topics[topic].partitions
    c.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in partitions])
    left = set(partitions)
    while left:
        for m in c.consume(500, timeout=10):
            if not m.error():
                out.write(m.key() + b"\t" + m.value() + b"\n")
            elif m.error().code() == KafkaError._PARTITION_EOF:
                left.discard(m.partition())
            else:
                sys.exit(f"read: {m.error()}")
    c.close()


if __name__ == "__main__":
    bootstrap, topic = sys.argv[1:3]
    with open(sys.argv[3], "rb") as f:
        content = f.read().removesuffix(b"\n").split(b"\n")
    fence(bootstrap, topic)
    write(bootstrap, topic, content)
    copy(bootstrap, topic, len(content))
    read(bootstrap, topic + "-copy", sys.stdout.buffer)
