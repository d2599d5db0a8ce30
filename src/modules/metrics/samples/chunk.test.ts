import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteReader, ByteWriter } from '../../../blocks/bytes.ts';
import { mergeSamples, readChunk, type Samples, writeChunk } from './chunk.ts';

const stale = new Float64Array(new BigUint64Array([0x7ff0000000000002n]).buffer);
const value = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.integer().map((each) => each / 100),
  fc.constantFrom(-0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.MAX_VALUE, 2 ** 53),
);
const time = fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 2 ** 42 }));
const samples = (minLength: number) =>
  fc.array(fc.tuple(time, value, fc.boolean()), { minLength, maxLength: 60 }).map((entries): Samples => {
    const byTime = new Map(entries.map(([at, ...rest]) => [at, rest] as const));
    const times = Float64Array.from(byTime.keys()).sort();
    const values = new Float64Array(times.length);
    for (const [i, at] of times.entries()) {
      const [number, isStale] = byTime.get(at) as [number, boolean];
      values.set(isStale ? stale : Float64Array.of(number), i);
    }
    return { times, values };
  });
const bits = ({ times, values }: Samples) => [
  [...times],
  [...new BigUint64Array(values.slice().buffer)].map((each) => each.toString(16)),
];

test('a chunk gives back every sample, bit by bit', () => {
  fc.assert(
    fc.property(fc.array(samples(1), { minLength: 1, maxLength: 4 }), (chunks) => {
      const out = new ByteWriter();
      for (const chunk of chunks) writeChunk(out, chunk);
      const source = new ByteReader(out.writtenBytes());
      for (const chunk of chunks) expect(bits(readChunk(source))).toEqual(bits(chunk));
      expect(source.rest()).toHaveLength(0);
    }),
    { numRuns: 1_000 },
  );
});

test('merged samples are those of both, by time, and the later one wins where both have a time', () => {
  fc.assert(
    fc.property(samples(0), samples(1), (earlier, later) => {
      const expected = new Map<number, string>();
      for (const each of [earlier, later]) {
        const [times, values] = bits(each) as [number[], string[]];
        for (const [i, at] of times.entries()) expected.set(at, values[i] as string);
      }
      const sorted = [...expected].sort(([a], [b]) => a - b);
      expect(bits(mergeSamples(earlier, later))).toEqual([sorted.map(([at]) => at), sorted.map(([, each]) => each)]);
    }),
    { numRuns: 1_000 },
  );
});

test('a counter read every 15 seconds takes less than three bytes a sample before it is compressed', () => {
  const out = new ByteWriter();
  const times = Float64Array.from({ length: 480 }, (_, i) => 1.7e12 + i * 15_000);
  let total = 0;
  const values = times.map((_, i) => {
    total += (i * 7919) % 997;
    return total;
  });
  writeChunk(out, { times, values });
  expect(out.length / 480).toBeLessThan(3);
});
