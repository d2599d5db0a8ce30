// A week of an account with four programs: what each of them calls in an hour, more by day than by night. One of them runs away on a
// Tuesday, so that there is something to be found.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Call, PicturedService } from './place.ts';

const HOURS = 7 * 24;
const HOUR_SECONDS = 3_600;
/** Hours from the start in which the crawler is caught in a loop. */
const RUNAWAY = { from: 97, to: 104 };
/** Hours from the start in which no model answers. */
const OUTAGE = { from: 52, to: 54 };
const DIMENSION = 8;
const WORKERS = 4;
/** Of each worker, ten messages each. */
const LEASES_PER_HOUR = 16;
const SETTLED_MS = 8_000;

export interface Week {
  /** Of the person who owns the account. */
  readonly email: string;
  stop(): void;
}

interface Programs {
  readonly crawler: Call;
  readonly support: Call;
  readonly shop: Call;
  readonly studio: Call;
}

/** Makes the account and lets its week go by. The clock of the service stands a week later then. */
export async function liveWeek(service: PicturedService): Promise<Week> {
  const email = 'ada@example.org';
  const { account_id: account } = await service.qm('accounts', 'create', '--name', 'Harbour', '--credit', '6');
  await service.qm('accounts', 'update', '--account', String(account), '--email', email);
  const program = async (name: string, ...scopes: readonly string[]) => {
    const made = await service.qm('keys', 'create', '--account', String(account), '--name', name, ...scopes);
    return service.as(String(made.key_secret));
  };
  const owner = await program('laptop of Ada');
  const programs: Programs = {
    crawler: await program('crawler', '--scopes', 'queue,vector'),
    support: await program('support agent', '--scopes', 'ai,vector'),
    shop: await program('shop backend', '--scopes', 'errors,queue'),
    studio: await program('video studio', '--scopes', 'video'),
  };
  const receiver = await startReceiver();
  await prepare(owner, `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`);
  for (let hour = 0; hour < HOURS; hour += 1) {
    await liveHour(programs, hour);
    await service.qm('clock', 'advance', '--seconds', String(HOUR_SECONDS));
  }
  await failAtLast(programs);
  await sleep(SETTLED_MS);
  return { email, stop: () => receiver.close() };
}

