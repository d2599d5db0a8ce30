// Samples: processor time to read a remote write, bytes of a stored sample once merged, to merge and to decode a million, and a query of a day over 100 series. Then the
// whole way of remote writes, beside other programs where they are installed.
import { ByteReader, ByteWriter } from '../src/blocks/bytes.ts';
import { BatchBuilder } from '../src/modules/metrics/intake/batch.ts';
import { seriesFrom } from '../src/modules/metrics/intake/series-from.ts';
import { evaluate } from '../src/modules/metrics/promql/evaluate.ts';
import { labelsOf } from '../src/modules/metrics/promql/labels.ts';
import { parseQuery } from '../src/modules/metrics/promql/parse.ts';
import { readChunk, writeChunk } from '../src/modules/metrics/samples/chunk.ts';
import { freshDraft, samplesKind } from '../src/modules/metrics/samples/kind.ts';
import { packSection } from '../src/modules/metrics/samples/section.ts';
import { benchNewSeries, benchRemoteWrites } from './support/remote-writes.ts';

const SPAN_MS = samplesKind.spanMs;
const STEP_MS = 15_000;
const A_SPAN = SPAN_MS / STEP_MS;
const SERIES = 1_000;
const startMs = Math.floor(Date.now() / SPAN_MS) * SPAN_MS - SPAN_MS;

function timed<Result>(run: () => Result): [Result, number] {
  const before = process.cpuUsage();
  const result = run();
  const { user, system } = process.cpuUsage(before);
  return [result, (user + system) / 1_000];
}

/** Half counters, a quarter gauges of two digits, a quarter of any number. */
function valuesOf(n: number, count: number): Float64Array {
  let total = 0;
  return Float64Array.from({ length: count }, (_, i) => {
    const noise = ((i * 7919 + n * 104_729) % 1_009) / 1_009;
    total += Math.floor(noise * 40);
    if (n % 4 < 2) return total;
    return n % 4 === 2 ? Math.round(noise * 10_000) / 100 : Math.sin(i / 50 + n) + noise / 10;
  });
}

const identities = Array.from({ length: SERIES }, (_, n) => {
  const of = seriesFrom([
    ['__name__', `metric_${n % 50}`],
    ['instance', `host-${n}`],
    ['job', 'node'],
  ]);
  if (typeof of === 'string') throw new Error(of);
  return of;
});
const times = Float64Array.from({ length: A_SPAN }, (_, i) => startMs + i * STEP_MS);
const values = identities.map((_, n) => valuesOf(n, A_SPAN));

const [drafts, freshMs] = timed(() =>
  Array.from({ length: A_SPAN }, (_, i) => {
    const builder = new BatchBuilder(Date.now());
    for (const [n, identity] of identities.entries())
      builder.add(builder.seriesOf(identity), times[i] as number, values[n]?.[i] as number, n);
    const [part] = builder.build(false).parts;
    if (part === undefined) throw new Error('no part');
    return freshDraft(part, part.section.ids, packSection(part.section));
  }),
);
const samples = SERIES * A_SPAN;
const blocks = drafts.map((draft, i) => ({ ...draft, blockId: BigInt(i), level: 0 }));
const [merged, mergeMs] = timed(() => samplesKind.merge(blocks));
const bytes = merged.reduce((sum, { columns }) => sum + columns.values().reduce((of, { length }) => of + length, 0), 0);

const long = valuesOf(0, 1_000_000);
const [written, encodeMs] = timed(() => {
  const out = new ByteWriter();
  for (let at = 0; at < long.length; at += 2_000)
    writeChunk(out, {
      times: Float64Array.from({ length: 2_000 }, (_, i) => startMs + i * STEP_MS),
      values: long.subarray(at, at + 2_000),
    });
  return out.writtenBytes();
});
const [, decodeMs] = timed(() => {
  const source = new ByteReader(written);
  for (let at = 0; at < long.length; at += 2_000) readChunk(source);
});

const DAY_STEPS = 86_400_000 / STEP_MS;
const dayTimes = Float64Array.from({ length: DAY_STEPS }, (_, i) => startMs + i * STEP_MS);
const day = Array.from({ length: 100 }, (_, n) => ({
  labels: labelsOf([
    ['__name__', 'm'],
    ['instance', `i${n}`],
  ]),
  times: dayTimes,
  values: valuesOf(n * 4, DAY_STEPS),
}));
const range = { startMs, endMs: startMs + 86_400_000, stepMs: 60_000 };
const bounds = { deadlineMs: Number.POSITIVE_INFINITY, samplesMax: 1e9, seriesMax: 1_000 };
const [, queryMs] = timed(() => evaluate(parseQuery('sum(rate(m[5m]))'), range, [day], bounds));

console.log(
  `| samples of ${SERIES} series, one a request, read and packed | ${((freshMs * 1_000) / samples).toFixed(2)} µs a sample |`,
);
console.log(
  `| merged | ${((mergeMs * 1_000) / samples).toFixed(2)} µs and ${(bytes / samples).toFixed(2)} bytes a sample |`,
);
console.log(
  `| a million samples of a counter, 2,000 a chunk | ${encodeMs.toFixed(0)} ms to encode, ${decodeMs.toFixed(0)} ms to decode |`,
);
console.log(`| sum(rate(m[5m])) of a day, 100 series, 1,441 steps | ${queryMs.toFixed(0)} ms |`);

await benchNewSeries();
await benchRemoteWrites();
