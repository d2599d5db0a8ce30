// Random upserts, overwrites, updates, deletions and queries on two processes, against a map in memory: every query finds what it must.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseFilter } from '../../src/modules/vector/items/filter.ts';
import { rounds } from '../support/soak.ts';
import { VectorBench } from './harness.ts';
import { passes, score } from './reference.ts';

interface Stored {
  readonly embedding: Float32Array;
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

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

const DIMENSION = 5;
const id = fc.integer({ min: 0, max: 30 }).map((n) => `v${n}`);
const number = fc.float({ noNaN: true, min: -8, max: 8 }).map((x) => (Math.abs(x) < 0.01 ? 0.5 : x));
const embedding = fc.array(number, { minLength: DIMENSION, maxLength: DIMENSION });
const metadata = fc.option(fc.record({ n: fc.integer({ min: 0, max: 3 }), tags: fc.subarray(['a', 'b', 'c']) }));
const vector = fc.record({ id, embedding, metadata });
const filter = fc.constantFrom(
  {},
  { n: 1 },
  { tags: 'a' },
  { n: { $gte: 2 } },
  { tags: { $ne: 'b' } },
  { n: { $exists: false } },
);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('upsert' as const),
      vectors: fc.array(vector, { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('update' as const), id, metadata }) },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('delete' as const), ids: fc.array(id, { minLength: 1, maxLength: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant('delete_by_filter' as const), n: fc.integer({ min: 0, max: 3 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant('query' as const),
      embedding,
      filter,
      topK: fc.integer({ min: 1, max: 40 }),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function play(bench: VectorBench, metric: string, model: Map<string, Stored>, step: Step): Promise<void> {
  const collection = metric;
  switch (step.op) {
    case 'upsert':
      await bench.upsert(collection, step.vectors);
      for (const { id, embedding, metadata } of step.vectors)
        model.set(id, { embedding: Float32Array.from(embedding), metadata });
      return;
    case 'update': {
      const reply = await bench.call('PATCH', '/v1/vector/update', {
        collection,
        id: step.id,
        metadata: step.metadata,
      });
      const before = model.get(step.id);
      expect(reply.status).toBe(before === undefined ? 404 : 200);
      if (before !== undefined) model.set(step.id, { ...before, metadata: step.metadata });
      return;
    }
    case 'delete': {
      const gone = new Set(step.ids.filter((id) => model.delete(id)));
      expect((await bench.remove(collection, step.ids)).deleted).toBe(gone.size);
      return;
    }
    case 'delete_by_filter': {
      const gone = [...model].filter(([, { metadata }]) => metadata?.n === step.n);
      for (const [id] of gone) model.delete(id);
      const data = await bench.ok('POST', '/v1/vector/delete_by_filter', { collection, filter: { n: step.n } });
      expect(data.deleted).toBe(gone.length);
      return;
    }
    case 'query':
      await compare(bench, metric, model, step);
  }
}

async function compare(
  bench: VectorBench,
  metric: string,
  model: Map<string, Stored>,
  step: Step & { op: 'query' },
): Promise<void> {
  const { matches } = await bench.query(metric, step.embedding, { filter: step.filter, top_k: step.topK });
  const filter = parseFilter(step.filter, 'filter');
  const wanted = Float32Array.from(step.embedding);
  const passing = [...model].filter(([, stored]) => passes(filter, stored.metadata ?? {}));
  const scores = new Map(passing.map(([id, stored]) => [id, score(metric, wanted, stored.embedding)]));
  const best = [...scores.values()].sort((a, b) => b - a).slice(0, step.topK);
  expect(matches).toHaveLength(best.length);
  for (const [i, match] of matches.entries()) {
    expect(match.score).toBeCloseTo(best[i] as number, 8);
    expect(match.score).toBeCloseTo(scores.get(match.id) as number, 8);
    expect(match.metadata).toEqual(model.get(match.id)?.metadata);
  }
  expect(new Set(matches.map(({ id }: { id: string }) => id)).size).toBe(matches.length);
}

test.each(['cosine', 'euclidean', 'dotproduct'])(
  '%s',
  async (metric) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.boolean(), step), { minLength: 5, maxLength: 40 }), async (steps) => {
        const bench = await one.withAccount();
        await bench.create(metric, DIMENSION, { metric });
        const model = new Map<string, Stored>();
        for (const [here, each] of steps) await play(here ? bench : bench.on(two), metric, model, each);
        expect((await bench.get(metric)).vector_count).toBe(model.size);
      }),
      { numRuns: 2 * rounds(6) },
    );
  },
  60_000,
);
