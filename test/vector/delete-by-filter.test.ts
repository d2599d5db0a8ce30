// Deletion by filter beside other calls: it searches without the collection's lock, deletes what passes at the moment of its
// deletion, leaves most connections to others, and ends with its caller.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import { lockWaitsSql } from '../support/lock-waits.ts';
import { VectorBench } from './harness.ts';

let bench: VectorBench;
beforeAll(async () => {
  bench = await VectorBench.start();
});
afterAll(() => bench.service.stop());

const DELETE = '/v1/vector/delete_by_filter';
const ITEMS = 'SELECT count(*)::int AS number FROM vector.item WHERE account_id = $account';
const TOMBSTONES = 'SELECT count(*)::int AS number FROM vector.tombstone WHERE account_id = $account';
const VERSION = 'SELECT version::int AS number FROM vector.collection WHERE account_id = $account';
const WAITING = `SELECT waiters AS number FROM (${lockWaitsSql('%vector.collection%FOR UPDATE%')}) w`;

/** Vectors v0, v1, …, all of `metadata`. */
async function filled(count: number, metadata: Record<string, unknown> = { n: 1 }): Promise<VectorBench> {
  const b = await bench.withAccount();
  await b.create('docs', 1);
  for (let from = 0; from < count; from += 1_000) {
    const vectors = Array.from({ length: Math.min(1_000, count - from) }, (_, i) => ({
      id: `v${from + i}`,
      embedding: [1],
      metadata,
    }));
    await b.upsert('docs', vectors);
  }
  return b;
}

/** Runs `body` while the account's collections are locked; their connection is none of the general pool. */
function holding<T>(b: VectorBench, body: (sql: (text: string) => Promise<unknown>) => Promise<T>): Promise<T> {
  const { accountId } = b.account;
  return b.service.core.db.hot.transaction(async (tx: Transaction) => {
    const sql = (text: string) => tx.query({ name: '', text: text.replaceAll('$account', `'${accountId}'`) }, []);
    await sql('SELECT 1 FROM vector.collection WHERE account_id = $account FOR UPDATE');
    return body(sql);
  });
}

const waiters = (count: number) => expect.poll(() => bench.number(WAITING), { interval: 10 }).toBe(count);

test('what finds nothing needs no lock and makes no version', async () => {
  const b = await filled(3_000);
  const before = await b.number(VERSION);
  const data = await holding(b, () => b.ok('POST', DELETE, { collection: 'docs', filter: { n: 2 } }));
  expect(data).toEqual({ collection: 'docs', deleted: 0, ok: true });
  expect(await b.number(VERSION)).toBe(before);
});

test('what changed since it was found is deleted if it still passes, and only then', async () => {
  const b = await filled(4);
  const before = await b.number(VERSION);
  const reply = await holding(b, async (sql) => {
    const call = b.call('POST', DELETE, { collection: 'docs', filter: { n: 1 } });
    await waiters(1);
    await sql('UPDATE vector.collection SET version = version + 1, vector_count = 3 WHERE account_id = $account');
    const changed = `version = ${before + 1} WHERE account_id = $account`;
    await sql(`UPDATE vector.item SET metadata = '{"n": 2}', ${changed} AND id = 'v0'`);
    await sql(`UPDATE vector.item SET metadata = NULL, ${changed} AND id = 'v1'`);
    await sql(`UPDATE vector.item SET metadata = '{"n": [0, 1]}', ${changed} AND id = 'v2'`);
    return { call };
  });
  expect((await reply.call).body.data.deleted).toBe(2);
  expect((await b.ok('GET', '/v1/vector/list?collection=docs')).items).toEqual([
    { id: 'v0', metadata: { n: 2 } },
    { id: 'v1', metadata: null },
  ]);
  expect(await b.number(VERSION)).toBe(before + 2);
  expect(await b.number(TOMBSTONES)).toBe(2);
});