/** Answers all but what has moved away, and the report, which is broken. */
async function startReceiver(): Promise<Server> {
  const answers: Readonly<Record<string, number>> = { '/moved': 410, '/report': 500 };
  const server = createServer((req, res) => {
    req.resume();
    res.writeHead(answers[req.url ?? ''] ?? 204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function prepare(owner: Call, receiver: string): Promise<void> {
  await owner('account/budget/set', { period: 'monthly', hard_cap_usd: 8 }, { method: 'PUT' });
  await owner('queue/create', { name: 'pages-failed' });
  await owner('queue/create', { name: 'pages', dead_letter_queue: 'pages-failed', max_retries: 1 });
  await owner('queue/create', { name: 'orders' });
  await owner('vector/collection/create', { collection: 'pages', dimension: DIMENSION });
  await owner('cron/create', { name: 'sweep carts', cron_expr: '30 * * * *', task: `${receiver}/sweep` });
  await owner('cron/create', { name: 'daily report', cron_expr: '0 * * * *', task: `${receiver}/report` });
  await owner('account/webhooks/register', { url: `${receiver}/moved`, events: ['queue.dlq'] });
}

async function liveHour(programs: Programs, hour: number): Promise<void> {
  const busy = activity(new Date().getUTCHours() + hour);
  const isLooping = hour >= RUNAWAY.from && hour < RUNAWAY.to;
  await Promise.all([
    crawl(programs.crawler, isLooping ? 22 : Math.round(1 + 5 * busy)),
    support(programs.support, Math.round(1 + 7 * busy), hour >= OUTAGE.from && hour < OUTAGE.to),
    sell(programs.shop, Math.round(12 * busy)),
    hour % 11 === 6 ? video(programs.studio, hour) : null,
  ]);
}

/** From 0.05 at four at night to 1 in the afternoon, UTC. */
function activity(hour: number): number {
  return 0.525 + 0.475 * Math.sin((2 * Math.PI * (hour - 10)) / 24);
}

/** Pages that were found become messages and vectors; what comes out of the queue is acknowledged. */
async function crawl(call: Call, batches: number): Promise<void> {
  const items = Array.from({ length: 100 }, (_, n) => ({ payload: { url: `https://example.org/page/${n}` } }));
  for (let n = 0; n < batches; n += 1) {
    await call('queue/batch/publish', { queue: 'pages', items });
    await call('vector/upsert', {
      collection: 'pages',
      vectors: Array.from({ length: 200 }, (_, i) => vector(n * 200 + i)),
    });
  }
  await Promise.all(Array.from({ length: WORKERS }, () => work(call)));
}

async function work(call: Call): Promise<void> {
  for (let taken = 0; taken < LEASES_PER_HOUR; taken += 1) {
    const receipts = await lease(call, 'pages');
    if (receipts.length === 0) return;
    await call('queue/ack', { queue: 'pages', receipts });
  }
}

async function lease(call: Call, queue: string): Promise<readonly string[]> {
  const { items } = (await call('queue/consume', { queue, max_messages: 10 })) as { items: readonly Leased[] };
  return items.map(({ receipt_handle }) => receipt_handle);
}

interface Leased {
  readonly receipt_handle: string;
}

function vector(n: number) {
  const embedding = Array.from({ length: DIMENSION }, (_, i) => Math.sin(n * 7 + i * 3) || 1);
  return { id: `page-${n}`, embedding, metadata: { url: `https://example.org/page/${n}` } };
}

async function support(call: Call, questions: number, isDown: boolean): Promise<void> {
  const history = 'The customer says that the parcel has not come, and asks where it is. '.repeat(700);
  for (let n = 0; n < questions; n += 1) {
    await call('vector/query', { collection: 'pages', embedding: vector(n).embedding, top_k: 5 }, { mayFail: true });
    const content = isDown ? '[[fail:VENDOR_DOWN]]' : history;
    await call('ai/chat', { model: 'sandbox/echo-1', messages: [{ role: 'user', content }] }, { mayFail: true });
  }
}

const faults = [
  ['TypeError', "Cannot read properties of undefined (reading 'postcode')", 'checkout.ts', 5],
  ['TimeoutError', 'The warehouse did not answer within 10 s', 'stock.ts', 3],
  ['RangeError', 'Invalid currency code: null', 'price.ts', 1],
] as const;

async function sell(call: Call, orders: number): Promise<void> {
  const items = Array.from({ length: Math.max(1, orders) }, (_, n) => ({ payload: { order: n } }));
  await call('queue/batch/publish', { queue: 'orders', items });
  for (const [type, value, filename, share] of faults) {
    const stacktrace = [{ func: 'handle', file: `src/${filename}`, line: 41 }];
    for (let n = 0; n < (orders * share) / 9; n += 1)
      await call('errors/capture', { exception: { type, value, stacktrace }, environment: 'production' });
  }
}

async function video(call: Call, hour: number): Promise<void> {
  await call('video/generate', {
    prompt: `A harbour at hour ${hour}`,
    model: 'sandbox/storyboard-1',
    duration_seconds: 4,
  });
}

/** What the page shows as failing: messages that were given back too often. */
async function failAtLast({ crawler }: Programs): Promise<void> {
  await crawl(crawler, 1);
  const items = Array.from({ length: 7 }, (_, n) => ({ payload: { url: `https://example.org/broken/${n}` } }));
  await crawler('queue/batch/publish', { queue: 'pages', items });
  let receipts = await lease(crawler, 'pages');
  while (receipts.length > 0) {
    await crawler('queue/nack', { queue: 'pages', receipts, delay_seconds: 0 });
    receipts = await lease(crawler, 'pages');
  }
}
