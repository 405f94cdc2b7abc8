"""Serializes an empty message as confluent-kafka does with a generated class, and prints the payload in hexadecimal.

Takes the address of a registry, the path of an image that buf built, the full name of the message and the topic. The
serializer registers what the registry does not have.
"""

import sys

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


def as_generated(messages, extensions):
    """Leaves out what the descriptors in generated code do not have."""
    for f in extensions:
        f.ClearField("json_name")
    for m in messages:
        for f in m.field:
            f.ClearField("json_name")
        as_generated(m.nested_type, m.extension)


def main():
    url, image, name, topic = sys.argv[1:]
    files = descriptor_pb2.FileDescriptorSet()
    with open(image, "rb") as f:
        files.ParseFromString(f.read())
    pool = descriptor_pool.DescriptorPool()
    for f in files.file:
        as_generated(f.message_type, f.extension)
        pool.Add(f)
    cls = message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
    serialize = ProtobufSerializer(cls, SchemaRegistryClient({"url": url}))
    print(serialize(cls(), SerializationContext(topic, MessageField.VALUE)).hex())


main()
