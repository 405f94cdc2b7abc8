// A member of a group that prints what it gets: "A partition", "D partition offset", and "C partition offset" once a commit is done.
import { Kafka, logLevel } from 'kafkajs';

const [bootstrap, groupId, topic] = process.argv.slice(2);
const kafka = new Kafka({ brokers: [bootstrap], logLevel: logLevel.NOTHING });
const consumer = kafka.consumer({ groupId, sessionTimeout: 6000, heartbeatInterval: 300 });
const say = (...words) => process.stdout.write(words.join(' ') + '\n');

consumer.on(consumer.events.GROUP_JOIN, (e) => {
  for (const p of e.payload.memberAssignment[topic] ?? []) {
    say('A', p);
  }
});
process.on('SIGTERM', async () => {
  await consumer.disconnect();
  process.exit(0);
});

await consumer.connect();
await consumer.subscribe({ topic, fromBeginning: true });
await consumer.run({
  autoCommit: false,
  partitionsConsumedConcurrently: 3,
  eachMessage: async ({ partition, message }) => {
    say('D', partition, message.offset);
    const offset = String(Number(message.offset) + 1);
    await consumer.commitOffsets([{ topic, partition, offset }]); // a failure has the message come again, to whoever owns it then
    say('C', partition, offset);
  },
});
