// Serializes and deserializes with @kafkajs/confluent-schema-registry, by the protocol of ../python/serde.py, with the schema
// in front of the payload only.
import { createInterface } from "node:readline";
import { SchemaRegistry, SchemaType } from "@kafkajs/confluent-schema-registry";

const registry = new SchemaRegistry({ host: process.argv[2] }, { [SchemaType.PROTOBUF]: { messageName: "Order" } });

async function answer(q) {
  if (q.op === "deserialize") {
    const value = await registry.decode(Buffer.from(q.payload, "hex"));
    return { value: JSON.parse(JSON.stringify(value)) };
  }
  const { id } = await registry.register({ type: SchemaType[q.type], schema: q.schema }, { subject: q.topic + "-value" });
  return { payload: (await registry.encode(id, q.value)).toString("hex"), header: "" };
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answer(JSON.parse(line))));
}
