// Six NestJS microservices, each of which asks the next one over Kafka and answers with what it hears. The program asks the first
// one again and again, has one of the six fail now and then, and prints how long it took as JSON.
import 'reflect-metadata';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ClientKafka, MessagePattern, RpcException, Transport } from '@nestjs/microservices';
import { firstValueFrom, timeout } from 'rxjs';

const HOPS = 6;
const FAILING = 4;
const [bootstrap, rounds] = [process.argv[2], Number(process.argv[3])];
const client = { brokers: [bootstrap], logLevel: 1 };

const topic = (n) => `hop.${n}`;

async function caller(n) {
  const c = new ClientKafka({ client: { ...client, clientId: `caller-${n}` }, consumer: { groupId: `caller-${n}` } });
  c.subscribeToResponseOf(topic(n));
  await c.connect();
  return c;
}

const ask = (c, n, request) => firstValueFrom(c.send(topic(n), request).pipe(timeout(30_000)));

async function service(n) {
  const next = n < HOPS ? await caller(n + 1) : undefined;
  class Hop {
    async answer(request) {
      if (request.fail === n) {
        throw new RpcException(`hop ${n} refuses ${request.id}`);
      }
      if (!next) {
        return { id: request.id, path: [n] };
      }
      try {
        const reply = await ask(next, n + 1, request);
        return { id: reply.id, path: [n, ...reply.path] };
      } catch (e) {
        throw new RpcException(e.message ?? e);
      }
    }
  }
  MessagePattern(topic(n))(Hop.prototype, 'answer', Object.getOwnPropertyDescriptor(Hop.prototype, 'answer'));
  Controller()(Hop);
  class App {}
  Module({ controllers: [Hop] })(App);
  const app = await NestFactory.createMicroservice(App, {
    transport: Transport.KAFKA,
    options: { client: { ...client, clientId: `hop-${n}` }, consumer: { groupId: `hop-${n}` } },
    logger: false,
  });
  await app.listen();
  return [app, next];
}

async function main() {
  const services = await Promise.all(Array.from({ length: HOPS }, (_, i) => service(i + 1)));
  const first = await caller(1);
  const times = [];
  let errors = 0;
  for (let id = -20; id < rounds; id++) {
    const fail = id % 10 === 5 ? FAILING : 0;
    const began = performance.now();
    try {
      const reply = await ask(first, 1, { id, fail });
      if (fail || reply.id !== id || reply.path.length !== HOPS) {
        throw new Error(`round ${id}: wrong reply ${JSON.stringify(reply)}`);
      }
    } catch (e) {
      const message = String(e.message ?? e);
      if (!fail || !message.includes(`hop ${FAILING} refuses ${id}`)) {
        throw e;
      }
      errors++;
      continue;
    }
    if (id >= 0) {
      times.push(performance.now() - began);
    }
  }
  times.sort((a, b) => a - b);
  const at = (q) => times[Math.min(times.length - 1, Math.floor(q * times.length))];
  console.log(JSON.stringify({ rounds: times.length, errors, median_hop_ms: at(0.5) / HOPS, p99_ms: at(0.99), max_ms: at(1) }));
  process.exit(0); // the groups may notice by themselves
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
