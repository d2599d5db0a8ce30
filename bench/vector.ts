// Vectors over HTTP: how fast they are stored, how long exact searches take beside the same search without a server, what writing
// beside them costs, and how time grows with size.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Resident } from '../src/modules/vector/engine/embedded/collection/resident.ts';
import { ArenaPool } from '../src/modules/vector/engine/embedded/memory/arena.ts';
import type { Order } from './support/caller.ts';
import { type Flow, load, pace, post } from './support/load.ts';
import { median, perSecond, print, type Row, ratioRow } from './support/report.ts';
import { type BenchAccount, query as sql, startBenchService } from './support/service.ts';
import { base64, VectorSource } from './support/vectors.ts';

const ROWS = Number(process.env.BENCH_ROWS ?? 100_000);
const LARGE_ROWS = Number(process.env.BENCH_LARGE_ROWS ?? 1_000_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const DIMENSION = 768;
const LARGE_DIMENSION = 128;
const ROWS_PER_MIDDLE = 100;
const LONG_ROWS = 1_000;
const LONG_DIMENSION = 1_536;
const PER_CALL = 500;
const WRITERS = 4;
const WRITES_PER_SECOND = 500;
const TOP_K = 10;

const service = await startBenchService(1);
const { url } = service;
const [account] = service.accounts as [BenchAccount];
const source = new VectorSource(DIMENSION, ROWS / ROWS_PER_MIDDLE);

async function create(collection: string, dimension: number): Promise<void> {
  await service.call(account.secret, '/v1/vector/collection/create', { collection, dimension });
}

function upsertCall(collection: string, from: number, vectors: readonly Float32Array[]): Buffer {
  const sent = vectors.map((vector, i) => ({
    id: `v${from + i}`,
    embedding: base64(vector),
    metadata: { n: from + i },
  }));
  return post(url, '/v1/vector/upsert', account.secret, JSON.stringify({ collection, vectors: sent }));
}

/** Stores `count` vectors, written before the clock runs; answers vectors per second. */
async function store(collection: string, from: VectorSource, count: number): Promise<number> {
  let seconds = 0;
  for (let at = 0; at < count; ) {
    const calls: Buffer[] = [];
    for (let i = 0; i < 50 && at < count; i += 1, at += PER_CALL) {
      calls.push(
        upsertCall(
          collection,
          at,
          Array.from({ length: Math.min(PER_CALL, count - at) }, () => from.next()),
        ),
      );
    }
    const flow: Flow = { next: () => calls.pop() ?? null };
    const result = await load({ url, connections: WRITERS, seconds: 600, flow });
    if (result.failed > 0) throw new Error(`${result.failed} upserts failed`);
    seconds += result.seconds;
  }
  return count / seconds;
}

/** Queries of one caller, one after the other; latencies in ms, ascending. */
async function query(collection: string, vectors: readonly Float32Array[], exact: boolean): Promise<number[]> {
  const taken: number[] = [];
  let sentMs = 0;
  let sent = 0;
  const requests = vectors.map((vector) =>
    post(
      url,
      '/v1/vector/query',
      account.secret,
      JSON.stringify({ collection, embedding: base64(vector), top_k: TOP_K, exact, include_metadata: false }),
    ),
  );
  const flow: Flow = {
    next() {
      sentMs = performance.now();
      sent += 1;
      return requests[sent - 1] ?? null;
    },
    answered: () => void taken.push(performance.now() - sentMs),
  };
  const { failed } = await load({ url, connections: 1, seconds: SECONDS, flow });
  if (failed > 0) throw new Error(`${failed} queries failed`);
  return taken.sort((a, b) => a - b);
}

/** Lists are built behind the first searches; what is measured then is what lasts. */
async function listsBuilt(): Promise<void> {
  for (let tries = 0; tries < 120; tries += 1) {
    const figures = await (await fetch(`${url}/metrics`)).text();
    if (/^qm_vector_list_builds\S* [1-9]/m.test(figures)) return;
    await sleep(1_000);
  }
  throw new Error('no lists were built');
}

const at = (sorted: readonly number[], share: number) => sorted[Math.floor(sorted.length * share)] as number;

/** Overwrites all over the collection, made before the clock runs. */
const overwrites = Array.from({ length: 2_000 }, (_, i) => upsertCall('main', (i * 7_919) % ROWS, [source.next()]));

/** Single upserts, `WRITES_PER_SECOND` of them, until told to end. */
function write(ended: AbortSignal): Promise<number> {
  let written = 0;
  const next = () => {
    written += 1;
    return overwrites[written % overwrites.length] as Buffer;
  };
  return pace({ url, perSecond: WRITES_PER_SECOND, next, ended });
}

const table: Row[] = [];
await create('small', DIMENSION);
await store('small', source, ROWS / 10);
await create('main', DIMENSION);
const storedPerSecond = await store('main', source, ROWS);
table.push({
  what: `vectors of ${DIMENSION} stored, ${PER_CALL} a call, ${WRITERS} callers`,
  value: perSecond(storedPerSecond),
  target: '≥ 5,000/s',
  met: storedPerSecond >= 5_000,
});

// The same search in this process, on one thread: the kernel's own time.
const own = new Resident(new ArenaPool(2 ** 31), {
  accountId: 'a',
  collectionId: 'c',
  dimension: DIMENSION,
  metric: 'cosine',
  version: 1,
});
own.expect(ROWS);
for (let i = 0; i < ROWS; i += 1) {
  const embedding = new Uint8Array(source.next().buffer);
  own.upsert({ id: `v${i}`, version: 1, embedding, metadata: { n: i } });
}
const asked = Array.from({ length: 1_000 }, () => source.next());
const ownMs: number[] = [];
const httpMs: number[] = [];
const listsMs: number[] = [];
await query('main', asked, false);
const whileBuilt = await query('main', asked, true);
table.push({
  what: 'exact over HTTP while lists are built beside it',
  value: `p50 ${at(whileBuilt, 0.5).toFixed(1)} ms`,
});
await listsBuilt();
for (let round = 0; round < ROUNDS; round += 1) {
  const taken: number[] = [];
  for (const vector of asked.slice(0, 100)) {
    const begun = performance.now();
    await own.search({ vector, topK: TOP_K, filter: null, exact: true });
    taken.push(performance.now() - begun);
  }
  ownMs.push(median(taken));
  httpMs.push(at(await query('main', asked, true), 0.5));
  listsMs.push(at(await query('main', asked, false), 0.5));
}
const overHttp = httpMs.map((ms, i) => ms / (ownMs[i] as number));
table.push(
  {
    ...ratioRow(
      `exact over HTTP / the same search on one thread without a server, p50 (${ROWS} x ${DIMENSION})`,
      overHttp,
    ),
    target: '≤ 2.5',
    met: median(overHttp) <= 2.5,
  },
  { what: 'exact without a server', value: `p50 ${median(ownMs).toFixed(2)} ms` },
  { what: 'exact over HTTP', value: `p50 ${median(httpMs).toFixed(2)} ms` },
  { what: 'not exact, over HTTP', value: `p50 ${median(listsMs).toFixed(2)} ms` },
);

// What was stored is on disk before waits for the disk count.
await sql(service.connection, 'VACUUM ANALYZE');
await sql(service.connection, 'CHECKPOINT');
const beside: number[] = [];
const middles: string[] = [];
const rates: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const alone = await query('main', asked, false);
  const ending = new AbortController();
  const writing = write(ending.signal);
  const taken = await query('main', asked, false);
  ending.abort();
  beside.push(at(taken, 0.99) / at(alone, 0.99));
  middles.push(`${at(alone, 0.5).toFixed(1)} and ${at(taken, 0.5).toFixed(1)}`);
  rates.push(await writing);
}
table.push({
  ...ratioRow(`p99 of queries beside ${WRITES_PER_SECOND} upserts a second / without`, beside),
  target: '≤ 3',
  met: median(beside) <= 3,
});
table.push({ what: 'p50 of queries without and beside upserts, ms, by round', value: middles.join('; ') });
table.push({ what: 'upserts beside them', value: perSecond(median(rates)) });

