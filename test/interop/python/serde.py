"""Serializes and deserializes with the serializers of confluent-kafka.

Takes the address of a registry. Each line of standard input is a request in JSON, each line of standard output its answer:

  {"op":"serialize","type":"AVRO","topic":"t","schema":"...","value":...,"header":false}  ->  {"payload":hex,"header":hex}
  {"op":"deserialize","type":"AVRO","topic":"t","schema":"...","payload":hex,"header":hex}  ->  {"value":...}
  {"op":"json","schema":"...","value":...}  ->  {"json":"..."}, Avro's JSON encoding of a value

Values of Avro are those of fastavro: a union holds its value plainly, bytes are given in latin-1. Of Protobuf only the
message Order below is known, whose text the caller registers.
"""

import io
import json
import sys

import fastavro
from confluent_kafka.schema_registry import (
    SchemaRegistryClient,
    dual_schema_id_deserializer,
    header_schema_id_serializer,
    prefix_schema_id_serializer,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, timestamp_pb2


def order_class():
    """The class of shop.Order, the second message of its file."""
    f = descriptor_pb2.FileDescriptorProto(name="order.proto", package="shop", syntax="proto3")
    f.dependency.append("google/protobuf/timestamp.proto")
    f.message_type.add(name="Head")
    order = f.message_type.add(name="Order")
    kinds = descriptor_pb2.FieldDescriptorProto
    order.field.add(name="id", number=1, type=kinds.TYPE_STRING, label=kinds.LABEL_OPTIONAL)
    order.field.add(name="units", number=2, type=kinds.TYPE_INT64, label=kinds.LABEL_OPTIONAL)
    order.field.add(name="at", number=3, type=kinds.TYPE_MESSAGE, type_name=".google.protobuf.Timestamp", label=kinds.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    pool.Add(f)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))


ORDER = order_class()


def plain(value):
    """A value in what JSON knows."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value


def with_bytes(value):
    """Turns {"$bytes": text} into bytes."""
    if isinstance(value, dict):
        if list(value) == ["$bytes"]:
            return value["$bytes"].encode("latin-1")
        return {k: with_bytes(v) for k, v in value.items()}
    if isinstance(value, list):
        return [with_bytes(v) for v in value]
    return value


def serialize(client, q):
    headers = []
    ctx = SerializationContext(q["topic"], MessageField.VALUE, headers)
    conf = {"schema.id.serializer": header_schema_id_serializer if q["header"] else prefix_schema_id_serializer}
    value = with_bytes(q["value"])
    if q["type"] == "AVRO":
        payload = AvroSerializer(client, q["schema"], conf=conf)(value, ctx)
    elif q["type"] == "JSON":
        payload = JSONSerializer(q["schema"], client, conf=conf)(value, ctx)
    else:
        message = json_format.ParseDict(value, ORDER())
        payload = ProtobufSerializer(ORDER, client, {"use.deprecated.format": False, **conf})(message, ctx)
    return {"payload": payload.hex(), "header": headers[0][1].hex() if headers else ""}


def deserialize(client, q):
    headers = [("__value_schema_id", bytes.fromhex(q["header"]))] if q["header"] else []
    ctx = SerializationContext(q["topic"], MessageField.VALUE, headers)
    payload = bytes.fromhex(q["payload"])
    conf = {"schema.id.deserializer": dual_schema_id_deserializer}
    if q["type"] == "AVRO":
        return {"value": plain(AvroDeserializer(client, conf=conf)(payload, ctx))}
    if q["type"] == "JSON":
        return {"value": JSONDeserializer(q["schema"], schema_registry_client=client, conf=conf)(payload, ctx)}
    message = ProtobufDeserializer(ORDER, {"use.deprecated.format": False, **conf}, client)(payload, ctx)
    return {"value": json_format.MessageToDict(message)}


def avro_json(q):
    out = io.StringIO()
    fastavro.json_writer(out, fastavro.parse_schema(json.loads(q["schema"])), [with_bytes(q["value"])])
    return {"json": out.getvalue()}


def main():
    client = SchemaRegistryClient({"url": sys.argv[1]})
    for line in sys.stdin:
        q = json.loads(line)
        if q["op"] == "json":
            answer = avro_json(q)
        elif q["op"] == "serialize":
            answer = serialize(client, q)
        else:
            answer = deserialize(client, q)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
