// How fast do events reach their receivers: first-attempt latency, deliveries per second on one process, and whether 5,000 dead
// endpoints (half refuse, half never answer) slow 5,000 live ones down: against the same 10,000 all alive, and against 5,000 alone,
// for which half as much is to be written.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendEvents } from '../src/core/events/outbox.ts';
import { Secrets } from '../src/core/secrets/secrets.ts';
import { readServerSecret } from '../src/core/secrets/server-secret.ts';
import { Database } from '../src/db/database.ts';
import { newId } from '../src/lib/ids.ts';
import { insertRegistration } from '../src/webhooks/registrations/store.ts';
import type { Seen } from './support/receiver.ts';
import { median, perSecond, print } from './support/report.ts';
import { type BenchAccount, startBenchService } from './support/service.ts';

const ACCOUNTS = Number(process.env.BENCH_ACCOUNTS ?? 20);
const LIVE_EACH = 250;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const EVENTS_EACH = 4;
const SINGLE_EVENTS = 200;
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const service = await startBenchService(2 * ACCOUNTS + 2);
const db = new Database({ connection: service.connection });
const secrets = new Secrets((await readServerSecret({ dataDir: service.dataDir })) as string);
const receiver = fork(new URL('./support/receiver.ts', import.meta.url).pathname);
const [ports] = (await once(receiver, 'message')) as [{ live: number; hanging: number }];
const [single, many, ...others] = service.accounts as [BenchAccount, BenchAccount, ...BenchAccount[]];
const crowd = others.slice(0, ACCOUNTS);
const alive = others.slice(ACCOUNTS);

async function register(account: BenchAccount, urls: readonly string[]): Promise<void> {
  const settings = {
    events: ['queue.dlq'],
    description: null,
    retryPolicy: 'default',
    timeoutSeconds: 15,
    headers: {},
  } as const;
  await db.transaction(async (tx) => {
    for (const url of urls) {
      const registration = { ...settings, url, webhookId: newId('wh_'), signing: { secret, last4: secret.slice(-4) } };
      await insertRegistration(tx, secrets, account.accountId, registration, Date.now());
    }
  });
}

function endpoints(count: number, port: number): string[] {
  return Array.from({ length: count }, (_, i) => `http://127.0.0.1:${port}/${i}`);
}

/** Commits `each` events of every account, and waits until the receiver has seen `deliveries`. */
async function deliver(accounts: readonly BenchAccount[], each: number, deliveries: number): Promise<Seen> {
  const seen = told(receiver, deliveries);
  await Promise.all(
    accounts.map(({ accountId }) =>
      db.transaction(async (tx) => {
        const data = { object: { message_id: 'msg_bench', queue: 'bench', status: 'dlq', dlq_name: 'bench-dead' } };
        const event = { accountId, type: 'queue.dlq', data, requestId: null };
        sendEvents(tx, new Array(each).fill(event), Date.now());
      }),
    ),
  );
  return seen;
}

async function told(child: ChildProcess, deliveries: number): Promise<Seen> {
  const answer = once(child, 'message');
  child.send(deliveries);
  return ((await answer) as [Seen])[0];
}

/** Events of real calls, one after the other: published, consumed, given up, dead-lettered. */
async function latency({ secret: key }: BenchAccount): Promise<number[]> {
  const call = async (path: string, body: object) =>
    ((await service.call(key, path, body)) as { data: { items: { receipt_handle: string }[] } }).data;
  await call('/v1/queue/create', { name: 'dead' });
  await call('/v1/queue/create', { name: 'jobs', dead_letter_queue: 'dead' });
  const seen = told(receiver, SINGLE_EVENTS);
  for (let i = 0; i < SINGLE_EVENTS; i += 1) {
    await call('/v1/queue/publish', { queue: 'jobs', payload: { i } });
    const [message] = (await call('/v1/queue/consume', { queue: 'jobs' })).items;
    await call('/v1/queue/nack', { queue: 'jobs', receipt_handle: message?.receipt_handle, requeue: false });
    await sleep(10);
  }
  return [...(await seen).latencies].sort((a, b) => a - b);
}

/** A port that nobody listens on. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Deliveries per second to the live endpoints of the accounts, `each` an account. */
async function rateOfLive(accounts: readonly BenchAccount[], each: number): Promise<number> {
  const rates: number[] = [];
  const deliveries = accounts.length * each * EVENTS_EACH;
  // The first round makes every endpoint known.
  for (let round = -1; round < ROUNDS; round += 1) {
    const { seconds } = await deliver(accounts, EVENTS_EACH, deliveries);
    if (round >= 0) rates.push(deliveries / seconds);
  }
  return median(rates);
}

await register(single, endpoints(1, ports.live));
const latencies = await latency(single);
const at = (share: number) => latencies[Math.floor(latencies.length * share)] as number;

await register(many, endpoints(100, ports.live));
const throughput: number[] = [];
for (let round = -1; round < ROUNDS; round += 1) {
  const { seconds } = await deliver([many], 200, 20_000);
  if (round >= 0) throughput.push(20_000 / seconds);
}

for (const account of crowd) await register(account, endpoints(LIVE_EACH, ports.live));
const alone = await rateOfLive(crowd, LIVE_EACH);
for (const account of alive) await register(account, endpoints(2 * LIVE_EACH, ports.live));
const allAlive = await rateOfLive(alive, 2 * LIVE_EACH);
const refusing = await closedPort();
for (const account of crowd) {
  await register(account, [...endpoints(LIVE_EACH / 2, refusing), ...endpoints(LIVE_EACH / 2, ports.hanging)]);
}
const beside = await rateOfLive(crowd, LIVE_EACH);
const memoryMb = service.memoryMb();

print(`Webhooks, one process (${ROUNDS} rounds)`, [
  {
    what: "first attempt, from the event's timestamp to the receiver",
    value: `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
    target: 'p50 ≤ 50 ms',
    met: at(0.5) <= 50,
  },
  { what: 'deliveries to 100 endpoints of one account', value: perSecond(median(throughput)) },
  {
    what: `deliveries to ${crowd.length * LIVE_EACH} live endpoints of ${crowd.length} accounts`,
    value: perSecond(alone),
  },
  { what: `deliveries to ${2 * crowd.length * LIVE_EACH} live endpoints`, value: perSecond(allAlive) },
  { what: 'deliveries to live endpoints when half of so many are dead', value: perSecond(beside) },
  {
    what: 'what a live one gets then, against when the others live too',
    value: (beside / (allAlive / 2)).toFixed(2),
    target: '≥ 0.8',
    met: beside / (allAlive / 2) >= 0.8,
  },
  {
    what: 'against when there are no others',
    value: (beside / alone).toFixed(2),
    target: '≥ 0.8',
    met: beside / alone >= 0.8,
  },
  { what: 'memory of the service after it', value: `${memoryMb.toFixed(0)} MB` },
]);
receiver.disconnect();
await db.end();
await service.stop();
