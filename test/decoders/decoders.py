"""Answers frames as Decoders.java does, with fastavro and protobuf."""

import io
import json
import struct
import sys

import fastavro
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


class Decoders:
    def __init__(self):
        self.avro = None
        self.message = None

    def schema(self, body):
        self.message = None
        self.avro = fastavro.parse_schema(json.loads(body))
        return 1

    def file(self, body):
        file = descriptor_pb2.FileDescriptorProto.FromString(body)
        pool = descriptor_pool.DescriptorPool()
        pool.Add(file)
        name = file.message_type[0].name
        if file.package:
            name = file.package + "." + name
        self.message = message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
        return 1

    def decode(self, body):
        if self.message is not None:
            self.message.FromString(body)
            return 1
        source = io.BytesIO(body)
        fastavro.schemaless_reader(source, self.avro)
        return 1 if source.tell() == len(body) else 3

    def answer(self, kind, body):
        try:
            return {b"A": self.schema, b"P": self.file, b"D": self.decode}[kind](body)
        except (RecursionError, MemoryError):
            return 2
        except Exception:
            return 0


def main():
    decoders = Decoders()
    while kind := sys.stdin.buffer.read(1):
        (length,) = struct.unpack(">i", sys.stdin.buffer.read(4))
        body = sys.stdin.buffer.read(length)
        sys.stdout.buffer.write(bytes([decoders.answer(kind, body)]))
        sys.stdout.buffer.flush()


main()
