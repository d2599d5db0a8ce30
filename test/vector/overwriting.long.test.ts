// Queries while vectors are overwritten: always as many matches as are asked for, each of one version, in the order of their scores.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { numbers, VectorBench } from './harness.ts';
import { score } from './reference.ts';

const DIMENSION = 8;

let bench: VectorBench;
beforeAll(async () => {
  bench = await VectorBench.start();
});
afterAll(() => bench.service.stop());

/** The embedding follows from id and round: what of a match is of another round shows in its score. */
const vectorOf = (n: number, round: number) => ({
  id: `v${n}`,
  embedding: numbers(DIMENSION, 1 + n * 7919 + round),
  metadata: { n, round },
});

interface Match {
  readonly id: string;
  readonly score: number;
  readonly metadata: { readonly n: number; readonly round: number };
}

/** What is wrong with an answer; empty when nothing is. */
function faultsOf(matches: readonly Match[], query: readonly number[], metric: string): string[] {
  const asked = Float32Array.from(query);
  const faults = matches.flatMap((match, i) => {
    const { n, round } = match.metadata;
    const wanted = score(metric, Float32Array.from(vectorOf(n, round).embedding), asked);
    const before = matches[i - 1];
    const isOrdered =
      before === undefined || before.score > match.score || (before.score === match.score && before.id < match.id);
    if (match.id === `v${n}` && Math.abs(match.score - wanted) < 1e-9 && isOrdered) return [];
    return [`match ${i}: ${JSON.stringify(match)}, whose score is ${wanted}, after ${JSON.stringify(before)}`];
  });
  return new Set(matches.map(({ id }) => id)).size === matches.length ? faults : [...faults, 'an id stands twice'];
}

test.each([
  ['all of 1,000, one overwritten at a time', { count: 1000, batch: 1, topK: 1000, metric: 'cosine', answers: 50 }],
  ['10 of 100, 20 overwritten at a time', { count: 100, batch: 20, topK: 10, metric: 'euclidean', answers: 200 }],
])(
  '%s: no answer is short',
  async (name, { count, batch, topK, metric, answers }) => {
    const collection = `c${topK}`;
    await bench.create(collection, DIMENSION, { metric });
    await bench.upsert(
      collection,
      Array.from({ length: count }, (_, n) => vectorOf(n, 0)),
    );
    let [answered, short, round] = [0, 0, 0];
    const overwrite = async (writer: number) => {
      for (let i = 0; answered < answers; i += 1) {
        round += 1;
        const [own, first] = [round, (i * 37 + writer * 251) % count];
        await bench.upsert(
          collection,
          Array.from({ length: batch }, (_, k) => vectorOf((first + k) % count, own)),
        );
      }
    };
    const read = async () => {
      while (answered < answers) {
        answered += 1;
        const embedding = numbers(DIMENSION, answered);
        const { matches } = await bench.query(collection, embedding, { top_k: topK });
        if (matches.length < topK) short += 1;
        expect(faultsOf(matches, embedding, metric)).toEqual([]);
      }
    };
    await Promise.all([...[1, 2, 3, 4].map(overwrite), read(), read()]);
    console.info(`${name}: ${round} writes, ${answered} answers, ${short} short`);
    expect(short).toBe(0);
  },
  60_000,
);
