import { describe, expect, it } from 'vitest';
import { expectExact, type ReferenceRow } from '../../../../../../test/vector/engine-reference.ts';
import { type Metric, metrics, type Search } from '../../port.ts';
import { Resident } from '../collection/resident.ts';
import { ArenaPool } from '../memory/arena.ts';

const pool = new ArenaPool(2 ** 26);

/** Numbers from -1 to 1, the same each run. */
function randomSource(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 2 ** 31 - 1) as number;
  };
}

const bytesOf = (vector: Float32Array) => new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);

function residentOf(rows: readonly ReferenceRow[], metric: Metric): Resident {
  const dimension = rows[0]?.vector.length as number;
  const resident = new Resident(pool, { accountId: 'a', collectionId: 'c', dimension, metric, version: 1 });
  for (const { id, version, vector, metadata } of rows)
    resident.upsert({ id, version, embedding: bytesOf(vector), metadata });
  return resident;
}

const rowsOf = (vectors: readonly Float32Array[]): ReferenceRow[] =>
  vectors.map((vector, i) => ({ id: `id-${(i * 7919) % vectors.length}`, version: i + 1, vector, metadata: { i } }));

async function check(
  vectors: readonly Float32Array[],
  metric: Metric,
  queries: readonly Float32Array[],
): Promise<void> {
  const rows = rowsOf(vectors);
  const resident = residentOf(rows, metric);
  try {
    for (const vector of queries) {
      for (const topK of [1, 10, 1000]) {
        const search: Search = { vector, topK, filter: null, exact: true };
        expectExact(await resident.search(search), rows, metric, search);
      }
    }
  } finally {
    resident.dispose();
  }
}

/** Shapes of data: each makes one vector of a dimension. */
const shapes: Record<string, (random: () => number, dimension: number, row: number) => Float32Array> = {
  uniform: (random, dimension) => Float32Array.from({ length: dimension }, random),
  'close together': (random, dimension) => Float32Array.from({ length: dimension }, () => 1 + random() * 1e-3),
  'all equal': (_, dimension) => new Float32Array(dimension).fill(0.37),
  sparse: (random, dimension, row) => {
    const vector = new Float32Array(dimension);
    vector[row % dimension] = random() || 1;
    return vector;
  },
  'one huge value': (random, dimension) =>
    Float32Array.from({ length: dimension }, (_, i) => (i === 0 ? 3e38 * random() : random())),
  huge: (random, dimension) => Float32Array.from({ length: dimension }, () => 3.4e38 * random()),
  denormal: (random, dimension) =>
    Float32Array.from({ length: dimension }, () => Math.fround(1e-43 * random()) || 1e-44),
  'of many sizes': (random, dimension) =>
    Float32Array.from({ length: dimension }, () => random() * 10 ** (random() * 37)),
  integers: (random, dimension) => Float32Array.from({ length: dimension }, () => Math.round(random() * 2) || 1),
  rising: (_, dimension, row) => Float32Array.from({ length: dimension }, (__, i) => (row + 1) * (i === 0 ? 1 : 1e-3)),
};

describe.each(metrics)('exact search by %s equals every row in f64, sorted', (metric) => {
  it.each([1, 2, 3, 7, 31, 32, 33, 128, 768, 1536, 4096])('in dimension %i', async (dimension) => {
    const random = randomSource(dimension);
    const make = () => Float32Array.from({ length: dimension }, random);
    await check(Array.from({ length: dimension > 1000 ? 300 : 1500 }, make), metric, [make(), make()]);
  });

  it.each(Object.keys(shapes))('of vectors that are %s', async (name) => {
    const shape = shapes[name] as (typeof shapes)[string];
    for (const dimension of [1, 3, 40]) {
      const random = randomSource(dimension * 17);
      const vectors = Array.from({ length: 1500 }, (_, row) => shape(random, dimension, row));
      const ordinary = Float32Array.from({ length: dimension }, random);
      await check(vectors, metric, [shape(random, dimension, 5), vectors[7] as Float32Array, ordinary]);
    }
  });

  it.skipIf(metric === 'cosine')('with zero vectors among the rows and as the query', async () => {
    const random = randomSource(3);
    const vectors = Array.from({ length: 200 }, (_, i) =>
      i % 3 === 0 ? new Float32Array(5) : Float32Array.from({ length: 5 }, random),
    );
    await check(vectors, metric, [new Float32Array(5), new Float32Array([0, 0, 1, 0, 0])]);
  });
});

describe('exact search', () => {
  it('answers nothing from nothing', async () => {
    const resident = new Resident(pool, {
      accountId: 'a',
      collectionId: 'c',
      dimension: 2,
      metric: 'cosine',
      version: 1,
    });
    const search: Search = { vector: new Float32Array([1, 0]), topK: 10, filter: null, exact: true };
    expect((await resident.search(search)).matches).toEqual([]);
    resident.dispose();
  });
});
