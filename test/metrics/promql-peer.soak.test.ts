import { expect, test } from 'vitest';
import { randomOf, rounds, seed } from '../support/soak.ts';
import { hasPrometheus, hasVictoria, type Prometheus, startPrometheus, startVictoria } from './prometheus.ts';
import { difference, ourAnswer, randomQuery, randomSeries, randomSharedQuery, theirAnswer } from './promql-peer.ts';

const QUERIES = 200;

test.runIf(hasPrometheus)(
  `answers are those of Prometheus 2.42, where /usr/bin/prometheus is there (seed ${seed})`,
  async () => {
    const random = randomOf(seed);
    const started: Prometheus[] = [];
    const counts = { same: 0, refused: 0, empty: 0 };
    try {
      for (let round = 0; round < rounds(50); round += 1) {
        const endMs = Math.floor(Date.now() / 1_000) * 1_000;
        await started.pop()?.stop();
        started.push(await startPrometheus());
        const peer = started[0] as Prometheus;
        const series = randomSeries(random, endMs);
        await peer.write(series);
        for (let n = 0; n < QUERIES; n += 1) {
          const query = randomQuery(random);
          const startMs = endMs - random(4_000) * 1_000;
          const range =
            random(2) === 0
              ? { startMs, endMs: startMs, stepMs: 1 }
              : { startMs, endMs: startMs + random(1_800) * 1_000, stepMs: (1 + random(120)) * 1_000 };
          const [theirs, ours] = [await theirAnswer(peer, query, range), ourAnswer(series, query, range)];
          expect(difference(theirs, ours), `${query} ${JSON.stringify(range)}`).toBeNull();
          counts[theirs === null ? 'refused' : theirs.length === 0 ? 'empty' : 'same'] += 1;
        }
      }
    } finally {
      for (const each of started) await each.stop();
    }
    expect(counts.same).toBeGreaterThan(counts.refused);
  },
  600_000,
);

test.runIf(hasVictoria)(
  `answers are those of victoria-metrics, where it is there and means the same (seed ${seed})`,
  async () => {
    const random = randomOf(seed);
    let answered = 0;
    for (let round = 0; round < rounds(10); round += 1) {
      const victoria = await startVictoria();
      try {
        const endMs = Math.floor(Date.now() / 1_000) * 1_000;
        const series = randomSeries(random, endMs, true);
        await victoria.write(series);
        for (let n = 0; n < QUERIES; n += 1) {
          const query = randomSharedQuery(random);
          const startMs = endMs - random(1_500) * 1_000;
          const range = { startMs, endMs: startMs, stepMs: 1 };
          const [theirs, ours] = [await theirAnswer(victoria, query, range), ourAnswer(series, query, range)];
          if ((theirs ?? []).length > 0) answered += 1;
          expect(difference(theirs, ours), `${query} ${JSON.stringify(range)}`).toBeNull();
        }
      } finally {
        await victoria.stop();
      }
    }
    expect(answered).toBeGreaterThan(QUERIES / 2);
  },
  600_000,
);