const caller = fork(new URL('./support/caller.ts', import.meta.url));
const callerEnded = once(caller, 'exit').then(() => Promise.reject(new Error('the caller ended')));
callerEnded.catch(() => undefined); // told to whoever waits for it

/** Publishes of one caller, one after the other; latencies in ms, ascending. */
async function publishes(seconds: number): Promise<number[]> {
  const body = JSON.stringify({ queue: 'beside', payload: { n: 1 } });
  const order: Order = { url, path: '/v1/queue/publish', secret: account.secret, body, seconds };
  caller.send(order);
  const [latencies] = await Promise.race([once(caller, 'message'), callerEnded]);
  return latencies as number[];
}

/** The longest upsert that there is, as numbers or as base64, again and again. */
async function besideLongUpserts(asNumbers: boolean): Promise<Row> {
  const vectors = Array.from({ length: LONG_ROWS }, (_, i) => {
    const embedding = Float32Array.from({ length: LONG_DIMENSION }, () => Math.random() * 2 - 1);
    return { id: `v${i}`, embedding: asNumbers ? [...embedding] : base64(embedding) };
  });
  const long = post(url, '/v1/vector/upsert', account.secret, JSON.stringify({ collection: 'long', vectors }));
  const delays: number[] = [];
  const figures: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const alone = await publishes(SECONDS);
    const upserts = load({ url, connections: 1, seconds: SECONDS + 0.5, flow: { next: () => long } });
    const taken = await publishes(SECONDS);
    if ((await upserts).failed > 0) throw new Error('a long upsert failed');
    delays.push(at(taken, 0.99) - at(alone, 0.99));
    figures.push(
      [0.5, 0.99].map((share) => `${at(alone, share).toFixed(1)} and ${at(taken, share).toFixed(1)}`).join(', '),
    );
  }
  const delay = median(delays);
  return {
    what: `p99 of publishes beside upserts of ${LONG_ROWS} x ${LONG_DIMENSION} ${asNumbers ? 'as numbers' : 'as base64'}, less that without`,
    value: `${delay.toFixed(1)} ms (p50, p99 without and beside: ${figures.join('; ')})`,
    target: '≤ 20 ms',
    met: delay <= 20,
  };
}

