// What is stored against a plain reference: the same samples in a map. Calls come in any order of time, say samples twice, and blocks are merged in
// between; each question for samples as they are must be answered with all of them, the later commit before the earlier.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { randomOf, rounds, seed } from '../support/soak.ts';
import { MetricsBench, type SentSeries } from './harness.ts';

let bench: MetricsBench;
beforeAll(async () => {
  bench = await MetricsBench.start();
});
afterAll(() => bench.end());

const NAMES = ['requests_total', 'depth'];
const SERIES = 12;
const GRID_MS = 15_000;

const count = rounds(40);
test(`samples of ${count} random histories (seed ${seed}) are found as they were stored last`, async () => {
  for (let round = 0; round < count; round += 1) {
    const drawn = randomOf(seed + round);
    const random = () => drawn(1e6) / 1e6;
    const own = await bench.withAccount();
    const reference = new Map<string, Map<number, number>>();
    const nowMs = Math.floor(Date.now() / GRID_MS) * GRID_MS;
    for (let call = 0; call < 12; call += 1) {
      const sent: SentSeries[] = Array.from({ length: 1 + Math.floor(random() * 8) }, () => {
        const number = Math.floor(random() * SERIES);
        const labels = { __name__: NAMES[number % 2] as string, host: `h${number}` };
        const beginMs = nowMs - Math.floor(random() * 2_000) * GRID_MS;
        const samples = Array.from({ length: 1 + Math.floor(random() * 6) }, (_, i) => {
          const value =
            random() < 0.1 ? Number.POSITIVE_INFINITY : Math.floor(random() * 1e6) / (random() < 0.5 ? 1 : 7);
          return [Math.min(nowMs, beginMs + i * GRID_MS * (random() < 0.2 ? -1 : 1)), value] as const;
        });
        const held = reference.get(labels.host) ?? new Map<number, number>();
        reference.set(labels.host, held);
        for (const [timeMs, value] of samples) held.set(timeMs, value);
        return { labels, samples };
      });
      expect(await own.write(sent)).toMatchObject({ status: 204 });
      if (random() < 0.3) await own.merge();
    }
    for (const host of reference.keys()) await compare(own, reference, host, nowMs, random);
  }
});

async function compare(
  own: MetricsBench,
  reference: ReadonlyMap<string, ReadonlyMap<number, number>>,
  host: string,
  nowMs: number,
  random: () => number,
) {
  const endMs = nowMs - Math.floor(random() * 1_000) * GRID_MS;
  const rangeMs = (1 + Math.floor(random() * 2_000)) * GRID_MS;
  const query = `{__name__=~".+", host="${host}"}[${rangeMs / 1_000}s]`;
  const { result } = await own.prom('query', { query, time: String(endMs / 1_000) });
  const expected = [...(reference.get(host) as ReadonlyMap<number, number>)]
    .filter(([timeMs]) => timeMs >= endMs - rangeMs && timeMs <= endMs)
    .sort(([a], [b]) => a - b)
    .map(([timeMs, value]) => [timeMs / 1_000, value === Number.POSITIVE_INFINITY ? '+Inf' : String(value)]);
  expect(result[0]?.values ?? []).toEqual(expected);
}
