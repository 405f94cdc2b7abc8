"""A member of a group that prints what it gets: "A partition", "D partition offset", and "C partition offset" once a commit is done."""

import signal
import sys

from confluent_kafka import Consumer, KafkaException, TopicPartition

going = True


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
    done = {}
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
        continue  # the next commit, or the next owner, makes up for it
    for a in answers:
        if not a.error:
            say("C", a.partition, a.offset)
consumer.close()
