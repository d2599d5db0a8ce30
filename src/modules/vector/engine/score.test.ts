// A score is the same to the last bit whether a collection in memory, a read of its rows or another engine computed it: a row that
// is scored anew beside an answer must not change places with its equals.
import { expect, test } from 'vitest';
import { randomSource, randomVector } from '../../../../test/vector/engine-rows.ts';
import { Resident } from './embedded/collection/resident.ts';
import { ArenaPool } from './embedded/memory/arena.ts';
import { metrics } from './port.ts';
import { queryOf, scoreOf } from './score.ts';

test.each(metrics.flatMap((metric) => [1, 2, 3, 5, 8, 31, 768, 4096].map((dimension) => [metric, dimension] as const)))(
  '%s, dimension %i: scores are those of the kernel',
  async (metric, dimension) => {
    const random = randomSource(dimension);
    const resident = new Resident(new ArenaPool(2 ** 26), {
      accountId: 'a',
      collectionId: 'c',
      dimension,
      metric,
      version: 1,
    });
    const rows = new Map(Array.from({ length: 80 }, (_, i) => [`row-${i}`, randomVector(random, dimension)]));
    for (const [id, vector] of rows)
      resident.upsert({ id, version: 1, embedding: new Uint8Array(vector.buffer), metadata: null });
    const vector = randomVector(random, dimension);
    const { matches } = await resident.search({ vector, topK: rows.size, filter: null, exact: true });
    expect(matches).toHaveLength(rows.size);
    for (const { id, score } of matches)
      expect(score + 0).toBe(scoreOf(metric, queryOf(vector), rows.get(id) as Float32Array) + 0);
    resident.dispose();
  },
);
