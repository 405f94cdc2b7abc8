"""A member of a group that prints what it gets: "A partition", "D partition offset", and "C partition offset" once a commit is done."""

import signal
import sys

from confluent_kafka import Consumer, KafkaException, TopicPartition

going = True
done = {}  # and not committed


def stop(*_):
    global going
    going = False


def say(*words):
    print(*words, flush=True)


def assigned(consumer, partitions):
    for p in partitions:
        say("A", p.partition)
    consumer.incremental_assign(partitions)


def revoked(consumer, partitions):
    for p in partitions:
        done.pop(p.partition, None)  # the next owner makes up for it
    consumer.incremental_unassign(partitions)


signal.signal(signal.SIGTERM, stop)
consumer = Consumer(
    {
        "bootstrap.servers": sys.argv[1],
        "group.id": sys.argv[2],
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        "session.timeout.ms": 6000,
        "heartbeat.interval.ms": 300,
        "partition.assignment.strategy": "cooperative-sticky",
    }
)
consumer.subscribe([sys.argv[3]], on_assign=assigned, on_revoke=revoked)
while going:
    for m in consumer.consume(20, timeout=0.2):
        if m.error():
            sys.exit(str(m.error()))
        say("D", m.partition(), m.offset())
        done[m.partition()] = m.offset() + 1
    if not done:
        continue
    try:
        answers = consumer.commit(offsets=[TopicPartition(sys.argv[3], p, o) for p, o in done.items()], asynchronous=False)
    except KafkaException:
        continue  # tried again, also when nothing comes any more
    for a in answers:
        if not a.error:
            say("C", a.partition, a.offset)
            if done.get(a.partition) == a.offset:
                del done[a.partition]
consumer.close()
