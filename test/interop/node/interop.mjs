// Writes the lines of a file with kafkajs and reads them back through a consumer group.
import { readFileSync } from 'node:fs'
import kafkajs from 'kafkajs'

const { Kafka, CompressionTypes, logLevel } = kafkajs
const [bootstrap, topic, file] = process.argv.slice(2)
const lines = readFileSync(file, 'utf8').replace(/\n$/, '').split('\n')
const kafka = new Kafka({ clientId: 'interop', brokers: [bootstrap], logLevel: logLevel.ERROR })

async function write() {
  const producer = kafka.producer({ idempotent: true })
  await producer.connect()
  for (let from = 0; from < lines.length; from += 500) {
    await producer.send({
      topic,
      compression: CompressionTypes.GZIP,
      messages: lines.slice(from, from + 500).map((value, i) => ({ key: String(from + i), value })),
    })
  }
  await producer.disconnect()
}

async function read() {
  const out = []
  const consumer = kafka.consumer({ groupId: `interop-${process.pid}`, maxWaitTimeInMs: 100 })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await new Promise((resolve, reject) => {
    consumer.on(consumer.events.CRASH, e => reject(e.payload.error))
    consumer.run({
      eachMessage: async ({ message }) => {
        out.push(Buffer.concat([message.key, Buffer.from('\t'), message.value, Buffer.from('\n')]))
        if (out.length === lines.length) resolve()
      },
    }).catch(reject)
  })
  await consumer.disconnect()
  process.stdout.write(Buffer.concat(out))
}

await write()
await read()
