// Writes at once, on one process and on two: every one is whole, the count is exact, and nothing waits for itself.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { acceptedUnits } from '../../src/core/wallet/ledger/accepted-units.ts';
import type { Reply } from '../support/service.ts';
import { numbers, VectorBench } from './harness.ts';

let one: VectorBench;
let two: VectorBench;
beforeAll(async () => {
  one = await VectorBench.start();
  two = await VectorBench.start({ database: one.service.database, account: one.account });
});
afterAll(async () => {
  await two.service.stop();
  await one.service.stop();
});

async function both(): Promise<[VectorBench, VectorBench]> {
  const first = await one.withAccount();
  return [first, first.on(two)];
}

const ITEMS = 'SELECT count(*)::int AS number FROM vector.item WHERE account_id = $account';
const DISTINCT_VERSIONS = 'SELECT count(DISTINCT version)::int AS number FROM vector.item WHERE account_id = $account';
const VERSION = 'SELECT version::int AS number FROM vector.collection WHERE account_id = $account';

/** Count, rows and versions agree. */
async function expectSound(bench: VectorBench, collection: string): Promise<number> {
  const { vector_count: count } = await bench.get(collection);
  expect(await bench.number(ITEMS)).toBe(count);
  const last = await bench.number(
    `SELECT coalesce(max(version), 0)::int AS number FROM (SELECT version FROM vector.item WHERE account_id = $account
      UNION ALL SELECT version FROM vector.tombstone WHERE account_id = $account) v`,
  );
  expect(last).toBe(await bench.number(VERSION));
  return count;
}

test('upserts of the same ids on two processes: each id is there once, whole, and all calls are charged', async () => {
  const [a, b] = await both();
  await a.create('docs', 2);
  const upsert = (i: number) =>
    (i % 2 === 0 ? a : b).upsert('docs', [
      { id: `v${i % 5}`, embedding: [i + 1, -i - 1], metadata: { i } },
      { id: `own${i}`, embedding: [1, i], metadata: null },
    ]);
  await Promise.all(Array.from({ length: 100 }, (_, i) => upsert(i)));
  expect(await expectSound(a, 'docs')).toBe(105);
  // Each commit has left a row that no other wrote: no version is left out.
  expect(await a.number(DISTINCT_VERSIONS)).toBe(await a.number(VERSION));
  const { items } = await b.fetch('docs', ['v0', 'v1', 'v2', 'v3', 'v4'], { include_values: true });
  for (const { metadata, embedding } of items) expect(embedding).toEqual([metadata.i + 1, -metadata.i - 1]);
  expect(await a.spentNanos()).toBe(100n * 10_000n);
  expect(await acceptedUnits(a.service.core.db, a.account.accountId)).toEqual(new Map([['vector.upsert', 200n]]));
});

test('small and large upserts, updates and deletions of one collection at once', async () => {
  const [a, b] = await both();
  await a.create('docs', 2);
  const large = (i: number) =>
    Array.from({ length: 300 }, (_, n) => ({ id: `v${n}`, embedding: [i + 1, n], metadata: { i } }));
  await a.upsert('docs', large(0));
  const work = (i: number): Promise<unknown> => {
    const bench = i % 2 === 0 ? a : b;
    if (i % 5 === 0) return bench.upsert('docs', large(i));
    if (i % 5 === 1) return bench.remove('docs', [`v${i}`, `v${i + 1}`, 'none']);
    if (i % 5 === 2)
      return bench.call('PATCH', '/v1/vector/update', { collection: 'docs', id: `v${i}`, metadata: { i } });
    if (i % 5 === 3)
      return bench.ok('POST', '/v1/vector/delete_by_filter', { collection: 'docs', filter: { i: i - 3 } });
    return bench.upsert('docs', [{ id: `v${i}`, embedding: [1, 1] }]);
  };
  await Promise.all(Array.from({ length: 40 }, (_, i) => work(i)));
  const count = await expectSound(a, 'docs');
  const found = await Promise.all([a, b].map((bench) => bench.query('docs', [1, 1], { top_k: 1000 })));
  for (const { matches } of found) expect(matches).toHaveLength(count);
  expect(await a.number('SELECT held_nanos::int AS number FROM core.wallet WHERE account_id = $account')).toBe(0);
});

test('a small upsert goes on while a large one holds another collection, and waits for one that holds its own', async () => {
  const [a] = await both();
  await a.create('held', 1);
  await a.create('free', 1);
  const { db } = one.service.core;
  const lock = {
    name: 'test_hold',
    text: `SELECT 1 FROM vector.collection WHERE account_id = $1 AND name = 'held' FOR UPDATE`,
  };
  const free: Reply[] = [];
  let waiting: Promise<unknown> = Promise.resolve();
  await db.transaction(async (tx) => {
    await tx.query(lock, [a.account.accountId]);
    waiting = a.upsert('held', [{ id: 'a', embedding: [1] }]);
    await sleep(100);
    for (let i = 0; i < 5; i += 1) free.push(await a.tryUpsert('free', [{ id: `${i}`, embedding: [1] }]));
    expect((await a.get('held')).vector_count).toBe(0);
  });
  await waiting;
  expect(free.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect((await a.get('held')).vector_count).toBe(1);
  expect(await a.spentNanos()).toBe(6n * 10_000n);
});

test('a collection that is deleted while vectors come: each call is stored and counted, or refused for nothing', async () => {
  const [a, b] = await both();
  for (let round = 0; round < 6; round += 1) {
    await a.create('docs', 1);
    const before = await a.spentNanos();
    const sizes = Array.from({ length: 24 }, (_, i) => (i % 4 === 0 ? 150 : 1));
    const upserts = sizes.map((size, i) =>
      (i % 2 === 0 ? a : b).tryUpsert(
        'docs',
        Array.from({ length: size }, (_, n) => ({ id: `${i}-${n}`, embedding: [1] })),
      ),
    );
    await sleep(round * 10);
    const gone = await b.ok('DELETE', '/v1/vector/collection/delete?collection=docs');
    const replies = await Promise.all(upserts);
    const stored = sizes.filter((_, i) => replies[i]?.status === 200);
    for (const { status, body } of replies) if (status !== 200) expect(body.error.code).toBe('COLLECTION_NOT_FOUND');
    expect(gone.deleted).toBe(stored.reduce((sum, size) => sum + size, 0));
    const price = stored.reduce((sum, size) => sum + (size === 1 ? 10_000n : 150_000n), 0n);
    expect((await a.spentNanos()) - before).toBe(price);
  }
  await expect.poll(() => a.number(ITEMS)).toBe(0);
});

test('many accounts at once: commits for several accounts and collections', async () => {
  const benches = await Promise.all(Array.from({ length: 10 }, both));
  await Promise.all(benches.flatMap(([a]) => [a.create('x', 3), a.create('y', 1)]));
  await Promise.all(
    benches.flatMap(([a, b]) =>
      Array.from({ length: 12 }, (_, i) => {
        const bench = i % 2 === 0 ? a : b;
        return i % 3 === 0
          ? bench.upsert('x', [{ id: `v${i % 4}`, embedding: numbers(3, i) }])
          : bench.upsert('y', [
              { id: `v${i}`, embedding: [i] },
              { id: 'same', embedding: [i] },
            ]);
      }),
    ),
  );
  for (const [a] of benches) {
    expect((await a.get('x')).vector_count).toBe(4);
    expect((await a.get('y')).vector_count).toBe(9);
    expect(await a.number(ITEMS)).toBe(13);
  }
});
