// Answers of the name server, one process: a zone of 10,000 records asked by UDP over loopback, beside a socket that sends every packet back.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { encode } from 'dns-packet';
import { processorSeconds } from './support/processor.ts';
import { median, print, type Row } from './support/report.ts';
import { type BenchAccount, startBenchService } from './support/service.ts';

const RECORDS = 10_000;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 4);
const OPEN = 200;
const ZONE = 'bench-zone.test';

const probe = createSocket('udp4');
probe.bind(0, '127.0.0.1');
await once(probe, 'listening');
const { port } = probe.address();
probe.close();
const service = await startBenchService(1, 'off', 1, { DNS_PORT: String(port), DNS_RATE: '0' });
const [{ secret }] = service.accounts as [BenchAccount];
await service.call(secret, '/v1/dns/zone/create', { zone: ZONE });
const content = Array.from({ length: RECORDS }, (_, i) => `n${i} 60 IN A 192.0.2.${i % 256}\n`).join('');
const importedMs = await took(() => service.call(secret, '/v1/dns/zone/import', { zone: ZONE, content }));
await sleep(2_000);

/** Questions for names of the zone, so many open at once; answers in a second, and processor seconds of the service. */
async function flood(to: number, nameOf: (count: number) => string) {
  const queries = Array.from({ length: RECORDS }, (_, i) =>
    encode({ type: 'query', id: i, flags: 0, questions: [{ type: 'A', name: nameOf(i), class: 'IN' }] }),
  );
  const socket = createSocket({ type: 'udp4', lookup: (address, _, done) => done(null, address, 4) });
  let sent = 0;
  let answered = 0;
  const next = () => {
    socket.send(queries[sent % RECORDS] as Buffer, to, '127.0.0.1');
    sent += 1;
  };
  socket.on('message', () => {
    answered += 1;
    next();
  });
  for (let open = 0; open < OPEN; open += 1) next();
  const before = processorSeconds(service.pid);
  await sleep(SECONDS * 1_000);
  const used = processorSeconds(service.pid) - before;
  socket.close();
  return { perSecond: answered / SECONDS, perCore: answered / used };
}

const echo = new Worker(
  `const { createSocket } = require('node:dgram');
   const { parentPort } = require('node:worker_threads');
   const socket = createSocket({ type: 'udp4', lookup: (address, _, done) => done(null, address, 4) });
   socket.on('message', (message, from) => socket.send(message, from.port, from.address));
   socket.on('listening', () => parentPort.postMessage(socket.address().port));
   socket.bind(0, '127.0.0.1');`,
  { eval: true },
);
const [echoPort] = (await once(echo, 'message')) as [number];

const found: { perSecond: number; perCore: number }[] = [];
const missing: { perSecond: number; perCore: number }[] = [];
const echoed: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  found.push(await flood(port, (i) => `n${i}.${ZONE}`));
  missing.push(await flood(port, (i) => `x${i}.${ZONE}`));
  echoed.push((await flood(echoPort, (i) => `n${i}.${ZONE}`)).perSecond);
}
const rows: Row[] = [
  {
    what: 'answers a second of processor time, names that exist',
    value: whole(median(found.map(({ perCore }) => perCore))),
    target: '≥ 20,000',
  },
  { what: 'the same, names that do not exist', value: whole(median(missing.map(({ perCore }) => perCore))) },
  {
    what: 'answers a second, beside the program that asks',
    value: whole(median(found.map(({ perSecond }) => perSecond))),
  },
  {
    what: 'answers / packets sent back by a bare socket',
    value: (median(found.map(({ perSecond }) => perSecond)) / median(echoed)).toFixed(2),
  },
  { what: `import of ${RECORDS} records`, value: `${Math.round(importedMs)} ms` },
];
print('dns', rows);
await echo.terminate();
await service.stop();

async function took(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
