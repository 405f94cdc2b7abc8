"""Members of a group of the consumer protocol come and go; every record is seen, and nobody stays without partitions."""

import sys
import time

from confluent_kafka import Consumer, KafkaException, Producer

PARTITIONS = 3
RECORDS = 300
bootstrap, topic = sys.argv[1:3]
seen = set()


def member(instance=None, protocol="consumer"):
    config = {
        "bootstrap.servers": bootstrap,
        "group.id": topic + "-group",
        "group.protocol": protocol,
        "auto.offset.reset": "earliest",
        "auto.commit.interval.ms": 100,
    }
    if protocol == "classic":
        config |= {"partition.assignment.strategy": "cooperative-sticky", "heartbeat.interval.ms": 500, "session.timeout.ms": 10000}
    if instance:
        config["group.instance.id"] = instance
    return Consumer(config)


def produce(turn):
    p = Producer({"bootstrap.servers": bootstrap})
    for i in range(RECORDS):
        p.produce(topic, key=f"{turn}-{i}", value="value")
    if p.flush(30):
        sys.exit("not everything was produced")


def until(what, members, holds):
    """Polls all members until something holds."""
    deadline = time.monotonic() + 60
    while not holds():
        if time.monotonic() > deadline:
            sys.exit(f"not in a minute: {what}; members have {[len(m.assignment()) for m in members]}, records seen: {len(seen)}")
        for m in members:
            message = m.poll(0.02)
            if message is None:
                continue
            if message.error():
                raise KafkaException(message.error())
            seen.add(message.key())
    print(what, file=sys.stderr)


def shared(what, *members):
    until(what, members, lambda: all(m.assignment() for m in members) and sum(len(m.assignment()) for m in members) == PARTITIONS)


first = member()
first.subscribe([topic])
until("the first member has all", [first], lambda: len(first.assignment()) == PARTITIONS)
produce(0)
until("all is seen", [first], lambda: len(seen) == RECORDS)
second = member("static")
second.subscribe(["^" + topic + ".*"])
shared("two share", first, second)
third = member(protocol="classic")
third.subscribe([topic])
shared("three share", first, second, third)
produce(1)
until("all is seen by three", [first, second, third], lambda: len(seen) == 2 * RECORDS)
third.close()
shared("two share again", first, second)
second.close()
again = member("static")
again.subscribe([topic])
shared("the static member is back", first, again)
produce(2)
until("all is seen by both", [first, again], lambda: len(seen) == 3 * RECORDS)
again.close()
first.close()
print("done")
