import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectExact, type ReferenceRow } from '../../../../../../test/vector/engine-reference.ts';
import { type Filter, type Metric, metrics, type Search } from '../../port.ts';
import { Resident } from '../collection/resident.ts';
import { ArenaPool } from '../memory/arena.ts';
import { Partner } from './partner.ts';

let shares = 0;
const failures: unknown[] = [];
const partner = new Partner(
  0,
  () => {
    shares += 1;
  },
  (error) => failures.push(error),
);
const pool = new ArenaPool(2 ** 26, (arena) => partner.forget(arena));

const bytesOf = (vector: Float32Array) => new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);

function residentOf(rows: readonly ReferenceRow[], metric: Metric): Resident {
  const dimension = rows[0]?.vector.length as number;
  const resident = new Resident(pool, { accountId: 'a', collectionId: 'c', dimension, metric, version: 1 }, partner);
  for (const { id, version, vector, metadata } of rows)
    resident.upsert({ id, version, embedding: bytesOf(vector), metadata });
  return resident;
}

function rowsOf(count: number, dimension: number, value: () => number): ReferenceRow[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `id-${(i * 7919) % count}`,
    version: i + 1,
    vector: Float32Array.from({ length: dimension }, value),
    metadata: { half: i % 2, tenth: i % 10 },
  }));
}

const random = () => Math.random() * 2 - 1;
const searchOf = (dimension: number, topK: number, filter: Filter | null): Search => ({
  vector: Float32Array.from({ length: dimension }, random),
  topK,
  filter,
  exact: true,
});

/** Searches until the partner has got a task: it has none at first, and none when it is not done with the one before. */
async function untilShared(search: () => Promise<unknown>): Promise<void> {
  const before = shares;
  for (let tries = 0; shares === before; tries += 1) {
    expect(tries).toBeLessThan(500);
    if (tries > 0) await sleep(10);
    await search();
  }
}

const awake = (resident: Resident, dimension: number) =>
  untilShared(() => resident.search(searchOf(dimension, 1, null)));

beforeAll(async () => {
  const resident = residentOf(rowsOf(10, 3, random), 'cosine');
  await awake(resident, 3);
  resident.dispose();
});
afterAll(async () => {
  await partner.close();
  expect(failures).toEqual([]);
});

describe.each(metrics)('a search by %s on two threads', (metric) => {
  it.each([1, 33, 768])('equals every row in f64, sorted, in dimension %i', async (dimension) => {
    const rows = rowsOf(dimension > 500 ? 3_000 : 5_000, dimension, random);
    const resident = residentOf(rows, metric);
    const filters: (Filter | null)[] = [
      null,
      [{ key: 'half', op: 'eq', value: 1 }],
      [{ key: 'tenth', op: 'eq', value: 3 }],
      [{ key: 'tenth', op: 'ne', value: 3 }],
    ];
    for (const filter of filters) {
      for (const topK of [1, 10, 1_000]) {
        const search = searchOf(dimension, topK, filter);
        const check = async () => expectExact(await resident.search(search), rows, metric, search);
        // of a filter that no more rows pass than are asked for, each is looked at
        const before = shares;
        if (topK === 1_000 && filter === filters[2]) {
          await check();
          expect(shares).toBe(before);
        } else await untilShared(check);
      }
    }
    resident.dispose();
  });
});

it('of which one finds more than it can hand over', async () => {
  const rows = rowsOf(150_000, 1, () => 0.37);
  const resident = residentOf(rows, 'dotproduct');
  const search = searchOf(1, 10, null);
  await untilShared(async () => expectExact(await resident.search(search), rows, 'dotproduct', search));
  resident.dispose();
});

it('searches of two collections at once share one partner', async () => {
  const sets = [rowsOf(5_000, 33, random), rowsOf(5_000, 64, random)] as const;
  const residents = sets.map((rows) => residentOf(rows, 'cosine'));
  for (let round = 0; round < 20; round += 1) {
    await Promise.all(
      residents.map(async (resident, i) => {
        const search = searchOf(i === 0 ? 33 : 64, 10, null);
        expectExact(await resident.search(search), sets[i] as ReferenceRow[], 'cosine', search);
      }),
    );
  }
  for (const resident of residents) resident.dispose();
});

it('a partner that dies costs time, never a result, and another one takes its place', async () => {
  const rows = rowsOf(5_000, 256, random);
  const resident = residentOf(rows, 'euclidean');
  for (let round = 0; round < 3; round += 1) {
    await awake(resident, 256);
    const search = searchOf(256, 10, null);
    const found = resident.search(search);
    void partner.close();
    expectExact(await found, rows, 'euclidean', search);
  }
  await awake(resident, 256);
  resident.dispose();
});

it('where two threads do not both get to work, small searches are seldom shared, large ones as ever', async () => {
  // one part cannot be shared: whoever takes it, the other was woken for nothing
  const [few, many] = [10, 1_000];
  const rowBytes = 48;
  let tried = 0;
  const other = new Partner(
    few * rowBytes,
    () => {
      tried += 1;
    },
    (error) => failures.push(error),
  );
  const of = (count: number) => {
    const resident = new Resident(
      pool,
      { accountId: 'a', collectionId: 'c', dimension: 3, metric: 'cosine', version: 1 },
      other,
    );
    resident.expect(count);
    for (const { vector, ...row } of rowsOf(count, 3, random)) resident.upsert({ ...row, embedding: bytesOf(vector) });
    return resident;
  };
  const [small, large] = [of(few), of(many)];
  const triedBy = async (resident: Resident, searches: number) => {
    const before = tried;
    for (let i = 0; i < searches; i += 1) {
      await resident.search(searchOf(3, 1, null));
      await sleep(5);
    }
    return tried - before;
  };
  for (let tries = 0; tried === 0; tries += 1) {
    expect(tries).toBeLessThan(500);
    await triedBy(small, 1);
  }
  expect(await triedBy(small, 100)).toBeLessThan(10);
  expect(await triedBy(large, 10)).toBeGreaterThan(5);
  small.dispose();
  large.dispose();
  await other.close();
});
