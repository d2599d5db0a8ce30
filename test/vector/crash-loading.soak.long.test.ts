// The service is killed while collections that do not all fit in memory are loaded and evicted, and vectors are overwritten: after the
// restart every answer is of what was acknowledged.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { loadServerSecret } from '../../src/core/secrets/server-secret.ts';
import { Database } from '../../src/db/database.ts';
import { type Connection, readConnection } from '../../src/db/embedded/index.ts';
import type { Services } from '../../src/kit/services.ts';
import { createPlace, type Place, type ServiceProcess, startProcess } from '../support/process.ts';
import { type Client, client, createTestAccount, type TestAccount } from '../support/service.ts';
import { rounds } from '../support/soak.ts';

const DIMENSION = 128;
const COLLECTIONS = 10;
/** Some 3 MB in memory each: of ten, 16 MB hold four or five. */
const VECTORS = 4_000;
const PER_CALL = 1_000;
const KILLS = rounds(4);
const EVICTIONS_BEFORE_A_KILL = 8;

let place: Place;
let service: ServiceProcess;
let db: Database;
let account: TestAccount;
let call: Client;

beforeAll(async () => {
  place = await createPlace({ VECTOR_MEMORY_MB: '16' });
  service = await startProcess(place);
  db = new Database({ connection: readConnection(place.dataDir) as Connection, connections: 2, hotConnections: 1 });
  const secrets = new Secrets(await loadServerSecret({ dataDir: place.dataDir }));
  account = await createTestAccount({ db, secrets } as Services, 20);
  call = client(place.url, account.secret);
});
afterAll(async () => {
  await db?.end();
  await place?.remove();
});

/** No two of `(c, i, n)` have the same. */
function embeddingOf(c: number, i: number, n: number): Float32Array {
  return Float32Array.from({ length: DIMENSION }, (_, d) =>
    Math.sin((c + 1) * 7.1 + (i + 1) * (d + 1) * 0.37 + n * 1.9 * d),
  );
}

const base64 = (values: Float32Array) => Buffer.from(values.buffer).toString('base64');

/** What each vector was last acknowledged to be, and what it may be besides: a write that was not answered. */
class Known {
  readonly #numbers = new Map<string, [acknowledged: number, sent: number]>();

  of(c: number, i: number): [number, number] {
    return this.#numbers.get(`${c} ${i}`) ?? [0, 0];
  }

  set(c: number, i: number, acknowledged: number, sent: number): void {
    this.#numbers.set(`${c} ${i}`, [acknowledged, sent]);
  }
}

const item = (c: number, i: number, n: number) => ({
  id: `v${i}`,
  embedding: base64(embeddingOf(c, i, n)),
  metadata: { n },
});

async function fill(c: number): Promise<void> {
  const name = `c${c}`;
  expect((await call('POST', '/v1/vector/collection/create', { collection: name, dimension: DIMENSION })).status).toBe(
    200,
  );
  for (let from = 0; from < VECTORS; from += PER_CALL) {
    const vectors = Array.from({ length: PER_CALL }, (_, i) => item(c, from + i, 0));
    expect((await call('POST', '/v1/vector/upsert', { collection: name, vectors })).status).toBe(200);
  }
}

/** The vector is found by its embedding, as it was acknowledged. Null when the service is gone. */
async function expectFound(c: number, i: number, [acknowledged, sent]: [number, number]): Promise<true | null> {
  const body = { collection: `c${c}`, embedding: base64(embeddingOf(c, i, acknowledged)), top_k: 1, exact: true };
  const reply = await call('POST', '/v1/vector/query', body).catch(() => null);
  if (reply?.status !== 200) return null;
  const [match] = reply.body.data.matches;
  if (match.id !== `v${i}` || match.score < 0.9999) expect(sent, `${c} ${i}`).toBeGreaterThan(acknowledged);
  else expect(match.metadata).toEqual({ n: acknowledged });
  return true;
}

/** Queries of all collections in turn: none of them stays in memory for long. */
async function query(first: number, signal: AbortSignal): Promise<void> {
  for (let turn = first; !signal.aborted; turn += 1) {
    // Nobody overwrites vectors from 100 on.
    await expectFound(turn % COLLECTIONS, 100 + (turn % 100), [0, 0]);
  }
}

async function overwrite(known: Known, first: number, signal: AbortSignal): Promise<void> {
  for (let turn = first; !signal.aborted; turn += 2) {
    const [c, i] = [turn % COLLECTIONS, turn % 100];
    const [acknowledged, sent] = known.of(c, i);
    known.set(c, i, acknowledged, sent + 1);
    const body = { collection: `c${c}`, vectors: [item(c, i, sent + 1)] };
    const reply = await call('POST', '/v1/vector/upsert', body).catch(() => null);
    if (reply?.status === 200) known.set(c, i, sent + 1, sent + 1);
    else await sleep(50);
  }
}

async function evictions(): Promise<number> {
  const text = await (await fetch(`${place.url}/metrics`)).text();
  const found = /^qm_vector_evictions\{engine="embedded"\} (\d+)/m.exec(text)?.[1];
  expect(found).toBeDefined();
  return Number(found);
}

/** Kills the service while a collection is being loaded, after others have had to go for it. */
async function killWhileLoading(): Promise<void> {
  const before = await evictions();
  while ((await evictions()) < before + EVICTIONS_BEFORE_A_KILL) await sleep(5);
  for (;;) {
    const { body } = await call('GET', '/v1/vector/collection/list');
    const states = body.data.collections.map(
      (one: { index_state?: string; raw_vendor_payload: { index_state: string } }) =>
        one.raw_vendor_payload.index_state,
    );
    if (states.includes('loading')) break;
  }
  await service.end('SIGKILL');
}

/** Whatever a lost answer left open is read from the records, which queries must then agree with. */
async function settle(known: Known): Promise<void> {
  for (let c = 0; c < COLLECTIONS; c += 1) {
    const ids = Array.from({ length: 100 }, (_, i) => `v${i}`);
    const { body } = await call('POST', '/v1/vector/fetch', { collection: `c${c}`, ids });
    for (const { id, metadata } of body.data.items as { id: string; metadata: { n: number } }[]) {
      const i = Number(id.slice(1));
      const [acknowledged, sent] = known.of(c, i);
      expect(metadata.n, `${c} ${i}`).toBeGreaterThanOrEqual(acknowledged);
      expect(metadata.n, `${c} ${i}`).toBeLessThanOrEqual(sent);
      known.set(c, i, metadata.n, metadata.n);
    }
  }
}

test('kills while collections are loaded and evicted lose nothing and leave nothing stale', {
  timeout: 400_000,
}, async () => {
  for (let c = 0; c < COLLECTIONS; c += 1) await fill(c);
  const known = new Known();
  for (let round = 0; round < KILLS; round += 1) {
    const stop = new AbortController();
    const others = [
      ...Array.from({ length: 4 }, (_, k) => query(k * 3, stop.signal)),
      ...[0, 1].map((k) => overwrite(known, k, stop.signal)),
    ];
    await killWhileLoading();
    stop.abort();
    await Promise.all(others);
    service = await startProcess(place);
    await settle(known);
    for (let i = 0; i < 100; i += 1) {
      for (const c of [i % COLLECTIONS, (i * 7) % COLLECTIONS])
        expect(await expectFound(c, i, known.of(c, i))).toBe(true);
    }
    const { body } = await call('GET', '/v1/vector/collection/list');
    expect(new Set(body.data.collections.map((one: { vector_count: number }) => one.vector_count))).toEqual(
      new Set([VECTORS]),
    );
  }
});
