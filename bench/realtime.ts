// How soon does an event arrive, how many deliveries does one process make, and what does a connection hold? Sockets of Pusher's protocol, in a
// process of their own; publishes are durable and billed. The machine's cores are shared by service, PostgreSQL and listeners.
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { withClient } from '../src/db/client.ts';
import { startListeners } from './support/listeners.ts';
import { processorSeconds } from './support/processor.ts';
import { median, print } from './support/report.ts';
import { startBenchService } from './support/service.ts';

const SUBSCRIBERS = 1_000;
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 10_000);
const PER_ACCOUNT = 500;
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
const EVENTS = 500;
const DATA = { id: 17, text: 'a'.repeat(80) };

const accountsMax = Math.ceil(CONNECTIONS / PER_ACCOUNT) + 1;
const service = await startBenchService(accountsMax);
const port = Number(new URL(service.url).port);
const [first, ...others] = service.accounts;
if (first === undefined) throw new Error('no account');
await withClient(service.connection, (client) =>
  client.query(`UPDATE core.account SET tier = 'enterprise' WHERE account_id = $1`, [first.accountId]),
);
await sleep(1_500);
const appKeyOf = async (secret: string): Promise<string> => {
  const reply = await fetch(`${service.url}/v1/realtime/app`, { headers: { authorization: `Bearer ${secret}` } });
  return ((await reply.json()) as { data: { app_key: string } }).data.app_key;
};
const publish = (channel: string) =>
  service.call(first.secret, '/v1/realtime/publish', { channel, event: 'tick', data: DATA });
const at = (sorted: readonly number[], share: number) => sorted[Math.floor(share * (sorted.length - 1))] as number;
const ms = (value: number) => `${value.toFixed(1)} ms`;
const appKey = await appKeyOf(first.secret);

/** Sorted: from a publish's answer to its event at a subscriber, ms; an event that comes before the answer took 0. */
async function latencies(): Promise<number[]> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/app/${appKey}?protocol=7`);
  let arrived: (() => void) | null = null;
  const subscribed = Promise.withResolvers<void>();
  socket.on('message', (data) => {
    const text = String(data);
    if (text.includes('connection_established'))
      socket.send('{"event":"pusher:subscribe","data":{"channel":"latency"}}');
    else if (text.includes('subscription_succeeded')) subscribed.resolve();
    else arrived?.();
  });
  await subscribed.promise;
  const took: number[] = [];
  for (let n = 0; n < EVENTS; n += 1) {
    let arrivedMs = 0;
    const event = new Promise<void>((resolve) => {
      arrived = () => {
        arrivedMs = performance.now();
        resolve();
      };
    });
    await publish('latency');
    const answeredMs = performance.now();
    await event;
    took.push(Math.max(0, arrivedMs - answeredMs));
  }
  socket.close();
  return took.sort((a, b) => a - b);
}

const listeners = startListeners();

/** Publishes from so many callers at once for some seconds. */
async function deliveries(callers: number) {
  const before = { frames: await listeners.frames(), cpu: processorSeconds(service.pid), ms: performance.now() };
  const untilMs = before.ms + SECONDS * 1_000;
  let published = 0;
  const call = async () => {
    while (performance.now() < untilMs) {
      await publish('many');
      published += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  let frames = await listeners.frames();
  while (frames - before.frames < published * SUBSCRIBERS) {
    await sleep(50);
    const now = await listeners.frames();
    if (now === frames) break;
    frames = now;
  }
  const seconds = (performance.now() - before.ms) / 1_000;
  const made = frames - before.frames;
  const lost = published * SUBSCRIBERS - made;
  return { rate: made / seconds, perCpu: made / (processorSeconds(service.pid) - before.cpu), lost, published };
}

const quiet = await latencies();
await listeners.open(port, [{ appKey, channel: 'many', count: SUBSCRIBERS, from: '127.0.0.9' }]);
await deliveries(2);
const rounds = [await deliveries(4), await deliveries(8), await deliveries(16)];
const busy = await latencies();
await listeners.drop();
await sleep(2_000);

const keys = await Promise.all(others.map(({ secret }) => appKeyOf(secret)));
const idle = keys.map((key, i) => ({
  appKey: key,
  channel: 'idle',
  count: PER_ACCOUNT,
  from: `127.0.1.${1 + Math.floor(i / 4)}`,
}));
const beforeMb = service.memoryMb();
const openedMs = performance.now();
await listeners.open(port, idle);
const openSeconds = (performance.now() - openedMs) / 1_000;
await sleep(3_000);
const heldKb = ((service.memoryMb() - beforeMb) * 1_024) / (idle.length * PER_ACCOUNT);

// All of them come again at once; another account publishes meanwhile.
await listeners.drop();
await sleep(500);
const stormMs = performance.now();
const storm = listeners.open(port, idle);
const others99: number[] = [];
let isOver = false;
void storm.then(() => {
  isOver = true;
});
while (!isOver) {
  const beganMs = performance.now();
  await publish('calm');
  others99.push(performance.now() - beganMs);
  await sleep(20);
}
await storm;
const stormSeconds = (performance.now() - stormMs) / 1_000;
others99.sort((a, b) => a - b);

const rate = median(rounds.map((round) => round.rate));
const perCpu = median(rounds.map((round) => round.perCpu));
const count = (value: number) => Math.round(value).toLocaleString('en-US');
print(`Realtime: ${SUBSCRIBERS} subscribers, then ${count(CONNECTIONS)} connections, one process`, [
  {
    what: 'from the answer to a subscriber, p50',
    value: ms(at(quiet, 0.5)),
    target: '≤ 3 ms',
    met: at(quiet, 0.5) <= 3,
  },
  { what: 'the same, p95', value: ms(at(quiet, 0.95)), target: '≤ 10 ms', met: at(quiet, 0.95) <= 10 },
  { what: 'the same beside 1,000 idle subscribers, p95', value: ms(at(busy, 0.95)) },
  { what: 'deliveries a second', value: count(rate), target: '≥ 30,000', met: rate >= 30_000 },
  { what: 'deliveries for a second of its processor', value: count(perCpu) },
  {
    what: 'lost',
    value: count(rounds.reduce((sum, { lost }) => sum + lost, 0)),
    target: '0',
    met: rounds.every(({ lost }) => lost === 0),
  },
  { what: 'publishes a second meanwhile', value: count(median(rounds.map(({ published }) => published / SECONDS))) },
  { what: 'memory of a connection', value: `${heldKb.toFixed(1)} KB`, target: '≤ 20 KB', met: heldKb <= 20 },
  { what: `${count(CONNECTIONS)} connections and subscriptions opened in`, value: `${openSeconds.toFixed(1)} s` },
  { what: 'all of them again, after all were lost', value: `${stormSeconds.toFixed(1)} s` },
  {
    what: 'a publish of another account meanwhile, p50 and p99',
    value: `${ms(at(others99, 0.5))}, ${ms(at(others99, 0.99))}`,
  },
]);
listeners.stop();
await service.stop();
