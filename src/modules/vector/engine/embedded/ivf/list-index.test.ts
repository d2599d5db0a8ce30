import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { expectExact, type ReferenceRow, referenceMatches } from '../../../../../../test/vector/engine-reference.ts';
import { randomSource, randomVector } from '../../../../../../test/vector/engine-rows.ts';
import { type Metric, metrics, type Search } from '../../port.ts';
import { Resident } from '../collection/resident.ts';
import { ArenaPool } from '../memory/arena.ts';
import { Probes } from './probes.ts';

const pool = new ArenaPool(2 ** 27);
const DIMENSION = 24;
const CLUSTERS = 60;
const bytesOf = (values: Float32Array) => new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
const alone = <T>(work: () => Promise<T>) => work();

// Where lists begin is drawn. For the draw that has a recall of 0.978 now and then, a running collection checks its answers.
beforeEach(() => {
  const random = randomSource(11);
  vi.spyOn(Math, 'random').mockImplementation(() => (random() + 1) / 2);
});
afterEach(() => vi.restoreAllMocks());

/** Vectors that gather around some points, as embeddings do. */
function clustered(random: () => number): () => Float32Array {
  const middles = Array.from({ length: CLUSTERS }, () => randomVector(random, DIMENSION));
  return () => {
    const middle = middles[Math.floor(((random() + 1) / 2) * CLUSTERS) % CLUSTERS] as Float32Array;
    return middle.map((value) => value + 0.25 * random());
  };
}

class Subject {
  readonly rows = new Map<string, ReferenceRow>();
  readonly resident: Resident;
  readonly metric: Metric;
  #version = 0;

  constructor(metric: Metric, dimension = DIMENSION) {
    this.metric = metric;
    this.resident = new Resident(pool, { accountId: 'a', collectionId: 'c', dimension, metric, version: 1 });
  }

  upsert(id: string, vector: Float32Array): void {
    this.#version += 1;
    const version = this.#version;
    this.resident.upsert({ id, version, embedding: bytesOf(vector), metadata: null });
    this.rows.set(id, { id, version, vector, metadata: null });
  }