await service.call(account.secret, '/v1/queue/create', { name: 'beside' });
await create('long', LONG_DIMENSION);
for (const asNumbers of [true, false]) table.push(await besideLongUpserts(asNumbers));
caller.disconnect();

const large = new VectorSource(LARGE_DIMENSION, LARGE_ROWS / ROWS_PER_MIDDLE);
await create('large', LARGE_DIMENSION);
const largePerSecond = await store('large', large, LARGE_ROWS);
const askedLarge = Array.from({ length: 500 }, () => large.next());
const sizes: [string, readonly Float32Array[], string][] = [
  ['small', asked, `${ROWS / 10} x ${DIMENSION}`],
  ['main', asked, `${ROWS} x ${DIMENSION}`],
  ['large', askedLarge, `${LARGE_ROWS} x ${LARGE_DIMENSION}`],
];
for (const [collection, vectors, size] of sizes) {
  const begun = performance.now();
  await service.call(account.secret, '/v1/vector/query', { collection, embedding: base64(vectors[0] as Float32Array) });
  const firstMs = performance.now() - begun;
  const exact = await query(collection, vectors, true);
  const usual = await query(collection, vectors, false);
  table.push({
    what: size,
    value: `exact p50 ${at(exact, 0.5).toFixed(1)} ms, p99 ${at(exact, 0.99).toFixed(1)} ms; not exact p50 ${at(usual, 0.5).toFixed(1)} ms; first query ${firstMs.toFixed(0)} ms`,
  });
}
table.push({ what: `vectors of ${LARGE_DIMENSION} stored`, value: perSecond(largePerSecond) });
table.push({ what: 'memory of the service', value: `${service.memoryMb().toFixed(0)} MB` });
print(`Vectors over HTTP (${ROUNDS} interleaved rounds)`, table);
await service.stop();