test('when nothing of what was found passes any more, there is no version without a change', async () => {
  const b = await filled(2);
  const before = await b.number(VERSION);
  const { call } = await holding(b, async (sql) => {
    const waiting = b.call('POST', DELETE, { collection: 'docs', filter: { n: 1 } });
    await waiters(1);
    await sql('UPDATE vector.collection SET version = version + 1 WHERE account_id = $account');
    await sql(`UPDATE vector.item SET metadata = '{}', version = ${before + 1} WHERE account_id = $account`);
    return { call: waiting };
  });
  expect((await call).body.data.deleted).toBe(0);
  expect(await b.number(VERSION)).toBe(before + 1);
  expect((await b.get('docs')).vector_count).toBe(2);
});

test('a collection made anew under the name keeps its vectors', async () => {
  const b = await filled(2);
  const { call } = await holding(b, async (sql) => {
    const waiting = b.call('POST', DELETE, { collection: 'docs', filter: { n: 1 } });
    await waiters(1);
    await sql(`UPDATE vector.item SET collection_id = 'vcol_new' WHERE account_id = $account`);
    await sql(`UPDATE vector.collection SET collection_id = 'vcol_new' WHERE account_id = $account`);
    return { call: waiting };
  });
  expect((await call).body.data.deleted).toBe(0);
  expect(await b.number(ITEMS)).toBe(2);
});

test('however many wait for their collections, the pool answers others', async () => {
  const b = await bench.withAccount();
  const names = Array.from({ length: 12 }, (_, i) => `c${i}`);
  for (const name of names) {
    await b.create(name, 1);
    await b.upsert(name, [{ id: 'a', embedding: [1], metadata: { n: 1 } }]);
  }
  const other = await filled(1);
  const calls = await holding(b, async () => {
    const waiting = names.map((collection) => b.call('POST', DELETE, { collection, filter: { n: 1 } }));
    await waiters(2);
    for (let i = 0; i < 5; i += 1) {
      expect((await other.get('docs')).vector_count).toBe(1);
    }
    return { waiting };
  });
  const replies = await Promise.all(calls.waiting);
  expect(replies.map(({ body }) => body.data?.deleted)).toEqual(names.map(() => 1));
});

test('a call whose caller has gone deletes no further part', async () => {
  const b = await filled(3_000);
  const other = await filled(3_000);
  const gone = new AbortController();
  const call = await holding(b, async () => {
    const sent = fetch(b.service.url + DELETE, {
      method: 'POST',
      headers: { authorization: `Bearer ${b.account.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ collection: 'docs', filter: { n: 1 } }),
      signal: gone.signal,
    }).catch((error: Error) => error.name);
    await waiters(1);
    gone.abort();
    expect(await sent).toBe('AbortError');
    // What comes later is answered: the service knows by then.
    await other.get('docs');
    return { sent };
  });
  expect(await call.sent).toBe('AbortError');
  await expect.poll(() => b.number(TOMBSTONES)).toBeGreaterThan(0);
  const deleted = await b.number(TOMBSTONES);
  // As many of another account are deleted meanwhile.
  const whole = await other.call('POST', DELETE, { collection: 'docs', filter: { n: 1 } });
  expect(whole.body.data.deleted).toBe(3_000);
  expect(await b.number(TOMBSTONES)).toBe(deleted);
  expect((await b.get('docs')).vector_count).toBe(3_000 - deleted);
});

test('every vector is examined, also with rows that take long', async () => {
  const b = await filled(80, { n: 1, long: Array.from({ length: 7_000 }, () => 1) });
  await b.upsert('docs', [{ id: 'v1999', embedding: [1], metadata: { long: [1, 2] } }]);
  expect(await b.ok('POST', DELETE, { collection: 'docs', filter: { long: { $gt: 1 } } })).toMatchObject({
    deleted: 1,
  });
  expect((await b.ok('POST', DELETE, { collection: 'docs', filter: { long: { $lte: 1 } } })).deleted).toBe(80);
  expect((await b.get('docs')).vector_count).toBe(0);
});