  remove(id: string): void {
    this.#version += 1;
    this.resident.remove(id, this.#version);
    this.rows.delete(id);
  }

  /** The share of the exact answers that the lists found; every result must be full, and a true row with its true score. */
  async recall(queries: readonly Float32Array[], topK: number): Promise<number> {
    let found = 0;
    let wanted = 0;
    for (const vector of queries) {
      const search: Search = { vector, topK, filter: null, exact: false };
      const result = await this.resident.search(search);
      const all = referenceMatches(this.rows.values(), this.metric, search);
      const scores = new Map(all.map(({ id, score }) => [id, score]));
      expect(result).toMatchObject({ plan: 'ivf', exact: false, rowsMatched: all.length });
      expect(result.matches.length).toBe(Math.min(topK, all.length));
      for (const { id, score } of result.matches) expect(score).toBeCloseTo(scores.get(id) as number, 9);
      const best = new Set(all.slice(0, topK).map(({ id }) => id));
      found += result.matches.filter(({ id }) => best.has(id)).length;
      wanted += best.size;
    }
    return found / wanted;
  }
}

describe.each(metrics)('lists (%s)', (metric) => {
  it('find 98 % of the exact answer while looking at a part of the rows, also after they changed', async () => {
    const random = randomSource(4);
    const make = clustered(random);
    const subject = new Subject(metric);
    for (let i = 0; i < 6000; i += 1) subject.upsert(`row-${i}`, make());
    expect(subject.resident.listsDue(0)).toBeGreaterThan(0);
    const building = subject.resident.buildLists(alone);
    // written while they are built
    for (let i = 5000; i < 6500; i += 1) subject.upsert(`row-${i}`, make());
    for (let i = 0; i < 500; i += 1) subject.remove(`row-${i}`);
    expect(await building).toBe(true);
    const queries = Array.from({ length: 60 }, make);
    expect(await subject.recall(queries, 10)).toBeGreaterThanOrEqual(0.98);
    for (let i = 6000; i < 7500; i += 1) subject.upsert(`row-${i}`, make());
    for (let i = 1000; i < 2000; i += 1) subject.remove(`row-${i}`);
    expect(await subject.recall(queries, 10)).toBeGreaterThanOrEqual(0.98);
    expect(await subject.recall(queries.slice(0, 20), 100)).toBeGreaterThanOrEqual(0.97);
    const one: Search = { vector: queries[0] as Float32Array, topK: 10, filter: null, exact: false };
    expect((await subject.resident.search(one)).rowsScanned).toBeLessThan(subject.rows.size * 0.6);
    for (const search of [
      { ...one, exact: true },
      { ...one, topK: 1000 },
      { ...one, filter: [{ key: 'k', op: 'ne', value: 1 } as const] },
    ]) {
      const result = await subject.resident.search(search);
      expect(result.plan).toBe('exact');
      expectExact(result, subject.rows.values(), metric, search);
    }
    subject.resident.dispose();
  });
});

describe('lists', () => {
  it('are given up for rows that do not gather: answers stay exact', async () => {
    const random = randomSource(8);
    const subject = new Subject('cosine', 200);
    for (let i = 0; i < 2000; i += 1) subject.upsert(`row-${i}`, randomVector(random, 200));
    expect(await subject.resident.buildLists(alone)).toBe(false);
    const search: Search = { vector: randomVector(random, 200), topK: 10, filter: null, exact: false };
    const result = await subject.resident.search(search);
    expect(result.plan).toBe('exact');
    expectExact(result, subject.rows.values(), 'cosine', search);
    expect(subject.resident.listsDue(0)).toBeUndefined();
    subject.resident.dispose();
  });

  it('stop being built when the collection goes', async () => {
    const make = clustered(randomSource(5));
    const subject = new Subject('cosine');
    for (let i = 0; i < 4000; i += 1) subject.upsert(`row-${i}`, make());
    const building = subject.resident.buildLists(alone);
    await new Promise((resolve) => setImmediate(resolve));
    subject.resident.dispose();
    expect(await building).toBe(false);
  });

  it('are checked against the exact answer: full ones change nothing, poor ones widen the search until lists do not pay', async () => {
    const make = clustered(randomSource(6));
    const subject = new Subject('cosine');
    for (let i = 0; i < 4000; i += 1) subject.upsert(`row-${i}`, make());
    expect(await subject.resident.buildLists(alone)).toBe(true);
    const search: Search = { vector: make(), topK: 10, filter: null, exact: false };
    const exact = await subject.resident.search({ ...search, exact: true });
    const { rowsScanned } = await subject.resident.search(search);
    for (let i = 0; i < 40; i += 1) await subject.resident.checkRecall(search, exact);
    expect(await subject.resident.search(search)).toMatchObject({ plan: 'ivf', rowsScanned });
    const poor = { ...exact, matches: exact.matches.slice(0, 8) };
    // of those that are kept, enough for the mean to fall
    for (let i = 0; i < 8; i += 1) await subject.resident.checkRecall(search, poor);
    const widened = await subject.resident.search(search);
    expect(widened.rowsScanned).toBeGreaterThan(rowsScanned);
    for (let i = 0; i < 80; i += 1) await subject.resident.checkRecall(search, poor);
    expect((await subject.resident.search(search)).plan).toBe('exact');
    subject.resident.dispose();
  });

  it('are looked at in greater number when checks find too little, and not at all when that does not pay', () => {
    const probes = new Probes([Array.from({ length: 100 }, (_, i) => i % 4)], 40);
    expect(probes.of(10)).toBe(4);
    expect(probes.of(101)).toBeUndefined();
    for (let i = 0; i < 8; i += 1) probes.learn(10, 0.9);
    expect(probes.of(10)).toBe(6);
    expect(probes.of(100)).toBe(4);
    for (let i = 0; i < 8; i += 1) probes.learn(10, 1);
    expect(probes.of(10)).toBe(6);
    for (let i = 0; i < 30; i += 1) probes.learn(10, 0.9);
    expect(probes.worthless).toBe(true);
  });
});
