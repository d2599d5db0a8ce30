// The questions' own functions over blocks in memory, packed and merged as stored ones are, answer what a plain count in memory does: 10,000
// of them in a soak. The whole way, by HTTP, is that of reference.soak.test.ts.
import { expect, test } from 'vitest';
import { BlockThreads } from '../../src/blocks/threads.ts';
import { admission } from '../../src/core/admission.ts';
import { randomOf, rounds, seed } from '../support/soak.ts';
import { MemoryAnalytics } from './memory-analytics.ts';
import { askAnything } from './memory-questions.ts';
import { RandomEvents } from './random.ts';

const QUESTIONS = 100;
const EVENTS = 400;
const CALLS = 16;

test.each(Array.from({ length: rounds(100) }, (_, i) => seed + i))(
  'as the reference, over blocks in memory (seed %i)',
  { timeout: 120_000 },
  async (from) => {
    const random = randomOf(from);
    const threads = new BlockThreads(admission.all);
    const source = new RandomEvents(random);
    const own = new MemoryAnalytics(threads);
    for (let call = 0; call < CALLS; call += 1) {
      // A few are packed together in the commit, many before it.
      own.capture(source.events(random(3) === 0 ? 60 : EVENTS / CALLS));
      if (random(6) === 0) own.blocks.merge(2 + random(4), () => random(2) === 0);
    }
    for (let i = 0; i < QUESTIONS; i += 1) {
      if (i % 40 === 20) own.blocks.merge(2 + random(4), () => random(3) > 0);
      if (i === 60) own.delete(source.id());
      if (i === 80) own.erase();
      await askAnything(own, source, random);
    }
    expect(new Set(own.blocks.levels).size).toBeGreaterThan(1);
    await threads.close();
  },
);
